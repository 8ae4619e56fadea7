//! A run again from its records alone, with nothing behind the journal, and what would differ today.

pub(crate) mod matching;
pub(crate) mod policy;
pub(crate) mod report;
