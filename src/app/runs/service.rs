//! What executes runs: all that a run needs, each from the service that owns it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use luaplan_engine::Isolation;
use luaplan_journal::{Durability, EventBody};
use luaplan_vm::VmPool;
use luaplan_workers::WorkerPool;

use super::registry::RunRegistry;
use crate::approvals::service::Approvals;
use crate::config::Config;
use crate::history::History;
use crate::models::Models;
use crate::ownership::hold::Ownership;
use crate::plans::check::Plans;
use crate::tools::toolbox::Toolbox;

/// Starts, resumes, pauses and ends runs, and replays them. Cheap to clone.
#[derive(Clone)]
pub struct Runs {
    pub(crate) config: Arc<Config>,
    pub(crate) history: History,
    pub(crate) tools: Toolbox,
    pub(crate) plans: Plans,
    pub(crate) models: Models,
    pub(crate) approvals: Approvals,
    pub(crate) ownership: Ownership,
    pub(crate) registry: Arc<RunRegistry>,
    pub(crate) workers: Option<WorkerPool>,
    pub(crate) vms: Option<VmPool>,
    pub(crate) interrupting: Arc<AtomicBool>,
}

impl Runs {
    /// The same for a run that may call `tools` and no others.
    pub(crate) fn narrowed(&self, tools: &[String]) -> Self {
        let tools = self.tools.narrowed(tools);
        let plans = Plans { tools: tools.clone(), ..self.plans.clone() };
        Self {
            approvals: Approvals { tools: tools.clone(), plans: plans.clone(), ..self.approvals.clone() },
            plans,
            models: Models { tools: tools.clone(), ..self.models.clone() },
            tools,
            ..self.clone()
        }
    }

    /// Which runs this process executes, and whether it begins others.
    #[must_use]
    pub fn registry(&self) -> &Arc<RunRegistry> {
        &self.registry
    }

    /// Where the VMs of runs live.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        if self.workers.is_some() { Isolation::Process } else { Isolation::InProcess }
    }

    /// From now on keeps workers ready, or VMs where runs are not isolated by process.
    pub fn keep_vms_ready(&self) {
        if let Some(workers) = &self.workers {
            workers.keep_ready();
        }
        if let Some(vms) = self.vms.clone() {
            vms.keep_ready();
            tokio::task::spawn_blocking(move || {
                if let Err(error) = vms.refill() {
                    tracing::error!(%error, "no VM could be made ready");
                }
            });
        }
    }

    /// Tells every run of this process that it was asked to stop.
    pub async fn announce_shutdown(&self, signal: &str) {
        let logs = self.registry.logs();
        let running = logs.len() as u64;
        for log in logs {
            let received = EventBody::SignalReceived { signal: signal.to_owned() };
            let started = EventBody::GracefulShutdownStarted { running };
            for body in [received, started] {
                if let Err(error) = log.emit(body, Durability::Ordered).await {
                    tracing::error!(%error, "the journal cannot be written while stopping");
                }
            }
        }
    }

    /// From now on a cancelled run ends as `interrupted`: the process stops it, and no caller asked.
    pub fn interrupt(&self) {
        self.interrupting.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_interrupting(&self) -> bool {
        self.interrupting.load(Ordering::Relaxed)
    }
}
