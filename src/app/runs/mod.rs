//! Runs, from what is asked for to their last record: how they start, execute, suspend, resume and finish, and which of them
//! this process executes.

pub(crate) mod active_runs;
pub(crate) mod asking;
pub(crate) mod candidate_eval;
pub(crate) mod confirm;
pub(crate) mod control_files;
pub(crate) mod drive;
pub(crate) mod finish;
pub(crate) mod follow;
pub(crate) mod iterate;
pub(crate) mod judge;
pub(crate) mod learning;
pub(crate) mod mode;
pub(crate) mod past;
pub(crate) mod plan_only;
pub(crate) mod planning;
pub(crate) mod provenance;
pub(crate) mod recovered;
pub(crate) mod registry;
pub(crate) mod request_keys;
pub(crate) mod reset;
pub(crate) mod resolutions;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod service;
pub(crate) mod shared_runs;
pub(crate) mod spec;
pub(crate) mod start;
pub(crate) mod stopping;
pub(crate) mod stuck;
pub(crate) mod timer_queue;
pub(crate) mod timers;

#[cfg(test)]
mod tests;
