//! Shared by both engines: pauses and steps, metering, and the options of a VM.

pub(crate) mod built;
pub(crate) mod calls;
pub(crate) mod caught_codes;
pub(crate) mod failed_call;
pub(crate) mod host_memory;
pub(crate) mod interrupt;
pub(crate) mod json_size;
pub(crate) mod lines;
pub(crate) mod lua_chunk;
pub(crate) mod machine;
pub(crate) mod meter;
pub(crate) mod options;
pub(crate) mod pause;
pub(crate) mod reading;
pub(crate) mod steps;
mod value_path;
