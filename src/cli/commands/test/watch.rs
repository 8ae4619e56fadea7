//! `luaplan test --watch`.

use std::path::PathBuf;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use tokio::sync::mpsc;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_testkit::{Affected, Snapshot};

use super::super::Session;
use super::{means, once};
use crate::cli::args::TestArgs;
use crate::cli::exit;
use crate::cli::signals::Signals;

/// Editors write a file in several steps, which count as one change.
const QUIET: Duration = Duration::from_millis(100);

pub(super) async fn run(session: &Session<'_>, args: &TestArgs) -> Result<u8> {
    let stopped = Signals::listen().next();
    tokio::select! {
        biased;
        _ = stopped => Ok(exit::INTERRUPTED),
        never = watch(session, args) => never,
    }
}

async fn watch(session: &Session<'_>, args: &TestArgs) -> Result<u8> {
    let roots = roots(session, args)?;
    let target = session.environment.working_dir.join(&args.path);
    let (sender, mut woken) = mpsc::unbounded_channel();
    let _watcher = watcher(&roots, sender)?;
    let mut seen = Snapshot::take(&roots);
    round(session, args, None).await;
    loop {
        session.output.line(format_args!("watching {}; Ctrl-C ends it", args.path.display()));
        let (changed, affected) = loop {
            if woken.recv().await.is_none() {
                return Err(Error::new(ErrorCode::Internal, "files can no longer be watched"));
            }
            while woken.try_recv().is_ok() {}
            let now = Snapshot::take(&roots);
            let changed = seen.changes(&now);
            let affected = match now.affected(&changed) {
                // A single file runs only its own tests.
                Affected::Files(files) if target.is_file() => {
                    Affected::Files(files.into_iter().filter(|file| *file == target).collect())
                }
                affected => affected,
            };
            seen = now;
            // A touched file with the same content is no change.
            if !changed.is_empty() {
                break (changed, affected);
            }
        };
        session.output.clear_screen();
        for path in &changed {
            let name = path.strip_prefix(&session.environment.working_dir).unwrap_or(path);
            let what = if path.exists() { "changed" } else { "gone" };
            session.output.line(format_args!("{what}: {}", name.display()));
        }
        match affected {
            Affected::All => round(session, args, None).await,
            Affected::Files(files) if files.is_empty() => session.output.line("no test is concerned"),
            Affected::Files(files) => round(session, args, Some(files.into_iter().collect())).await,
        }
    }
}

/// Runs tests once. Reports any error, and the watch continues.
async fn round(session: &Session<'_>, args: &TestArgs, only: Option<Vec<PathBuf>>) {
    let ended = match means(session, args) {
        Ok((mut options, catalog)) => {
            options.only = only;
            once(session, args, &options, &catalog).await
        }
        Err(error) => Err(error),
    };
    if let Err(error) = ended {
        session.output.error(&error);
    }
}

/// The watched paths: the tests, the plans beside them, and the configuration.
fn roots(session: &Session<'_>, args: &TestArgs) -> Result<Vec<PathBuf>> {
    let path = session.environment.working_dir.join(&args.path);
    if !path.exists() {
        let message = format!("cannot watch {}: it is not there", args.path.display());
        return Err(Error::new(ErrorCode::FileUnreadable, message));
    }
    let tests = match path.is_file() {
        true => path.parent().map(PathBuf::from).unwrap_or(path),
        false => path,
    };
    let mut roots = vec![tests];
    // An unreadable configuration may be repaired during the watch.
    let configured = session.load().map(|loaded| loaded.files).unwrap_or_default();
    let configured = if configured.is_empty() {
        vec![session.environment.working_dir.join("luaplan.toml")]
    } else {
        configured
    };
    roots.extend(configured);
    Ok(roots)
}

fn watcher(roots: &[PathBuf], woken: mpsc::UnboundedSender<()>) -> Result<Debouncer<RecommendedWatcher>> {
    let failed =
        |error: notify::Error| Error::new(ErrorCode::Internal, "files cannot be watched").with_source(error);
    let mut debouncer = new_debouncer(QUIET, move |_: DebounceEventResult| {
        // The receiver is gone once the command ends.
        let _ = woken.send(());
    })
    .map_err(failed)?;
    for root in roots {
        // A file is watched through its folder: editors replace files instead of writing them.
        match (root.is_dir(), root.parent()) {
            (true, _) => debouncer.watcher().watch(root, RecursiveMode::Recursive).map_err(failed)?,
            (false, Some(folder)) if folder.is_dir() => {
                debouncer.watcher().watch(folder, RecursiveMode::NonRecursive).map_err(failed)?;
            }
            _ => {}
        }
    }
    Ok(debouncer)
}
