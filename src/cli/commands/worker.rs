//! `luaplan worker` and `luaplan sqlite-reader`.

use luaplan_base::Result;
use luaplan_tools::query_db::sqlite_reader_main;
use luaplan_workers::{ConfineSettings, WorkerRole, worker_main};

use crate::cli::args::{SqliteReaderArgs, WorkerArgs};
use crate::cli::exit;

/// Runs before any set-up: a worker has no runtime, no log and no configuration.
pub(in crate::cli) fn run(args: &WorkerArgs) -> Result<u8> {
    let confine = ConfineSettings { memory_bytes: args.memory_bytes, cpu_seconds: args.cpu_seconds };
    worker_main(WorkerRole { engine: args.engine, runs_max: args.runs, confine })?;
    Ok(exit::DONE)
}

/// As [`run`].
pub(in crate::cli) fn sqlite_reader(args: &SqliteReaderArgs) -> Result<u8> {
    sqlite_reader_main(&args.folder)?;
    Ok(exit::DONE)
}
