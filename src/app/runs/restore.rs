//! What a run began with, read from its records.

use luaplan_base::{ContentHash, EngineKind, Error, ErrorCode, Limits, Result, Value};
use luaplan_bus::Circumstances;
use luaplan_engine::RecordedCalls;
use luaplan_journal::{RunState, Word, is_marked};

use crate::runs::spec::{PlanningOptions, RunSpec, Work};

/// What the run was asked to do, from its records.
pub(crate) fn run_spec(state: &RunState) -> Result<RunSpec> {
    let plan_name = || state.plan_name.clone().unwrap_or_else(|| "plan".to_owned());
    let work = match (&state.task, &state.source) {
        (Some(task), _) => Work::Task(task.clone()),
        (None, Some(source)) if state.plan_hash.as_ref() != Some(&ContentHash::of(source.as_bytes())) => {
            return Err(plan_not_whole());
        }
        (None, Some(source)) => Work::Plan { name: plan_name(), source: source.clone() },
        (None, None) => {
            let message =
                format!("run {} was broken off before its plan was on record; it did nothing", state.run_id);
            return Err(Error::new(ErrorCode::RunNotResumable, message).with_help("start it again"));
        }
    };
    Ok(RunSpec {
        run_id: state.run_id.clone(),
        context: Some(Value::from_exact_json(state.context.clone())?),
        context_name: state.context_name.clone(),
        circumstances: circumstances_of(state)?,
        planning: PlanningOptions::from_record(state.planning.as_deref())?,
        follows: state.follows.clone(),
        approve: state.approve,
        ..RunSpec::new(work, limits_of(state)?)
    })
}

pub(crate) fn limits_of(state: &RunState) -> Result<Limits> {
    Limits::from_json(&state.limits).map_err(|error| {
        Error::new(
            ErrorCode::RunNotResumable,
            format!("the recorded limits cannot be read: {}", error.message()),
        )
    })
}

/// Whose run it is; what older records do not say is as it was then.
pub(crate) fn circumstances_of(state: &RunState) -> Result<Circumstances> {
    let default = Circumstances::default();
    Ok(Circumstances {
        tenant: state.tenant.clone().unwrap_or(default.tenant),
        mode: match &state.mode {
            None => default.mode,
            Some(Word::Known(mode)) => *mode,
            Some(Word::Unknown(text)) => text.parse()?,
        },
        started_by: state.started_by.clone(),
    })
}

/// The source on record, where it is whole.
pub(crate) fn recorded_source(state: &RunState) -> Result<Option<(&str, &ContentHash)>> {
    let Some(accepted) = &state.accepted else { return Ok(None) };
    let source = accepted.source.as_deref().unwrap_or_default();
    if ContentHash::of(source.as_bytes()) != accepted.plan_hash {
        return Err(plan_not_whole());
    }
    Ok(Some((source, &accepted.plan_hash)))
}

fn plan_not_whole() -> Error {
    let message = "the plan on record is not whole: a secret stood in it, or its record is missing";
    Error::new(ErrorCode::RunNotResumable, message)
}

/// Whether a run answered from its records alone can be run again: what began it is whole and was real.
///
/// # Errors
/// `run_not_resumable` with what is missing.
pub(crate) fn beginning_suffices(state: &RunState) -> Result<()> {
    let refused =
        |what: &str| Err(Error::new(ErrorCode::RunNotResumable, format!("run {} {what}", state.run_id)));
    if state.mocked {
        return refused("was answered by mocks, whose answers are not on record");
    }
    if state.plan_only {
        return refused("was to plan or to be a dry run, and nothing of its plan is to run");
    }
    began_without_secret(state)?;
    // Once it has a plan, nothing is planned by it again but after a failure, without the prompts.
    if state.accepted.is_none() && is_marked(&state.redacted, "/planning") {
        return refused("was asked with a secret in a prompt's arguments, which is not in the journal");
    }
    Ok(())
}

/// Whether the journal holds all it takes for this engine to resume a suspended run.
///
/// # Errors
/// `run_not_resumable` with what is missing.
pub(crate) fn engine_suffices(state: &RunState, engine: EngineKind) -> Result<()> {
    beginning_suffices(state)?;
    if let Some(recorded) = state.engine.as_ref().filter(|recorded| **recorded != engine) {
        let message = format!("run {} ran on the engine `{recorded}`, and this is `{engine}`", state.run_id);
        return Err(Error::new(ErrorCode::RunNotResumable, message)
            .with_help(format!("use the same engine: `--set sandbox.engine={recorded}`")));
    }
    Ok(())
}

/// Whether the context a run began with is on record.
///
/// # Errors
/// `run_not_resumable`.
pub(crate) fn began_without_secret(state: &RunState) -> Result<()> {
    if is_marked(&state.redacted, "/context") {
        let message =
            format!("run {} began with a secret in its context, which is not in the journal", state.run_id);
        return Err(Error::new(ErrorCode::RunNotResumable, message));
    }
    Ok(())
}

/// Why a run can never be resumed, whatever is decided about its calls, and the way out; `None` for one that can.
#[must_use]
pub fn cannot_go_on(state: &RunState) -> Option<Error> {
    let suffices = beginning_suffices(state)
        .and_then(|()| recorded_source(state).map(drop))
        .and_then(|()| RecordedCalls::of(&state.calls).map(drop));
    let help = format!(
        "no waiting call of it will be made; end it with `luaplan cancel {}`, and start it again where it is still wanted",
        state.run_id
    );
    suffices.err().map(|error| error.with_help(help))
}
