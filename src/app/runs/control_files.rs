//! The runs this process is at, and what other processes of this machine ask of them.
//!
//! Whoever wants a run of another process to end or to stand still leaves a file in the folder `asks` beside
//! the locks. The process that runs it looks there while it runs anything, and takes the file away.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{Actor, RunLog, create_private_folder};

/// How often a process looks for what is asked of its runs.
const LOOK: Duration = Duration::from_millis(250);

/// What may be asked of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// To end.
    Cancel,
    /// To stand still.
    Pause,
}

impl Ask {
    const ALL: [Self; 2] = [Self::Cancel, Self::Pause];

    const fn extension(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Pause => "pause",
        }
    }
}

/// What was asked of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) cancel: bool,
    pub(crate) pause: bool,
    /// Who asked for its end, else who asked it to stand still.
    pub(crate) by: Option<Actor>,
}

/// A run this process is at.
struct UnderWay {
    log: RunLog,
    cancel: CancellationToken,
    pause: CancellationToken,
    /// The run that called it, where it is the run of an agent.
    parent: Option<RunId>,
    /// Who asked first for its end.
    cancel_by: Option<Actor>,
    /// Who asked first that it stands still.
    pause_by: Option<Actor>,
}

impl Asked {
    fn of(run: &UnderWay) -> Self {
        let by = run.cancel_by.clone().or_else(|| run.pause_by.clone());
        Self { cancel: run.cancel.is_cancelled(), pause: run.pause.is_cancelled(), by }
    }
}

/// All of them.
pub(crate) struct RunsUnderWay {
    shared: Arc<Mutex<Shared>>,
    asks: PathBuf,
}

#[derive(Default)]
struct Shared {
    runs: HashMap<RunId, UnderWay>,
    is_watched: bool,
}

impl RunsUnderWay {
    /// None yet. `owners` is the folder of the locks.
    pub(crate) fn new(owners: &Path) -> Self {
        Self { shared: Arc::default(), asks: owners.join("asks") }
    }

    /// This process is at a run from now on, until [`RunsUnderWay::remove`]. Needs a tokio runtime.
    pub(crate) fn insert(&self, log: &RunLog, cancel: &CancellationToken, parent: Option<RunId>) {
        // What was asked while it was at rest came too late for what it was asked of.
        self.take_back(log.run_id());
        let run = UnderWay {
            log: log.clone(),
            cancel: cancel.clone(),
            pause: CancellationToken::new(),
            parent,
            cancel_by: None,
            pause_by: None,
        };
        let mut shared = lock(&self.shared);
        shared.runs.insert(log.run_id().clone(), run);
        if !std::mem::replace(&mut shared.is_watched, true) {
            tokio::spawn(watch(Arc::downgrade(&self.shared), self.asks.clone()));
        }
    }

    /// This process is done with a run. Says what was asked of it here.
    pub(crate) fn remove(&self, run_id: &RunId) -> Asked {
        lock(&self.shared).runs.remove(run_id).as_ref().map(Asked::of).unwrap_or_default()
    }

    /// What was asked of a run so far.
    pub(crate) fn asked_of(&self, run_id: &RunId) -> Asked {
        lock(&self.shared).runs.get(run_id).map(Asked::of).unwrap_or_default()
    }

    pub(crate) fn has(&self, run_id: &RunId) -> bool {
        lock(&self.shared).runs.contains_key(run_id)
    }

    pub(crate) fn logs(&self) -> Vec<RunLog> {
        lock(&self.shared).runs.values().map(|run| run.log.clone()).collect()
    }

    /// What is cancelled when somebody asks the run to stand still.
    pub(crate) fn pause_of(&self, run_id: &RunId) -> CancellationToken {
        lock(&self.shared).runs.get(run_id).map(|run| run.pause.clone()).unwrap_or_default()
    }

    /// Asks a run of this process, and the runs of agents below it; says whether this process is at it.
    pub(crate) fn ask(&self, run_id: &RunId, ask: Ask, by: Option<&Actor>) -> bool {
        lock(&self.shared).ask(run_id, ask, by)
    }

    /// Notes who is about to end a run of this process.
    pub(crate) fn asked_by(&self, run_id: &RunId, by: Option<&Actor>) {
        if let Some(run) = lock(&self.shared).runs.get_mut(run_id) {
            run.cancel_by = run.cancel_by.take().or_else(|| by.cloned());
        }
    }

    /// Asks whatever process is at the run.
    ///
    /// # Errors
    /// `journal_unavailable` where the folder cannot be written.
    pub(crate) fn ask_elsewhere(&self, run_id: &RunId, ask: Ask, by: Option<&Actor>) -> Result<()> {
        let path = self.path(run_id, ask);
        let said = by.and_then(|by| serde_json::to_vec(by).ok()).unwrap_or_default();
        // Put there whole, as it is read as soon as it is there.
        let written = create_private_folder(&self.asks).and_then(|()| {
            let unfinished = path.with_extension(format!("{}-unfinished", ask.extension()));
            std::fs::write(&unfinished, said)?;
            std::fs::rename(unfinished, &path)
        });
        written.map_err(|error| {
            Error::new(
                ErrorCode::JournalUnavailable,
                format!("`{}` cannot be written: {error}", path.display()),
            )
        })
    }

    /// Takes back what was asked and nobody heeded; says whether its end was, and who asked for that.
    pub(crate) fn take_back(&self, run_id: &RunId) -> Asked {
        let by = asker(&self.path(run_id, Ask::Cancel));
        // Most of the time there is none; one that was heeded is gone.
        let [cancel, pause] = Ask::ALL.map(|ask| std::fs::remove_file(self.path(run_id, ask)).is_ok());
        Asked { cancel, pause, by }
    }

    fn path(&self, run_id: &RunId, ask: Ask) -> PathBuf {
        self.asks.join(run_id.as_str()).with_extension(ask.extension())
    }
}

impl Shared {
    fn ask(&mut self, run_id: &RunId, ask: Ask, by: Option<&Actor>) -> bool {
        let Some(run) = self.runs.get_mut(run_id) else { return false };
        match ask {
            // What it called is cancelled with it.
            Ask::Cancel => {
                run.cancel_by = run.cancel_by.take().or_else(|| by.cloned());
                run.cancel.cancel();
            }
            Ask::Pause => {
                run.pause_by = run.pause_by.take().or_else(|| by.cloned());
                run.pause.cancel();
                let called = self.runs.iter().filter(|(_, run)| run.parent.as_ref() == Some(run_id));
                let called: Vec<RunId> = called.map(|(called, _)| called.clone()).collect();
                for called in called {
                    self.ask(&called, ask, by);
                }
            }
        }
        true
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For as long as this process is at any run. Holds nothing, so that it keeps no run's process for alive.
async fn watch(shared: Weak<Mutex<Shared>>, asks: PathBuf) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(shared) = shared.upgrade() else { return };
        {
            let mut shared = lock(&shared);
            if shared.runs.is_empty() {
                shared.is_watched = false;
                return;
            }
        }
        let folder = asks.clone();
        let asked = tokio::task::spawn_blocking(move || asked(&folder)).await.unwrap_or_default();
        for (run_id, ask, path) in asked {
            if lock(&shared).ask(&run_id, ask, asker(&path).as_ref()) {
                // Heeded; a second look would do no harm.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Who left the file, where it says so.
fn asker(path: &Path) -> Option<Actor> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// What lies in the folder. Most of the time there is none.
fn asked(folder: &Path) -> Vec<(RunId, Ask, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let read = |path: PathBuf| {
        let run_id = path.file_stem()?.to_str()?.parse().ok()?;
        let extension = path.extension()?.to_str()?;
        let ask = Ask::ALL.into_iter().find(|ask| ask.extension() == extension)?;
        Some((run_id, ask, path))
    };
    let files = entries
        .filter_map(std::result::Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    files.filter_map(|entry| read(entry.path())).collect()
}
