//! Rank 7: everything put together, and what every edge can ask for.
//!
//! [`config`] turns files, environment and flags into a checked configuration; [`App`] wires
//! journal, tools, model and limits by it and offers the use cases: check, plan, run, look back.
//!
//! **Never here:** wire formats, terminals, exit codes.

mod approvals;
pub mod config;
mod ownership;
mod plans;
mod replay;
mod reports;
mod runs;
mod tools;

mod access;
mod access_of_approvals;
mod access_of_questions;
mod agents;
mod api_keys;
mod application;
mod caller;
mod doctor;
mod edge_help;
mod history;
mod models;
mod redacting_model;

pub use access::Access;
pub use agents::agent_faults;
pub use agents::call::recorded_outcome;
pub use api_keys::ApiKeys;
pub use application::{App, AppParts};
pub use approvals::edit::{ArgumentChange, argument_changes};
pub use approvals::pending::{
    AfterDecision, ApprovalAnswer, PendingApproval, approval_of, pending_approvals,
};
pub use approvals::questions::{OpenQuestion, open_questions, question_of};
pub use approvals::service::Approvals;
pub use caller::{Caller, Reach, Scope, Scopes};
pub use doctor::{DoctorCheck, DoctorReport, DoctorState, examine};
pub use edge_help::EdgeHelp;
pub use history::{History, JournalLayer, no_such_run};
pub use models::Models;
pub use ownership::hold::goes_on_elsewhere;
pub use ownership::local_lock::has_lost_its_process;
pub use plans::check::{PlanOf, Plans};
pub use plans::explain::{Explanation, explain};
pub use plans::held::check_configured;
pub use plans::policy::{CallExplanation, PolicyReport, tier_meaning, unknown_approvers};
pub use replay::policy::PolicyDifference;
pub use replay::report::{CallDifference, ReplayReport, ReplayRequest};
pub use reports::audit::{AuditQuery, bounded, check_event_names, check_tool_on_record, fits_page};
pub use reports::call::{CallReport, call_report};
pub use reports::event_hub::{EventHub, StreamedEvent};
pub use reports::parts::{ANSWER_BYTES_MIN, ReadOn, part_at, shortened};
pub use reports::reading::PartRequest;
pub use reports::shortened_calls::{Whole, shorten_approvals, shorten_calls};
pub use runs::active_runs::ActiveRuns;
pub use runs::mode::ModeChange;
pub use runs::registry::{ActiveRun, RunRegistry};
pub use runs::request_keys::KeyClaim;
pub use runs::resolutions::{CallResolution, present};
pub use runs::restore::cannot_go_on;
pub use runs::service::Runs;
pub use runs::spec::{
    PlanningOptions, PromptRef, ResumeRequest, RevisedPlan, RunSpec, Work, check_plan_name, lowered,
};
pub use tools::assemble::{check_tool_settings, note_not_set_up, tool_catalog};
pub use tools::manifests::{check_manifest, check_tool_name};
pub use tools::mcp::mcp_server_states;
#[cfg(feature = "mcp")]
pub use tools::mcp::{
    McpLoginKind, McpOffer, McpProbe, OfferedPrompt, OfferedTool, begin_mcp_login,
    log_in_to_mcp_server_as_service, log_out_of_mcp_server, mcp_login_kind, offer_of_mcp_server,
};
pub use tools::mcp_server_state::{McpHelp, McpServerState};
#[cfg(feature = "openapi")]
pub use tools::openapi::{openapi_operations, read_openapi};
pub use tools::seen::with_seen_results;
pub use tools::toolbox::Toolbox;
