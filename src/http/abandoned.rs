//! Resumes, at the start of the service, runs whose process is gone.

use std::sync::Arc;

use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

use luaplan_app::{ActiveRun, ActiveRuns, ResumeRequest};
use luaplan_base::{ErrorCode, Result, RunId};

/// How many runs are resumed at a time, so that new requests find places too.
const AT_ONCE: usize = 4;

/// Resumes runs without an end and without a process. A run with a call in doubt pauses and waits for a
/// person; one that cannot be resumed is left unchanged, and the log says why.
pub(super) async fn resume_abandoned(runs: Arc<ActiveRuns>) {
    match runs.wake_recorded().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(runs = count, "waking runs that sleep, each when its time comes"),
        Err(error) => tracing::error!(%error, "runs that sleep could not be looked for"),
    }
    if let Err(error) = runs.app().runs().end_orphans().await {
        tracing::error!(%error, "runs of agents whose caller is gone could not be looked for");
    }
    let run_ids = match runs.app().runs().abandoned_runs().await {
        Ok(run_ids) => run_ids,
        Err(error) => {
            tracing::error!(%error, "runs whose process is gone could not be looked for");
            return;
        }
    };
    if run_ids.is_empty() {
        return;
    }
    tracing::info!(runs = run_ids.len(), "going on with runs whose process is gone");
    futures::stream::iter(run_ids).for_each_concurrent(AT_ONCE, |run_id| to_its_end(&runs, run_id)).await;
}

async fn to_its_end(runs: &Arc<ActiveRuns>, run_id: RunId) {
    match resume(runs, &run_id).await {
        Ok(None) => {}
        Ok(Some(mut run)) => {
            // Its task logs how it ended; a panic has nothing to add.
            let _ = run.outcome.wait_for(Option::is_some).await;
        }
        Err(error) => tracing::warn!(%run_id, %error, "a run whose process is gone was left as it is"),
    }
}

/// Resumes the run, waiting for a place where all are in use. `None` where another process resumed it
/// meanwhile.
async fn resume(runs: &Arc<ActiveRuns>, run_id: &RunId) -> Result<Option<ActiveRun>> {
    while runs.app().runs().is_abandoned(run_id).await? {
        let request = ResumeRequest::new(run_id.clone(), CancellationToken::new());
        match runs.resume(request).await {
            Err(error) if error.code() == ErrorCode::TooManyRequests => {
                runs.registry().until_one_ends().await;
            }
            done => return done.map(Some),
        }
    }
    Ok(None)
}
