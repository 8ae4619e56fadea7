//! Works in a ready worker process, one at a time, for the comparison in `peers/`.

use std::time::{Duration, Instant};

use luaplan::base::Value;
use luaplan::sandbox::EngineKind;
use luaplan::workers::{Pause, PoolSettings, WorkerPool, WorkerProgram, WorkerStart};
use tokio::runtime::Runtime;

use crate::parts::{Answers, options};

/// Workers kept ready for the next run.
const READY: usize = 1;

/// A pool of workers and the runtime it needs.
pub(crate) struct Works {
    runtime: Runtime,
    pool: WorkerPool,
}

impl Works {
    /// Workers that each serve so many runs.
    pub(crate) fn new(runs_per_worker: u32) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pool = WorkerPool::new(PoolSettings {
            program: WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan")),
            engine: EngineKind::Mlua,
            idle: READY,
            max: 4,
            runs_per_worker,
            prepared: options(),
        });
        runtime.block_on(async { pool.keep_ready() });
        Self { runtime, pool }
    }

    /// The time from the request for a run to its result, with a ready worker, and that result.
    pub(crate) fn run(&mut self, source: &str, context: &Value, answers: &Answers) -> (Duration, Value) {
        self.runtime.block_on(async {
            while self.pool.ready() < READY {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // The worker makes its VM meanwhile.
            tokio::time::sleep(Duration::from_millis(5)).await;
            let start = WorkerStart {
                source: source.to_owned(),
                name: "plan.lua".to_owned(),
                context: context.clone(),
                calls_before: 0,
                run_started_s: None,
            };
            let started = Instant::now();
            let mut run = self.pool.take(&options()).await.unwrap();
            let mut pause = run.start(start).await;
            loop {
                pause = match pause {
                    Pause::Calls { calls, .. } => run.answer(answers.all(&calls)).await,
                    Pause::Wait { .. } => run.resume().await,
                    Pause::Done(stopped) => return (started.elapsed(), stopped.result.unwrap()),
                }
            }
        })
    }
}
