//! `[sandbox]`: which engine, where its VMs live, and the workers for that.

use serde::{Deserialize, Serialize};

use luaplan_base::{EngineKind, Error, ErrorCode, Isolation, Result};
use luaplan_plan::CheckReport;
use luaplan_vm::{is_built, not_built};

use super::values::{invalid, keyed};

/// `[sandbox]`, as written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSandbox {
    /// `mlua` or `piccolo`.
    pub engine: String,
    /// `process`, `in-process`, or `auto`: process in `serve` and `mcp`, in-process elsewhere.
    pub isolation: String,
    /// How many workers `serve` keeps ready.
    pub workers_idle: u32,
    /// How many VMs `serve` keeps ready in its own process, where plans run there.
    pub vms_idle: u32,
    /// How many workers may serve a run at the same time; 0 means `server.max_concurrent_runs`, 64 at most.
    pub workers_max: u32,
    /// How many runs a worker serves before it ends.
    pub runs_per_worker: u32,
}

impl Default for RawSandbox {
    fn default() -> Self {
        Self {
            engine: "mlua".into(),
            isolation: AUTO.into(),
            workers_idle: 4,
            vms_idle: 16,
            workers_max: 0,
            runs_per_worker: 1,
        }
    }
}

const AUTO: &str = "auto";

/// More ready workers or VMs than this are memory for nothing.
/// Workers that serve runs at the same time where configuration names no number: each is a process.
const WORKERS_MAX_DEFAULT: u32 = 64;
const IDLE_MAX: u32 = 256;

/// `[sandbox]`, parsed.
#[derive(Debug, Clone, Copy)]
pub struct SandboxConfig {
    /// The engine plans run on.
    pub engine: EngineKind,
    /// Where VMs live, where that is said; else each edge has its own default.
    pub isolation: Option<Isolation>,
    /// How many workers are kept ready.
    pub workers_idle: u32,
    /// How many VMs are kept ready in this process, where plans run there.
    pub vms_idle: u32,
    /// How many workers may serve a run at the same time.
    pub workers_max: u32,
    /// How many runs a worker serves before it ends.
    pub runs_per_worker: u32,
}

impl SandboxConfig {
    /// What the check of `source` says where its plan is to run on this engine.
    #[must_use]
    pub fn judge(&self, report: CheckReport, source: &str) -> CheckReport {
        match self.engine {
            EngineKind::Mlua => report,
            #[cfg(not(feature = "piccolo"))]
            EngineKind::Piccolo => report.refused_by_engine(source, &not_built(self.engine)),
            #[cfg(feature = "piccolo")]
            EngineKind::Piccolo => {
                let report = report.for_piccolo(source);
                match report.plan.as_ref().map(|_| luaplan_vm::compiles_on_piccolo(source)) {
                    Some(Err(error)) => report.refused_by_engine(source, &error),
                    _ => report,
                }
            }
        }
    }

    pub(super) fn check(raw: &RawSandbox, max_concurrent_runs: u32) -> Result<Self> {
        let engine: EngineKind = raw.engine.parse().map_err(|error| keyed("sandbox.engine", &error))?;
        if !is_built(engine) {
            return Err(keyed("sandbox.engine", &not_built(engine)));
        }
        let isolation = match raw.isolation.as_str() {
            AUTO if engine == EngineKind::Piccolo => Some(Isolation::Process),
            AUTO => None,
            text => Some(text.parse().map_err(|error| keyed("sandbox.isolation", &error))?),
        };
        if engine == EngineKind::Piccolo && isolation == Some(Isolation::InProcess) {
            let message = "sandbox.isolation is `in-process`, and piccolo runs in worker processes only";
            return Err(Error::new(ErrorCode::ConfigInvalid, message)
                .with_help("set `sandbox.isolation` to `process`, or use the engine mlua")
                .with_detail("key", "sandbox.isolation"));
        }
        for (key, number) in [("sandbox.workers_idle", raw.workers_idle), ("sandbox.vms_idle", raw.vms_idle)]
        {
            if number > IDLE_MAX {
                return Err(invalid(key, &number.to_string(), &format!("at most {IDLE_MAX}")));
            }
        }
        if raw.runs_per_worker == 0 {
            return Err(invalid("sandbox.runs_per_worker", "0", "a number above zero"));
        }
        Ok(Self {
            engine,
            isolation,
            workers_idle: raw.workers_idle,
            vms_idle: raw.vms_idle,
            workers_max: match raw.workers_max {
                0 => max_concurrent_runs.min(WORKERS_MAX_DEFAULT),
                chosen => chosen,
            },
            runs_per_worker: raw.runs_per_worker,
        })
    }

    /// Where VMs live, with `default` where nothing is said.
    #[must_use]
    pub fn isolation_or(&self, default: Isolation) -> Isolation {
        self.isolation.unwrap_or(default)
    }
}
