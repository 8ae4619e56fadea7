//! What is told of runs, calls and events, in the form every edge sends, and read part by part where it is long.

pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod event_hub;
pub(crate) mod parts;
pub(crate) mod reading;
pub(crate) mod run;
pub(crate) mod shortened_calls;
