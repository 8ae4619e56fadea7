//! The process that queries SQLite files, from its first instruction: `luaplan sqlite-reader`.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use luaplan_base::{Error, ErrorCode, Result};

use super::failure::{Failed, Secrets};
use super::result_columns;
use super::rows::Rows;
use super::session::DatabaseTarget;
use super::sqlite::SqliteDatabase;
use super::sqlite_job::{self, Job, JobAnswer};

/// The memory that the process may map after its start. `hard_heap_limit` bounds SQLite's own memory lower;
/// this bounds everything else.
#[cfg(target_os = "linux")]
const ADDRESS_BYTES: u64 = 1 << 30;

/// How long the rollback of a running statement may take after the other side has closed its pipes.
const ROLLBACK_MAX: Duration = Duration::from_secs(1);

/// Answers statements over standard input and output until the other side closes them, and then ends, even
/// during a statement. To be called first in a process of its own, with one thread.
///
/// # Errors
/// `usage` where standard input or output is a terminal; `worker_unavailable` where the process cannot be
/// confined.
pub fn sqlite_reader_main(folder: &Path) -> Result<()> {
    if io::stdin().is_terminal() || io::stdout().is_terminal() {
        return Err(Error::new(
            ErrorCode::Usage,
            "this part of luaplan talks to luaplan over pipes, not to a terminal",
        ));
    }
    confine(folder).map_err(|why| {
        Error::new(
            ErrorCode::WorkerUnavailable,
            format!("the process for SQLite queries cannot be confined: {why}"),
        )
    })?;
    let unavailable = |error: io::Error| {
        Error::new(ErrorCode::WorkerUnavailable, "the process for SQLite queries cannot work")
            .with_source(error)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unavailable)?;
    let (sender, jobs) = mpsc::channel();
    let (stop, done) = (CancellationToken::new(), mpsc::channel::<()>());
    let (closed, is_done) = (stop.clone(), done.1);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(job) = sqlite_job::read(&mut input) {
            if sender.send(job).is_err() {
                break;
            }
        }
        drop(sender);
        closed.cancel();
        // A query that ignores the interrupt gets no more time.
        let _ = is_done.recv_timeout(ROLLBACK_MAX);
        std::process::exit(0);
    });
    for job in jobs {
        let database = database(&job);
        let answer = runtime.block_on(async {
            tokio::select! {
                outcome = run(job, &database) => Some(JobAnswer::new(outcome)),
                () = stop.cancelled() => None,
            }
        });
        match answer {
            Some(answer) => sqlite_job::write(&mut io::stdout().lock(), &answer).map_err(unavailable)?,
            None => runtime.block_on(database.closed()),
        }
    }
    drop(done.0);
    Ok(())
}

/// The file of a job, for this process alone.
fn database(job: &Job) -> SqliteDatabase {
    let target = DatabaseTarget {
        name: job.name.clone(),
        secrets: Secrets::default(),
        read_error: SqliteDatabase::server_error,
        connect_timeout: job.statement_timeout,
        statement_timeout: job.statement_timeout,
        pool_size: 1,
    };
    SqliteDatabase::alone(target, job.path.clone())
}

async fn run(job: Job, database: &SqliteDatabase) -> std::result::Result<Rows, Failed> {
    let is_look = job.is_look;
    let (statement, caps) = job.into_statement()?;
    let mut rows = Rows::new(caps);
    if is_look {
        let columns = database.look_at(&statement).await?;
        rows.take(result_columns::to_rows(&columns), 0);
        return Ok(rows);
    }
    database.run(&statement, &mut rows).await?;
    Ok(rows)
}

/// Files of one folder, no network, bounded memory, no other program's rights.
#[cfg(target_os = "linux")]
fn confine(folder: &Path) -> std::result::Result<(), String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, path_beneath_rules,
    };
    use nix::sys::resource::{Resource, setrlimit};

    const WANTED: ABI = ABI::V6;
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mapped = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let mapped =
        mapped.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024;
    nix::sys::prctl::set_no_new_privs().map_err(|error| text(&error))?;
    // Sorting writes temporary files; the log lies beside the database file.
    let own = ["/tmp", "/var/tmp", "/usr/tmp"].map(Path::new).into_iter().chain([folder]);
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(WANTED)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(own, AccessFs::from_all(WANTED))))
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/dev/urandom"], AccessFs::from_read(WANTED))))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| text(&error))?;
    let address = mapped.saturating_add(ADDRESS_BYTES);
    for (resource, limit) in [(Resource::RLIMIT_AS, address), (Resource::RLIMIT_CORE, 0)] {
        setrlimit(resource, limit, limit).map_err(|error| text(&error))?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Path) -> std::result::Result<(), String> {
    Ok(())
}
