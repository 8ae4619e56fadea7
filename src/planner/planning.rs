//! What planning is asked for, and its result.

use async_trait::async_trait;

use luaplan_base::{ContentHash, Error, ErrorCode, Limits, Result, Value};
use luaplan_catalog::{Catalog, DatabaseSchema};
use luaplan_llm::TokenUsage;
use luaplan_plan::{CheckReport, CheckedPlan};

use super::feedback::Turn;
use super::question::ModelQuestion;
use super::replan::PastRun;
use super::revision::Revision;
use super::samples::Sample;
use super::verdict::CandidateVerdict;

/// Checks a proposed source; a closure around [`luaplan_plan::check`] is one.
#[async_trait]
pub trait Check: Send + Sync {
    /// What the check finds.
    ///
    /// # Errors
    /// Where no check can be made.
    async fn check(&self, source: &str) -> Result<CheckReport>;
}

#[async_trait]
impl<F: Fn(&str) -> CheckReport + Send + Sync> Check for F {
    async fn check(&self, source: &str) -> Result<CheckReport> {
        Ok(self(source))
    }
}

/// The settings of a planner.
#[derive(Debug, Clone)]
pub struct PlannerSettings {
    /// The most tokens a prompt may have.
    pub prompt_tokens: u64,
    /// The most tokens an answer may have.
    pub output_tokens: u32,
    /// How often findings go back to the model after its first proposal.
    pub repair_rounds_max: u32,
    /// Whether the model is asked which of several equal candidates to take.
    pub has_reviewer: bool,
    /// LuaCATS declarations of the plan library, cut to fit.
    pub library_stubs: &'static str,
}

impl PlannerSettings {
    /// How often findings go back unless configured otherwise.
    pub const REPAIR_ROUNDS_MAX: u32 = 2;
}

/// The input of planning.
#[derive(Debug, Clone, Copy)]
pub struct PlanningRequest<'a> {
    /// The task in plain words.
    pub task: &'a str,
    /// The context the plan will get. Only its shape is shown to the model.
    pub context: &'a Value,
    /// The tools the plan may call.
    pub catalog: &'a Catalog,
    /// What the databases hold that its tools read.
    pub databases: &'a [DatabaseSchema],
    /// The operator's own words about what the databases hold.
    pub database_notes: Option<&'a str>,
    /// What is to be known of how tools are set up.
    pub tool_rules: &'a [ToolRules],
    /// The day on which the run started, as the prompt says it.
    pub today: Option<&'a str>,
    /// The limits the plan will run under.
    pub limits: &'a Limits,
    /// Untrusted texts that the user chose: data, never instructions.
    pub notes: &'a [Note],
    /// Beginnings of data that a person shares with the model.
    pub samples: &'a [Sample],
    /// The run that failed or left its task undone, where this is a new plan after one.
    pub past: Option<&'a PastRun>,
    /// The plan that is to be changed, where there is one and no run failed.
    pub revision: Option<&'a Revision>,
    /// What the model asked before, with the person's answers: they are part of the task.
    pub answered: &'a [AnsweredQuestion],
    /// Whether the model may ask in place of a plan; [`Planner::plan_or_ask`](super::Planner::plan_or_ask) alone heeds it.
    pub may_ask: bool,
    /// Whether the run goes on until its task is done, so that the plan may say when.
    pub is_autonomous: bool,
}

impl<'a> PlanningRequest<'a> {
    /// A request for a plan of which nothing but this is known.
    #[must_use]
    pub fn new(task: &'a str, context: &'a Value, catalog: &'a Catalog, limits: &'a Limits) -> Self {
        Self {
            task,
            context,
            catalog,
            databases: &[],
            database_notes: None,
            tool_rules: &[],
            today: None,
            limits,
            notes: &[],
            samples: &[],
            past: None,
            revision: None,
            answered: &[],
            may_ask: false,
            is_autonomous: false,
        }
    }

    /// What the model is told first of what was before.
    pub(super) fn first_turn(&self) -> Option<Turn> {
        self.past.map(PastRun::turn).or_else(|| self.revision.map(Revision::turn))
    }

    /// Hashes of the data that a plan for this request is written after.
    pub(super) fn influences(&self) -> Vec<ContentHash> {
        let earlier = self.revision.iter().flat_map(|old| &old.influenced_by).cloned();
        let mut influences: Vec<ContentHash> = earlier.collect();
        let said = self.past.iter().flat_map(|past| past.calls.iter().chain(&past.earlier));
        let said = said.filter_map(|call| call.said.as_deref());
        let texts = self.notes.iter().map(|note| note.text.as_str()).chain(said);
        let texts = texts.map(|text| ContentHash::of(text.as_bytes()));
        for hash in self.samples.iter().map(Sample::hash).chain(texts) {
            if !influences.contains(&hash) {
                influences.push(hash);
            }
        }
        influences
    }

    pub(super) fn validate(&self) -> Result<()> {
        if !self.task.trim().is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorCode::BadRequest, "the task is empty")
            .with_help("say in a sentence or two what is to be done"))
    }
}

/// A question of the model that a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredQuestion {
    /// What it asked.
    pub question: String,
    /// The person's own words.
    pub answer: String,
}

/// What came of planning.
#[derive(Debug)]
pub enum Planned {
    /// A plan.
    Plan(Box<Proposal>),
    /// The model asks first.
    Asks(ModelQuestion),
}

/// What a plan has to know of how a tool is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRules {
    /// The tool.
    pub tool: String,
    /// Its bounds and what it may reach, as phrases.
    pub rules: Vec<String>,
}

/// An untrusted text that the user put before the planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where it comes from.
    pub from: String,
    /// What it says. Untrusted.
    pub text: String,
}

/// Each line quoted, so that no text can end its own quotation.
pub(super) fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// A plan that passed the check.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The checked plan.
    pub plan: CheckedPlan,
    /// What the model says about it, if anything. Untrusted text.
    pub explanation: Option<String>,
    /// How often findings went back; 0 where the first proposal passed.
    pub rounds: u32,
    /// What all requests used together.
    pub usage: TokenUsage,
    /// `provider/model` of the model whose answer this is.
    pub model: String,
    /// Whether the answer was recorded and no model was asked.
    pub recorded: bool,
    /// How it and the other candidates were judged, in the order of ids; empty where there was
    /// nothing to choose.
    pub verdicts: Vec<CandidateVerdict>,
}
