//! A task that changes the plan of an earlier run.

use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId, Value};
use luaplan_journal::RunState;

use super::restore::began_without_secret;
use super::service::Runs;
use super::spec::{RevisedPlan, RunSpec};

impl Runs {
    /// `spec` as a task that changes the plan of run `run_id`. It starts with the context that run started with, unless it
    /// names one of its own.
    ///
    /// # Errors
    /// `not_found` where there is no such run or it has no plan; `run_not_resumable` where its plan or context held a secret,
    /// which is not on record.
    pub async fn following(&self, run_id: &RunId, spec: RunSpec) -> Result<RunSpec> {
        let state = self.history.known_run(run_id).await?;
        let (source, task) = (last_plan(&state)?, state.task.clone());
        let context = match (&spec.context, &spec.context_name) {
            (None, None) => {
                began_without_secret(&state).map_err(|error| error.with_help("give the context again"))?;
                Some(Value::from_exact_json(state.context.clone())?)
            }
            _ => spec.context.clone(),
        };
        let mut planning = spec.planning.clone();
        planning.revises = Some(RevisedPlan { source, task, influenced_by: state.influenced_by.clone() });
        Ok(RunSpec { context, planning, follows: Some(run_id.clone()), ..spec })
    }
}

/// The source of the plan a run has, the last one where it was planned again.
fn last_plan(state: &RunState) -> Result<String> {
    let accepted = state.accepted.as_ref();
    let plan = match accepted {
        Some(plan) => plan.source.as_ref().map(|source| (source, &plan.plan_hash)),
        None => state.source.as_ref().zip(state.plan_hash.as_ref()),
    };
    let refused = |code, what: &str| Error::new(code, format!("run {} {what}", state.run_id));
    match plan {
        Some((source, hash)) if ContentHash::of(source.as_bytes()) == *hash => Ok(source.clone()),
        Some(_) => {
            Err(refused(ErrorCode::RunNotResumable, "has a plan that held a secret, which is not on record")
                .with_help("save the plan without the secret, and change that file"))
        }
        None => {
            Err(refused(ErrorCode::NotFound, "has no plan to change").with_help("name a run that had a plan"))
        }
    }
}
