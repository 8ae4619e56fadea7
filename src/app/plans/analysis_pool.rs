//! The threads on which plans are checked and explained, apart from the runtime's. An analysis computes for as long
//! as it takes, and a runtime thread that computes answers no request.
//!
//! Work waits in a queue for each tenant. The queues are served in turn, and one tenant's plans never hold all
//! threads: what one tenant sends delays its own checks.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use luaplan_base::{Error, ErrorCode, Result};

/// Threads at least, so that one tenant's plan leaves a thread to the others.
const THREADS_MIN: usize = 2;
/// Room for the deepest plan the check lets through.
const STACK_BYTES: usize = 16 * 1024 * 1024;
/// Analyses that requests may have waiting.
const WAITING_MAX: usize = 1024;
/// Those of one tenant.
const WAITING_OF_ONE_MAX: usize = 256;

/// Who waits for an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// A request: where too many wait it is refused, and may come again.
    Request,
    /// A run on record, or a program a model was paid for: neither may fail for that. `server.max_concurrent_runs` and
    /// the shares of keys bound them.
    Run,
}

type Job = Box<dyn FnOnce() + Send>;

/// The threads and their queues. They end when it is dropped.
pub(crate) struct AnalysisPool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    threads_max: usize,
}

#[derive(Default)]
struct State {
    queues: HashMap<String, VecDeque<(Waiting, Job)>>,
    /// The tenants with work, the next first.
    order: VecDeque<String>,
    /// Threads at work for each tenant.
    busy: HashMap<String, usize>,
    threads: usize,
    idle: usize,
    /// Analyses that were begun.
    made: u64,
    is_closed: bool,
}

impl AnalysisPool {
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_threads(processors.max(THREADS_MIN))
    }

    fn with_threads(threads_max: usize) -> Self {
        Self { shared: Arc::new(Shared { state: Mutex::default(), work: Condvar::new(), threads_max }) }
    }

    /// How many analyses were made.
    pub(crate) fn made(&self) -> u64 {
        self.shared.lock().made
    }

    /// What `work` gives, computed on a thread of the pool.
    ///
    /// # Errors
    /// `analysis_busy` for a request where too many wait; `internal` where the analysis broke off.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        tenant: &str,
        waiting: Waiting,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (sender, answer) = oneshot::channel();
        let job = Box::new(move || {
            // The request may be gone by the time its turn comes.
            if !sender.is_closed() {
                let _ = sender.send(work());
            }
        });
        self.shared.put(tenant, waiting, job)?;
        answer.await.map_err(|_| Error::new(ErrorCode::Internal, "the analysis of the plan broke off"))
    }
}

impl Drop for AnalysisPool {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn put(self: &Arc<Self>, tenant: &str, waiting: Waiting, job: Job) -> Result<()> {
        let mut state = self.lock();
        if waiting == Waiting::Request {
            state.admit(tenant)?;
        }
        if !state.queues.contains_key(tenant) {
            state.order.push_back(tenant.to_owned());
        }
        state.queues.entry(tenant.to_owned()).or_default().push_back((waiting, job));
        // A thread that was woken counts as idle until it looks: as many jobs as that may be its already.
        let queued: usize = state.queues.values().map(VecDeque::len).sum();
        if queued > state.idle && state.threads < self.threads_max {
            let shared = Arc::clone(self);
            let builder =
                std::thread::Builder::new().name("plan-analysis".to_owned()).stack_size(STACK_BYTES);
            match builder.spawn(move || shared.serve()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => {
                    state.queues.clear();
                    state.order.clear();
                    return Err(Error::new(
                        ErrorCode::Internal,
                        format!("no thread could be started: {error}"),
                    ));
                }
                Err(_) => {}
            }
        }
        drop(state);
        // Which thread may take it depends on the tenant, so all look.
        self.work.notify_all();
        Ok(())
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return;
            }
            let Some((tenant, job)) = state.take(self.threads_max) else {
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            drop(state);
            // The waiting caller learns of it by the dropped sender.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("the analysis of a plan broke off");
            }
            state = self.lock();
            state.done(&tenant);
            self.work.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn admit(&self, tenant: &str) -> Result<()> {
        let requests = |queue: &VecDeque<(Waiting, Job)>| {
            queue.iter().filter(|(waiting, _)| *waiting == Waiting::Request).count()
        };
        let own = self.queues.get(tenant).map_or(0, requests);
        let all: usize = self.queues.values().map(requests).sum();
        let (limit, waiting) = match () {
            () if own >= WAITING_OF_ONE_MAX => (WAITING_OF_ONE_MAX, own),
            () if all >= WAITING_MAX => (WAITING_MAX, all),
            () => return Ok(()),
        };
        let message = "as many plans as may be wait to be checked or explained";
        Err(Error::new(ErrorCode::AnalysisBusy, message).with_limit(limit, waiting))
    }

    /// The next job by turns among tenants; a tenant that holds all threads but one waits.
    fn take(&mut self, threads_max: usize) -> Option<(String, Job)> {
        let share = threads_max.saturating_sub(1).max(1);
        let is_free = |tenant: &String| self.busy.get(tenant).is_none_or(|busy| *busy < share);
        let place = self.order.iter().position(is_free)?;
        let tenant = self.order.remove(place)?;
        let queue = self.queues.get_mut(&tenant)?;
        let (_, job) = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&tenant);
        } else {
            self.order.push_back(tenant.clone());
        }
        *self.busy.entry(tenant.clone()).or_default() += 1;
        self.made += 1;
        Some((tenant, job))
    }

    fn done(&mut self, tenant: &str) {
        if let Some(busy) = self.busy.get_mut(tenant) {
            *busy -= 1;
            if *busy == 0 {
                self.busy.remove(tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Holds a thread until the test ends.
    fn held(gate: Receiver<()>) -> impl FnOnce() + Send {
        move || {
            let _ = gate.recv_timeout(PATIENCE);
        }
    }

    #[tokio::test]
    async fn one_tenants_flood_neither_holds_all_threads_nor_fills_the_queue() {
        let pool = Arc::new(AnalysisPool::with_threads(2));
        let mut gates = Vec::new();
        let mut flood = tokio::task::JoinSet::new();
        for _ in 0..WAITING_OF_ONE_MAX + 100 {
            let (gate, waits) = channel();
            gates.push(gate);
            let pool = pool.clone();
            flood.spawn(async move { pool.run("loud", Waiting::Request, held(waits)).await });
        }
        let mut refused = 0;
        while refused < 100 - pool.shared.threads_max {
            let error = flood.join_next().await.unwrap().unwrap().unwrap_err();
            assert_eq!(error.code(), ErrorCode::AnalysisBusy);
            refused += 1;
        }
        let quiet = pool.run("quiet", Waiting::Request, || 42);
        assert_eq!(tokio::time::timeout(PATIENCE / 2, quiet).await.unwrap().unwrap(), 42);
        // A run on record waits where a request is refused.
        let run = pool.run("loud", Waiting::Run, || 7);
        drop(gates);
        assert_eq!(run.await.unwrap(), 7);
    }

    #[tokio::test]
    async fn an_analysis_that_breaks_off_leaves_its_thread_to_the_next() {
        let pool = AnalysisPool::new();
        for _ in 0..4 {
            let broken = pool.run::<()>("one", Waiting::Request, || panic!("on purpose")).await;
            assert_eq!(broken.unwrap_err().code(), ErrorCode::Internal);
        }
        assert_eq!(pool.run("one", Waiting::Request, || 1).await.unwrap(), 1);
    }
}
