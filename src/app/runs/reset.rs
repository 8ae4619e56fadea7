//! A run started over: its plan and context again, as another run that names the first.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use luaplan_base::{Effect, Error, ErrorCode, Result, RunId};
use luaplan_journal::{JournalRead as _, RunState, RunStatus};

use super::restore::{engine_suffices, recorded_source, run_spec};
use super::service::Runs;
use crate::agents::CALL_AGENT;
use crate::agents::kin::{belongs_to, child_of};
use crate::plans::check::PlanOf;
use crate::runs::spec::{RunSpec, Work};

impl Runs {
    /// What a run began with, for a new run that starts it over with the plan it had; it is to be run as any
    /// other, and the first, where it is not over, is to be ended with [`Runs::cancel_unless_over`] once the new
    /// one begins. Nothing of it counts for the new one: its calls are made again, and asked about again.
    ///
    /// # Errors
    /// `not_found`; `run_active` where it is under way; `run_not_resumable` where its records do not suffice or
    /// it belongs to another run; `check_refused` where its plan does not pass any more; `effects_repeat` where
    /// it wrote, sent or spent something and `repeat_effects` is not given.
    pub async fn start_over(&self, run_id: &RunId, repeat_effects: bool) -> Result<RunSpec> {
        let hold = self.ownership.hold(run_id).await?;
        let spec = async {
            let state = self.history.known_run(run_id).await?;
            if let Some(parent) = &state.parent {
                return Err(belongs_to(run_id, parent));
            }
            let is_running = state.status == RunStatus::Running && self.ownership.is_under_way(&state);
            if is_running || self.registry.has(run_id) {
                let message = format!("run {run_id} is under way");
                return Err(Error::new(ErrorCode::RunActive, message)
                    .with_help("end it first (`luaplan cancel RUN`), or let it pause (`luaplan pause RUN`)")
                    .about_run(run_id));
            }
            engine_suffices(&state, self.config.sandbox.engine)?;
            let mut spec = begun_again(&state)?;
            if !repeat_effects {
                self.refuse_effects(&state).await?;
            }
            if let Work::Plan { name, source } = &spec.work {
                let RunSpec { circumstances, limits, context, .. } = &spec;
                let (tenant, context) = (circumstances.tenant.as_str(), context.as_ref());
                spec.checked =
                    Some(self.plans.accepted_for(PlanOf { tenant, name, source, limits, context }).await?);
            }
            Ok(spec)
        };
        let spec = spec.await;
        hold.release().await;
        spec.map_err(|error| error.about_run(run_id))
    }

    /// Refuses where calls reached the world, or may have: the run's own, and those of its agents.
    async fn refuse_effects(&self, state: &RunState) -> Result<()> {
        let (mut open, mut acted) = (vec![state.clone()], Vec::new());
        while let Some(run) = open.pop() {
            for call in run.calls.iter().filter(|call| !call.refused) {
                if call.tool == CALL_AGENT {
                    // It did what the agent's run did, and nothing by itself.
                    let child = child_of(&run.run_id, &call.call_id);
                    open.extend(self.history.journal.run_state(&child).await?);
                } else if call.effect.is_some_and(|effect| effect != Effect::Read) {
                    acted.push((run.run_id.clone(), call.clone()));
                }
            }
        }
        let Some((owner, first)) = acted.first() else { return Ok(()) };
        let named: Vec<_> = acted
            .iter()
            .map(|(owner, call)| match owner == &state.run_id {
                true => json!({ "call_id": call.call_id, "tool": call.tool }),
                false => json!({ "call_id": call.call_id, "tool": call.tool, "run_id": owner }),
            })
            .collect();
        let message = format!(
            "run {} made {} that did more than read, `{}` (call {}{}) first, and starting over would make them again",
            state.run_id,
            if acted.len() == 1 { "a call".to_owned() } else { format!("{} calls", acted.len()) },
            first.tool,
            first.call_id,
            if owner == &state.run_id { String::new() } else { format!(" of its agent's run {owner}") },
        );
        Err(Error::new(ErrorCode::EffectsRepeat, message).with_detail("calls", json!(named)))
    }
}

fn begun_again(state: &RunState) -> Result<RunSpec> {
    let began = run_spec(state)?;
    let work = match (began.work, recorded_source(state)?) {
        // The plan that ran, rather than another one for the same task.
        (Work::Task(_), Some((source, _))) => {
            Work::Plan { name: "plan".to_owned(), source: source.to_owned() }
        }
        (work, _) => work,
    };
    Ok(RunSpec {
        run_id: RunId::generate(),
        work,
        starts_over: Some(state.run_id.clone()),
        cancel: CancellationToken::new(),
        ..began
    })
}
