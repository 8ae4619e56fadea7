//! Rank 8: luaplan as a server of the Model Context Protocol, on standard input and output and over
//! streamable HTTP.
//!
//! `catalog` holds what assistants are told of each tool, `arguments` what they may send; `work`
//! begins runs, `follow` waits for them and goes on with them, `ask` puts a question before a person, `look` answers from what is there. Errors become tool results with their stable code
//! in `answer` and nowhere else.
//!
//! **Never here:** decisions about runs. A tool asks the app and shows the answer.

mod answer;
mod arguments;
mod calls;
mod catalog;
mod declarations;
mod elicitation;
mod help;
mod over_http;
mod progress;
mod query_tools;
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
