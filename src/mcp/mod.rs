//! Rank 8: luaplan as a server of the Model Context Protocol, on standard input and output and over
//! streamable HTTP.
//!
//! `catalog` describes each tool for assistants, `arguments` holds its parameters; `run_tools`
//! starts runs, `wait` waits for them and resumes them, `elicitation` asks a person, `query_tools` answers
//! from the record. Only `answer` turns errors into tool results, with their stable code.
//!
//! **Never here:** decisions about runs. A tool asks the app and shows the answer.

mod answer;
mod arguments;
mod caller;
mod calls;
mod catalog;
mod databases;
mod declarations;
mod elicitation;
mod help;
mod over_http;
mod progress;
mod query_tools;
mod questions;
mod run_tools;
mod schemas;
mod server;
mod sessions;
mod stdio_transport;
mod transport;
mod wait;

pub use over_http::{HttpService, http_service};
pub use server::McpServer;
pub use transport::serve_stdio;

#[cfg(test)]
mod tests;
