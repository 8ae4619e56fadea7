//! Workers kept ready, and how many there may be.
//!
//! By default a process serves one run and ends, and with it everything a plan has done to it. With
//! `runs_per_worker` above one, processes start less often, but a plan that has broken out of its VM can
//! read the data of the next plans.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use luaplan_base::Result;
use luaplan_vm::{EngineKind, VmOptions};

use super::confine::{ConfineSettings, Confinement};
use super::gate::{Gate, Passed};
use super::message::Options;
use super::process::{Worker, WorkerProgram};
use super::worker_main::WorkerRole;

/// How long after the start of a run its successor's worker is started. Starting a process takes a
/// processor for longer than a short plan does, and most runs end before.
const REFILL_DELAY: Duration = Duration::from_millis(10);

/// The settings of a pool.
#[derive(Debug, Clone)]
pub struct PoolSettings {
    /// The program of the workers.
    pub program: WorkerProgram,
    /// The engine they run plans on.
    pub engine: EngineKind,
    /// How many idle workers are kept ready, once [`WorkerPool::keep_ready`] was called.
    pub idle: usize,
    /// The most workers that serve a run at the same time; further runs wait.
    pub max: usize,
    /// How many runs a process serves before it ends.
    pub runs_per_worker: u32,
    /// The options of VMs made ahead of their run. A run with other options gets a VM of its own.
    pub prepared: VmOptions,
}

/// Worker processes of one engine, for one tenant. Cheap to clone.
#[derive(Clone)]
pub struct WorkerPool {
    inner: Arc<Inner>,
    tenant: Arc<str>,
}

struct Inner {
    settings: PoolSettings,
    prepared: Options,
    role: WorkerRole,
    gate: Gate,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    idle: VecDeque<Worker>,
    starting: usize,
    keeps_ready: bool,
}

impl WorkerPool {
    /// A pool without any process yet.
    #[must_use]
    pub fn new(settings: PoolSettings) -> Self {
        let limits = settings.prepared.limits;
        let prepared = Options::new(&limits, settings.prepared.tools.clone());
        let role = role(&settings, limits.memory_bytes, limits.wall_ms);
        let gate = Gate::new(settings.max);
        let inner = Arc::new(Inner { settings, prepared, role, gate, state: Mutex::default() });
        Self { inner, tenant: Arc::from("") }
    }

    /// The same pool, for `tenant`.
    #[must_use]
    pub fn of(&self, tenant: &str) -> Self {
        Self { inner: Arc::clone(&self.inner), tenant: Arc::from(tenant) }
    }

    /// From now on a tenant has no more workers at once than remain free for others.
    pub fn share_between_tenants(&self) {
        self.inner.gate.share();
    }

    /// From now on keeps workers ready. Must be called inside a runtime.
    pub fn keep_ready(&self) {
        self.inner.lock().keeps_ready = true;
        self.refill(&Handle::current());
    }

    /// How many workers are ready.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.inner.lock().idle.len()
    }

    /// Ends the ready workers, and keeps no more. Active runs continue.
    pub fn close(&self) {
        let idle = {
            let mut state = self.inner.lock();
            state.keeps_ready = false;
            std::mem::take(&mut state.idle)
        };
        drop(idle);
    }

    /// Starts a worker, and returns its confinement.
    ///
    /// # Errors
    /// As [`WorkerPool::take`].
    pub async fn confinement(&self) -> Result<Confinement> {
        let Inner { settings, prepared, role, .. } = &*self.inner;
        Ok(Worker::start(&settings.program, *role, prepared.clone()).await?.confinement.clone())
    }

    /// A worker for a run with these options, and its place: a ready one, or a new one.
    pub(super) async fn worker(&self, options: &VmOptions) -> Result<(Worker, WorkerPlace)> {
        let passed = self.inner.gate.pass(&self.tenant).await;
        let needed = role(&self.inner.settings, options.limits.memory_bytes, options.limits.wall_ms);
        let worker = match self.inner.ready_for(&needed) {
            Some(worker) => worker,
            None => {
                let role = larger(needed, self.inner.role);
                Worker::start(
                    &self.inner.settings.program,
                    role,
                    Options::new(&options.limits, options.tools.clone()),
                )
                .await?
            }
        };
        self.refill_later();
        Ok((worker, WorkerPlace { pool: self.clone(), _passed: passed }))
    }

    /// Starts missing workers some time after a run has got its worker. The end of a run does so too.
    fn refill_later(&self) {
        if self.inner.missing(&self.inner.lock()) > 0 {
            let pool = self.clone();
            tokio::spawn(async move {
                tokio::time::sleep(REFILL_DELAY).await;
                pool.refill(&Handle::current());
            });
        }
    }

    fn refill(&self, runtime: &Handle) {
        let missing = {
            let mut state = self.inner.lock();
            let missing = self.inner.missing(&state);
            state.starting += missing;
            missing
        };
        for _ in 0..missing {
            let pool = self.clone();
            runtime.spawn(async move {
                let inner = &pool.inner;
                let started =
                    Worker::start(&inner.settings.program, inner.role, inner.prepared.clone()).await;
                let mut state = inner.lock();
                state.starting -= 1;
                match started {
                    Ok(worker) if state.keeps_ready => state.idle.push_back(worker),
                    Ok(_) => {}
                    // The next run tries again, and reports a failure.
                    Err(error) => tracing::error!(%error, "no worker could be made ready"),
                }
            });
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many workers are to be started so that enough are ready.
    fn missing(&self, state: &PoolState) -> usize {
        let wanted = if state.keeps_ready { self.settings.idle } else { 0 };
        wanted.saturating_sub(state.idle.len() + state.starting)
    }

    /// A ready worker whose bounds suffice for the run. Drops ended workers.
    fn ready_for(&self, needed: &WorkerRole) -> Option<Worker> {
        loop {
            let worker = {
                let mut state = self.lock();
                let place = state.idle.iter().position(|worker| covers(worker.role, *needed))?;
                state.idle.remove(place)?
            };
            if worker.is_alive() {
                return Some(worker);
            }
            tracing::error!(worker = worker.id, "a worker that was ready has ended");
        }
    }
}

fn role(settings: &PoolSettings, memory_bytes: u64, wall_ms: u64) -> WorkerRole {
    let runs_max = settings.runs_per_worker.max(1);
    let wall_seconds = wall_ms.div_ceil(1_000).saturating_add(1);
    WorkerRole {
        engine: settings.engine,
        runs_max,
        confine: ConfineSettings {
            memory_bytes,
            cpu_seconds: wall_seconds.saturating_mul(u64::from(runs_max)),
        },
    }
}

fn covers(has: WorkerRole, needed: WorkerRole) -> bool {
    has.confine.memory_bytes >= needed.confine.memory_bytes
        && has.confine.cpu_seconds >= needed.confine.cpu_seconds
}

fn larger(one: WorkerRole, other: WorkerRole) -> WorkerRole {
    let confine = ConfineSettings {
        memory_bytes: one.confine.memory_bytes.max(other.confine.memory_bytes),
        cpu_seconds: one.confine.cpu_seconds.max(other.confine.cpu_seconds),
    };
    WorkerRole { confine, ..one }
}

/// The right to one of the pool's workers, until dropped.
pub(super) struct WorkerPlace {
    pool: WorkerPool,
    _passed: Passed,
}

impl WorkerPlace {
    /// Takes back a worker whose run has ended in order.
    pub(super) fn give_back(&self, mut worker: Worker) {
        worker.runs_left = worker.runs_left.saturating_sub(1);
        if worker.runs_left > 0 {
            let mut state = self.pool.inner.lock();
            if state.idle.len() + state.starting < self.pool.inner.settings.idle.max(1) {
                state.idle.push_back(worker);
                return;
            }
        }
        // Ending a process takes time that the run's result need not wait for.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { drop(worker) });
        }
    }
}

impl Drop for WorkerPlace {
    fn drop(&mut self) {
        if let Ok(runtime) = Handle::try_current() {
            self.pool.refill(&runtime);
        }
    }
}
