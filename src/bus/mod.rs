//! Rank 2: the only way to the outside.
//!
//! Every call passes it in one fixed order: budget, known tool, arguments, policy and approval, rate, intent
//! in the journal, the tool under its timeout, size, outcome in the journal. [`Bus`] does that for
//! one run; all runs share [`Limiter`] and [`Registry`].
//!
//! **Never here:** Lua, knowledge of a particular tool, a wire format.

mod approval;
mod ask_model;
mod batch;
mod budget;
mod bus;
mod call;
mod flow;
mod foreseen;
mod handler;
mod interruption;
mod limiter;
mod planning_rules;
mod policy;
mod question;
mod registry;
mod suspension;
mod tool;

pub use approval::{ArgumentOrigins, RunApprovals, approval_id, plan_approval_id};
pub use ask_model::{ask_model, ask_side_by_side};
pub use budget::{IdleTime, RunBudget};
pub use bus::{Bus, BusParts};
pub use flow::{FlowGate, FlowJudge, SteeredCall};
pub use foreseen::{ForeseenCall, Prepared, TextFault};
pub use handler::CallHandler;
pub use interruption::Interruption;
pub use limiter::{Limiter, LimiterSettings, Permit, RunGate};
pub use planning_rules::short_list;
pub use policy::{
    ArgumentCondition, ArgumentTest, Circumstances, Comparison, DEFAULT_RULE, Fit, Glob, LOCAL_TENANT,
    MatchedRule, Policy, PolicyDecision, PolicyRules, Rule, TierByEffect, ValueTest,
};
pub use question::AskedQuestion;
pub use registry::Registry;
pub use suspension::{CallInDoubt, CallsInDoubt, Suspension};
pub use tool::{Invocation, Progress, Schemas, Tool};

#[doc(no_inline)]
pub use luaplan_journal::{Mode, Tier};

#[cfg(test)]
mod tests;
