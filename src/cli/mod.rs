//! Rank 9: the terminal.
//!
//! One command per file under `commands/`. Results go to standard output, as text or (`--json`) as
//! data; everything else goes to standard error, and only errors when that is not a
//! terminal. Only `exit` turns errors into exit codes.
//!
//! **Never here:** decisions. A command asks the app and shows the answer.

mod approvals;
mod args;
mod commands;
mod difference;
mod edits;
mod exit;
mod findings;
mod governance_args;
mod mcp_args;
mod output;
mod plan_approvals;
mod planning_args;
mod progress;
mod questions;
mod shortened;
mod signals;
mod sink;
mod sleeping;
mod table;

pub use args::Cli;

use std::process::ExitCode;

use clap::Parser as _;

use luaplan_app::config::Environment;
use luaplan_base::{Error, ErrorCode};
use luaplan_workers::WorkerProgram;

use output::Output;

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    luaplan_vm::keep_freed_memory();
    sink::guard_panics();
    let environment = Environment {
        sqlite_program: Some(WorkerProgram::current().path().to_path_buf()),
        ..Environment::from_process()
    };
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_json = environment.arguments.iter().any(|argument| argument == "--json");
            output::usage(&error, is_json, environment.get("NO_COLOR").is_some());
            return exit::of_clap(&error);
        }
    };
    let output = Output::new(cli.global.json, environment.get("NO_COLOR").is_some());
    // These need no runtime, no log and no configuration, so they run before any set-up.
    let bare = match &cli.command {
        args::Command::Worker(args) => Some(commands::worker::run(args)),
        args::Command::SqliteReader(args) => Some(commands::worker::sqlite_reader(args)),
        _ => None,
    };
    if let Some(code) = bare {
        return code.map_or_else(
            |error| {
                output.error(&error);
                exit::of_error(&error)
            },
            ExitCode::from,
        );
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = Error::new(ErrorCode::Internal, "the runtime cannot be started").with_source(error);
            output.error(&error);
            return exit::of_error(&error);
        }
    };
    let code = match runtime.block_on(commands::run(cli, &environment, &output)) {
        Ok(code) => code,
        Err(error) => {
            output.error(&error);
            exit::of_error(&error)
        }
    };
    // An abandoned VM may still hold a thread, which the process must not wait for.
    runtime.shutdown_background();
    code
}
