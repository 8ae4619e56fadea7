//! Rank 7: everything put together, and what every edge can ask for.
//!
//! [`config`] turns files, environment and flags into a checked configuration; [`App`] wires
//! journal, tools, model and limits by it and offers the use cases: check, plan, run, look back.
//!
//! **Never here:** wire formats, terminals, exit codes.

pub mod config;

mod access;
mod active_runs;
mod agents;
mod analysis;
mod api_keys;
mod application;
mod approval_edit;
mod approvals;
mod approvers;
mod audit_names;
mod call_report;
mod caller;
mod candidate_eval;
mod check;
mod control_files;
mod discreet;
mod doctor;
mod edge_help;
mod event_hub;
mod execute;
mod explain;
mod finish;
mod grants;
mod local_lock;
mod manifest_tools;
mod mcp_logins;
mod mcp_servers;
mod openapi;
mod ownership;
mod parts;
mod planning;
mod policy;
mod provenance;
mod reading;
mod recovered;
mod replay;
mod replay_match;
mod replay_policy;
mod request_keys;
mod request_params;
mod reset;
mod resolutions;
mod restore;
mod resume;
mod run_contexts;
mod run_report;
mod runs;
mod scheduler;
mod shown_calls;
mod start;
mod stopping;
mod stuck;
mod timers;
mod unconfigured;
mod wiring;

pub use access::Access;
pub use active_runs::{ActiveRun, ActiveRuns};
pub use agents::agent_faults;
pub use api_keys::ApiKeys;
pub use application::{App, AppParts, JournalLayer};
pub use approval_edit::{ArgumentChange, argument_changes};
pub use approvals::{AfterDecision, ApprovalAnswer, PendingApproval, approval_of, pending_approvals};
pub use audit_names::{check_event_names, check_tool_on_record};
pub use call_report::{CallReport, call_report};
pub use caller::{Caller, Reach, Scope, Scopes};
pub use check::PlanOf;
pub use doctor::{DoctorCheck, DoctorReport, DoctorState, examine};
pub use edge_help::EdgeHelp;
pub use event_hub::{EventHub, StreamedEvent};
pub use explain::{Explanation, explain};
pub use local_lock::has_lost_its_process;
pub use manifest_tools::{check_manifest, check_tool_name};
pub use mcp_logins::{
    McpHelp, McpLoginKind, McpServerState, begin_mcp_login, log_in_to_mcp_server_as_service,
    log_out_of_mcp_server, mcp_login_kind, mcp_server_states,
};
pub use mcp_servers::{McpOffer, OfferedPrompt, OfferedTool, offer_of_mcp_server};
pub use openapi::{openapi_operations, read_openapi};
pub use ownership::goes_on_elsewhere;
pub use parts::{ANSWER_BYTES_MIN, ReadOn, part_at, shortened};
pub use planning::{PlanningOptions, PromptRef};
pub use policy::{CallExplanation, PolicyReport, tier_meaning, unknown_approvers};
pub use reading::PartRequest;
pub use replay::{CallDifference, ReplayReport, ReplayRequest};
pub use replay_policy::PolicyDifference;
pub use request_keys::Claim;
pub use request_params::{AuditQuery, bounded, check_plan_name, fits_page, lowered, present};
pub use resolutions::CallResolution;
pub use restore::cannot_go_on;
pub use resume::{ResumeRequest, TakenUp};
pub use run_report::no_such_run;
pub use runs::{RunRequest, Work};
pub use shown_calls::{Whole, shown_approvals, shown_calls};
pub use wiring::{check_tool_settings, note_not_set_up, tool_catalog};
