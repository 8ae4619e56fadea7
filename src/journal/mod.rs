//! Rank 1: the append-only, hash-chained record of every run.
//!
//! An [`Event`] is something that happened. A store keeps events as records; audit, the event
//! stream and replay are views of the records. Reading and writing are separate traits,
//! so that an audit view cannot write. [`RunLog`] writes the events of one run: it removes secrets
//! ([`Redactor`]) before anything is recorded or shown. [`RunState`] is the fold of a run's records.
//!
//! **Never here:** decisions. The journal records what other rooms did.

mod accepted_plan;
mod actor;
mod anchor;
mod approval_state;
mod backend;
mod call_state;
mod chain;
mod contexts;
mod csv_export;
mod event;
mod event_facts;
mod fold;
mod grants;
mod iteration_state;
mod kinds;
mod memory;
mod model_bodies;
mod postgres_settings;
mod private_folder;
mod question_state;
mod record;
mod redact;
mod redactions;
mod request_keys;
mod run_log;
mod run_summary;
mod select;
mod sqlite;
mod status;
mod step_run;
mod store;
mod terminal_escape;
mod verify;
mod word;
mod write_behind;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
mod postgres;

pub use accepted_plan::AcceptedPlan;
pub use actor::Actor;
pub use approval_state::{ApprovalDecision, ApprovalState, PlanRequest, RuleReference};
pub use backend::Journal;
pub use call_state::{CallEnd, CallState, ParentCall, Resolved};
pub use chain::{GENESIS_HASH, RECORD_VERSION, record_hash};
pub use contexts::{
    ContextStore, ContextVersion, MemoryContexts, NewContext, SavedContext, check_context_name,
    context_of_tenant,
};
pub use csv_export::{CSV_COLUMNS, write_csv};
pub use event::EventBody;
pub use fold::RunState;
pub use grants::{GrantState, grants};
pub use iteration_state::{IterationState, JudgedIteration, switched_mode};
pub use kinds::{DecisionKind, FinishMode, Mode, ResolutionKind, StopReason, Tier};
pub use memory::MemoryJournal;
pub use model_bodies::ModelBody;
pub use postgres::{
    Alarm, Fence, FencedWriter, Leases, OpenRun, PostgresContexts, PostgresJournal, RunLease,
};
pub use postgres_settings::PostgresSettings;
pub use private_folder::create_private_folder;
pub use question_state::{QuestionAnswer, QuestionState};
pub use record::{Event, EventListener, Record};
pub use redact::{Pieces, REDACTED, Redactor, SECRET_BYTES_MIN, SecretForms};
pub use redact::{is_marked, looks_secret};
pub use request_keys::{KeyedRequest, RequestKeys};
pub use run_log::RunLog;
pub use run_summary::RunSummary;
pub use sqlite::{SqliteContexts, SqliteJournal};
pub use status::RunStatus;
pub use step_run::{DeclaredStep, STEP_EVENTS, StepRun, steps_of};
pub use store::{ConflictGuard, Durability, JournalRead, JournalWrite, RecordFilter, RunFilter, Settled};
pub use terminal_escape::neutralize;
pub use verify::{LogProblem, ProblemKind, VerifyReport};
pub use word::{ClosedSet, Word};

#[cfg(test)]
mod tests;
