//! A hostile plan in a worker process, driven as the engine drives one: told to stop at its limit,
//! ended soon after where it does not.

use std::path::Path;
use std::time::Duration;

use luaplan::base::Value;
use luaplan::sandbox::{EngineKind, InterruptReason, VmLimits, VmOptions};
use luaplan::workers::{Pause, PoolSettings, WorkerPool, WorkerProgram, WorkerStart};

use super::watch::{Watch, Watched};
use super::{Ran, answer, options};
use crate::block_on;

/// How long after its limit a worker is ended, in processor time of the worker.
const KILL_AFTER: Duration = Duration::from_millis(50);

/// Processor time of another process; its last where it is gone.
fn cpu_time_of(process: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything; what follows it may not.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    // Linux counts in hundredths of a second on every system this runs on.
    Some(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}

pub(crate) fn run(program: &Path, engine: EngineKind, source: &str, limits: VmLimits) -> Ran {
    block_on(run_in_worker(program, engine, source, limits))
}

async fn run_in_worker(program: &Path, engine: EngineKind, source: &str, limits: VmLimits) -> Ran {
    let options: VmOptions = options(limits, Default::default());
    let pool = WorkerPool::new(PoolSettings {
        program: WorkerProgram::at(program),
        engine,
        idle: 0,
        max: 1,
        runs_per_worker: 1,
        prepared: options.clone(),
    });
    let mut run = pool.take(&options).await.unwrap();
    let process = run.process_id().unwrap();
    let (tell, kill) = (run.signals(), run.signals());
    let watch = Watch::begin(Watched {
        clock: Box::new(move || cpu_time_of(process).unwrap_or_default()),
        tell: Box::new(move || tell.interrupt(InterruptReason::WallTime)),
        give_up: Box::new(move || kill.kill()),
        limit: Duration::from_millis(limits.wall_ms),
        give_up_after: KILL_AFTER,
    });
    let start = WorkerStart {
        source: source.to_owned(),
        name: "plan.lua".to_owned(),
        context: Value::from_json_text("{}").unwrap(),
        calls_before: 0,
        run_started_s: None,
    };
    let mut printed = String::new();
    let mut pause = run.start(start).await;
    let stopped = loop {
        pause = match pause {
            Pause::Calls { calls, printed: text, .. } => {
                printed.push_str(&text);
                run.answer(calls.iter().map(answer).collect()).await
            }
            Pause::Wait { printed: text, .. } => {
                printed.push_str(&text);
                run.resume().await
            }
            Pause::Done(stopped) => break stopped,
        };
    };
    printed.push_str(&stopped.printed);
    let (used, late) = watch.end();
    Ran { stopped, printed, used, late }
}
