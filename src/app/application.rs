//! The wired application.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use luaplan_base::{
    Clock, Error, ErrorCode, Limits, Randomness, Result, SystemClock, SystemRandomness, Value,
};
use luaplan_bus::{Limiter, Registry, Tool};
use luaplan_catalog::Catalog;
use luaplan_engine::Isolation;
use luaplan_journal::{Durability, EventBody, Journal, JournalWrite, Redactor};
use luaplan_llm::LlmClient;
use luaplan_planner::{Note, Planner, PlannerSettings, PlanningRequest, Prompt};
use luaplan_vm::{LIBRARY_STUBS, VmPool};
use luaplan_workers::{WorkerPool, WorkerProgram};

use super::config::{Config, Environment, Loaded};
use super::discreet::Discreet;
use crate::ownership::local_lock::Owners;
use crate::plans::analysis::Analysis;
use crate::runs::planning::{PlanningOptions, PromptRef};
use crate::runs::registry::RunRegistry;
use crate::tools::assemble;
use crate::tools::mcp::McpServers;
use crate::{EventHub, PolicyReport};

/// Journal, tools, model and limits, put together by a configuration. Cheap to clone; clones are the same
/// application.
#[derive(Clone)]
pub struct App {
    pub(super) config: Arc<Config>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) usable: Arc<Catalog>,
    pub(super) registry: Arc<Registry>,
    pub(super) servers: McpServers,
    pub(super) limiter: Arc<Limiter>,
    pub(super) journal: Arc<Journal>,
    /// What runs write with: the journal, or what was put before it.
    pub(super) pen: Arc<dyn JournalWrite>,
    /// What is put before the journal.
    pub(super) journal_layer: Option<JournalLayer>,
    pub(super) llm: Option<Arc<dyn LlmClient>>,
    pub(super) workers: Option<WorkerPool>,
    pub(super) vms: Option<VmPool>,
    pub(super) redactor: Arc<Redactor>,
    pub(super) hub: EventHub,
    pub(super) owners: Arc<Owners>,
    pub(super) running: Arc<RunRegistry>,
    pub(super) interrupting: Arc<AtomicBool>,
    pub(super) analysis: Arc<Analysis>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) randomness: Arc<dyn Randomness>,
}

/// What replaces the usual parts, for the demo and for embedding.
#[derive(Default)]
pub struct AppParts {
    /// A model to use instead of the configured one.
    pub llm: Option<Arc<dyn LlmClient>>,
    /// Where VMs live where the configuration leaves it open.
    pub isolation: Isolation,
    /// The program workers are made of; the one that is running now when not given. A program that
    /// embeds the crate gives a `luaplan` here, or answers to `worker` itself with
    /// [`luaplan_workers::worker_main`]. Where one is given, queries of SQLite files run in processes made of it
    /// too: it answers to `sqlite-reader` with [`luaplan_tools::query_db::sqlite_reader_main`].
    pub worker_program: Option<WorkerProgram>,
    /// Put between runs and the journal, to watch or to disturb what they write.
    pub journal_layer: Option<JournalLayer>,
}

/// Makes something that writes out of the journal that does.
pub type JournalLayer = Arc<dyn Fn(Arc<dyn JournalWrite>) -> Arc<dyn JournalWrite> + Send + Sync>;

impl App {
    /// Opens the journal and wires everything.
    ///
    /// # Errors
    /// `config_…` for configuration a tool or model cannot use, `journal_…` where the journal
    /// cannot be opened.
    pub async fn open(loaded: &Loaded, environment: &Environment) -> Result<Self> {
        Self::open_with(loaded, environment, AppParts::default()).await
    }

    /// As [`App::open`], with some parts replaced.
    ///
    /// # Errors
    /// As [`App::open`].
    pub async fn open_with(loaded: &Loaded, environment: &Environment, parts: AppParts) -> Result<Self> {
        let mut config = loaded.check(environment)?;
        if let Some(program) = &parts.worker_program {
            config.sqlite_program = Some(program.path().to_path_buf());
        }
        let placed = |error| loaded.placed(error);
        let randomness: Arc<dyn Randomness> = Arc::new(SystemRandomness);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let llm = match parts.llm {
            Some(client) => Some(client),
            None => assemble::llm(&config, environment, &clock, &randomness).map_err(placed)?,
        };
        let redactor = Arc::new(config.redactor(environment));
        let llm: Option<Arc<dyn LlmClient>> = llm.map(|model| {
            let redactor = Arc::clone(&redactor);
            Arc::new(Discreet { model, redactor }) as Arc<dyn LlmClient>
        });
        let servers = McpServers::new(&config).map_err(placed)?;
        let registry = assemble::registry(&config, environment, llm.as_ref(), &servers).map_err(placed)?;
        let mut catalog = registry.catalog();
        assemble::note_absent(&config, &mut catalog);
        assemble::note_not_set_up(&config, environment, llm.is_some(), &mut catalog);
        let catalog = Arc::new(catalog);
        if let Some(rules) = &config.policy {
            PolicyReport::of(rules, &catalog)?;
        }
        let journal = Arc::new(Journal::open(&config.journal_path(), config.journal.as_ref()).await?);
        let pen: Arc<dyn JournalWrite> = match &parts.journal_layer {
            Some(layer) => layer(journal.clone()),
            None => journal.clone(),
        };
        let owners = Arc::new(Owners::new(&config.data_dir));
        Ok(Self {
            usable: Arc::new(assemble::usable_tools(&catalog)),
            workers: assemble::workers(&config, parts.isolation, parts.worker_program, &catalog),
            vms: assemble::vms(&config, parts.isolation, &catalog),
            catalog,
            registry: Arc::new(registry),
            servers,
            limiter: Arc::new(Limiter::new(config.rates.clone())),
            journal,
            pen,
            journal_layer: parts.journal_layer,
            llm,
            redactor,
            hub: EventHub::default(),
            running: Arc::new(RunRegistry::new(owners.folder())),
            owners,
            interrupting: Arc::default(),
            analysis: Arc::new(Analysis::new()),
            clock,
            randomness,
            config: Arc::new(config),
        })
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What takes the secrets out of what is shown and kept.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The tools plans may call.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// `not_found`.
    pub fn tool(&self, name: &str) -> Result<Arc<dyn Tool>> {
        self.registry.get(name).cloned().ok_or_else(|| self.no_such_tool(name))
    }

    /// Nothing of that name is registered.
    pub(super) fn no_such_tool(&self, name: &str) -> Error {
        let known = self.catalog.names().collect::<Vec<_>>().join(", ");
        Error::new(ErrorCode::NotFound, format!("there is no tool `{name}`"))
            .with_help(format!("the tools are {known}"))
    }

    /// The tools that are set up, which a model is told about.
    #[must_use]
    pub fn usable_tools(&self) -> &Catalog {
        &self.usable
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

    /// The journal, for looking back.
    #[must_use]
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Events of every run of this process.
    #[must_use]
    pub fn hub(&self) -> &EventHub {
        &self.hub
    }

    /// The current instant, by the clock events are stamped with.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// What it will be after `time`.
    #[must_use]
    pub fn after(&self, time: Duration) -> jiff::Timestamp {
        self.now().checked_add(time).unwrap_or(jiff::Timestamp::MAX)
    }

    /// The prompt a task would be planned with. No model is asked.
    ///
    /// # Errors
    /// `llm_context_overflow` where even the trimmed prompt does not fit its budget.
    pub fn prompt(&self, task: &str, context: &Value, limits: &Limits, notes: &[Note]) -> Result<Prompt> {
        let request = PlanningRequest { notes, ..self.planning_request(task, context, limits) };
        Planner::prompt(&self.planner_settings(), &request)
    }

    /// Whether a task can be planned as wished, as far as that is known before anybody is asked.
    ///
    /// # Errors
    /// As [`PlanningOptions::validate`]; `not_found` for a prompt that was not accepted, `bad_request` for its
    /// arguments.
    pub fn check_planning(&self, planning: &PlanningOptions) -> Result<()> {
        planning.validate()?;
        self.servers.check_prompts(&planning.prompts)
    }

    /// The texts of prompts of MCP servers, asked now.
    ///
    /// # Errors
    /// `not_found` for one that was not accepted, `bad_request` for its arguments, `mcp_…` as the server
    /// answers.
    pub async fn notes(&self, planning: &[PromptRef]) -> Result<Vec<Note>> {
        self.servers.notes(planning).await
    }

    pub(super) fn planning_request<'a>(
        &'a self,
        task: &'a str,
        context: &'a Value,
        limits: &'a Limits,
    ) -> PlanningRequest<'a> {
        PlanningRequest { task, context, catalog: &self.usable, limits, notes: &[], failed: None }
    }

    fn planner_settings(&self) -> PlannerSettings {
        PlannerSettings {
            prompt_tokens: self.config.llm.prompt_tokens.into(),
            output_tokens: self.config.llm.output_tokens,
            repair_rounds_max: self.config.repair_rounds,
            has_reviewer: self.config.reviewer,
            library_stubs: LIBRARY_STUBS,
        }
    }

    /// Whether tasks can be planned.
    ///
    /// # Errors
    /// `llm_not_configured` where no model is.
    pub fn require_model(&self) -> Result<()> {
        self.planner().map(drop)
    }

    /// Tells every run of this process that it was asked to stop.
    pub async fn announce_shutdown(&self, signal: &str) {
        let logs = self.running.logs();
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

    /// From now on a cancelled run ends as `interrupted`: the process stops it, nobody asked.
    pub fn interrupt_runs(&self) {
        self.interrupting.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_interrupting(&self) -> bool {
        self.interrupting.load(Ordering::Relaxed)
    }

    pub(super) fn planner(&self) -> Result<Planner> {
        let client = self.llm.clone().ok_or_else(|| {
            Error::new(ErrorCode::LlmNotConfigured, "a task needs a model, and none is configured").with_help(
                "set `[llm] provider` and `model` in luaplan.toml, or run a saved plan with `luaplan run`",
            )
        })?;
        Ok(Planner::new(client, self.planner_settings()))
    }
}
