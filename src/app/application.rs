//! The wired application.

use std::sync::Arc;

use luaplan_base::{Clock, Randomness, Result, SystemClock, SystemRandomness};
use luaplan_bus::Limiter;
use luaplan_engine::{Isolation, RunOutcome};
use luaplan_journal::{Journal, JournalWrite};
use luaplan_llm::LlmClient;
use luaplan_workers::WorkerProgram;

use super::config::{Config, Environment, Loaded};
use super::redacting_model::RedactingClient;
use crate::approvals::service::Approvals;
use crate::history::{History, JournalLayer};
use crate::models::Models;
use crate::ownership::hold::Ownership;
use crate::ownership::local_lock::Owners;
use crate::plans::analysis_pool::AnalysisPool;
use crate::plans::check::Plans;
use crate::plans::policy::PolicyReport;
use crate::reports::event_hub::EventHub;
use crate::runs::registry::RunRegistry;
use crate::runs::service::Runs;
use crate::runs::spec::{ResumeRequest, RunSpec};
use crate::tools::assemble;
use crate::tools::mcp::McpServers;
use crate::tools::seen::SeenResults;
use crate::tools::toolbox::Toolbox;

/// Journal, tools, model and limits, put together by a configuration: each service owns what it needs, and none reaches
/// one above it. Cheap to clone; clones are the same application.
#[derive(Clone)]
pub struct App {
    config: Arc<Config>,
    history: History,
    tools: Toolbox,
    plans: Plans,
    models: Models,
    approvals: Approvals,
    runs: Runs,
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
    /// The clock of all that the application does; the system's when not given.
    pub clock: Option<Arc<dyn Clock>>,
}

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
        let clock = parts.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let llm = match parts.llm {
            Some(client) => Some(client),
            None => assemble::llm(&config, environment, &clock, &randomness).map_err(placed)?,
        };
        let redactor = Arc::new(config.redactor(environment));
        let llm: Option<Arc<dyn LlmClient>> = llm.map(|model| {
            let redactor = Arc::clone(&redactor);
            Arc::new(RedactingClient { model, redactor }) as Arc<dyn LlmClient>
        });
        let servers = McpServers::new(&config, &clock).map_err(placed)?;
        let registry = assemble::registry(&config, environment, llm.as_ref(), &servers).map_err(placed)?;
        let mut catalog = registry.catalog();
        assemble::note_absent(&config, &mut catalog);
        assemble::note_not_set_up(&config, environment, llm.is_some(), &mut catalog);
        let catalog = Arc::new(catalog);
        if let Some(rules) = &config.policy {
            PolicyReport::of(rules, &catalog)?;
        }
        let journal = Arc::new(Journal::open(&config.journal_path(), config.journal.as_ref()).await?);
        let writer: Arc<dyn JournalWrite> = match &parts.journal_layer {
            Some(layer) => layer(journal.clone()),
            None => journal.clone(),
        };
        let (workers, vms) = (
            assemble::workers(&config, parts.isolation, parts.worker_program, &catalog),
            assemble::vms(&config, parts.isolation, &catalog),
        );
        let config = Arc::new(config);
        let history = History {
            journal,
            writer,
            journal_layer: parts.journal_layer,
            redactor,
            hub: EventHub::default(),
            clock,
            randomness,
            model_bodies: config.model_bodies.clone(),
        };
        let tools = Toolbox {
            usable: Arc::new(assemble::usable_tools(&catalog)),
            catalog,
            registry: Arc::new(registry),
            servers,
            seen: SeenResults::new(&config),
            limiter: Arc::new(Limiter::new(config.rates.clone())),
        };
        let (redactor, analysis) = (history.redactor.clone(), Arc::new(AnalysisPool::new()));
        let plans = Plans { config: config.clone(), tools: tools.clone(), redactor, analysis };
        let clock = history.clock.clone();
        let models = Models { config: config.clone(), tools: tools.clone(), llm, clock };
        let approvals = Approvals {
            config: config.clone(),
            history: history.clone(),
            tools: tools.clone(),
            plans: plans.clone(),
        };
        let owners = Arc::new(Owners::new(&config.data_dir));
        let registry = Arc::new(RunRegistry::new(owners.folder()));
        let runs = Runs {
            config: config.clone(),
            history: history.clone(),
            tools: tools.clone(),
            plans: plans.clone(),
            models: models.clone(),
            approvals: approvals.clone(),
            ownership: Ownership { history: history.clone(), owners, registry: registry.clone() },
            registry,
            workers,
            vms,
            interrupting: Arc::default(),
        };
        Ok(Self { config, history, tools, plans, models, approvals, runs })
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The journal, for looking back.
    #[must_use]
    pub fn journal(&self) -> &Arc<Journal> {
        &self.history.journal
    }

    /// What happened: the records of runs, without secrets.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The tools.
    #[must_use]
    pub fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// The check of plans.
    #[must_use]
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The model that plans tasks.
    #[must_use]
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// What people decide about calls.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// What executes runs.
    #[must_use]
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// As [`Runs::run`].
    pub async fn run(&self, spec: RunSpec) -> RunOutcome {
        self.runs.run(spec).await
    }

    /// As [`Runs::resume`].
    ///
    /// # Errors
    /// As [`Runs::resume`].
    pub async fn resume(&self, request: ResumeRequest) -> Result<RunOutcome> {
        self.runs.resume(request).await
    }
}
