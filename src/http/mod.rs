//! Rank 8: the HTTP service.
//!
//! One file a group of routes; errors become problem+json (RFC 9457) in `problem` and nowhere
//! else. Listens on loopback unless API keys are configured.
//!
//! **Never here:** decisions about runs. A route asks the app and shows the answer.

mod abandoned;
mod approvals;
mod audit;
mod auth;
mod connection_table;
mod connections;
mod dto;
mod events;
mod explain;
mod extract;
mod grants;
mod health;
mod help;
mod idempotency;
mod mount;
mod openapi;
mod openapi_forms;
mod problem;
mod questions;
mod redirect;
mod resume;
mod runs;
mod server;
mod shares;
mod shortened;
mod state;
mod submit;
mod tools;

pub use openapi::document as openapi_document;
pub use redirect::{Redirect, redirect_uri};
pub use server::Server;
