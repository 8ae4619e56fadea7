//! The model that plans tasks, and what it is told. It runs nothing.

use std::sync::Arc;

use jiff::Timestamp;

use luaplan_base::{Clock, Error, ErrorCode, Limits, Result, Value};
use luaplan_bus::LOCAL_TENANT;
use luaplan_catalog::{Catalog, DatabaseSchema};
use luaplan_llm::LlmClient;
use luaplan_planner::{Note, Planner, PlannerSettings, PlanningRequest, Prompt, Sample, ToolRules};
use luaplan_vm::LIBRARY_STUBS;

use crate::config::Config;
use crate::runs::spec::{PlanningOptions, PromptRef};
use crate::tools::toolbox::Toolbox;

/// The configured model with the tools that it is told about. Cheap to clone.
#[derive(Clone)]
pub struct Models {
    pub(super) config: Arc<Config>,
    pub(super) tools: Toolbox,
    pub(super) llm: Option<Arc<dyn LlmClient>>,
    pub(super) clock: Arc<dyn Clock>,
}

/// What a model is told of the place that a plan is for, beside the tools themselves.
pub(crate) struct PlanningPlace {
    catalog: Arc<Catalog>,
    databases: Vec<DatabaseSchema>,
    database_notes: Option<String>,
    tool_rules: Vec<ToolRules>,
    today: String,
}

impl Models {
    /// The prompt a task of the command line would be planned with, with `samples` and the texts of `notes`; `may_ask` where the model's questions reach a
    /// person. No model is asked; databases are, for what they hold.
    ///
    /// # Errors
    /// `llm_context_overflow` where even the trimmed prompt does not fit its budget.
    pub async fn prompt(
        &self,
        task: &str,
        context: &Value,
        limits: &Limits,
        (notes, samples, may_ask): (&[Note], &[Sample], bool),
    ) -> Result<Prompt> {
        let place = self.place(self.clock.now(), LOCAL_TENANT).await;
        let request = PlanningRequest {
            notes,
            samples,
            may_ask,
            ..self.planning_request(task, context, &place, limits)
        };
        Planner::prompt(&self.planner_settings(), &request)
    }

    /// Whether a task can be planned as wished, as far as that is known before a model is asked.
    ///
    /// # Errors
    /// `llm_not_configured`; as [`PlanningOptions::validate`]; `not_found` for a prompt that was not accepted,
    /// `bad_request` for its arguments.
    pub(crate) fn check_planning(&self, planning: &PlanningOptions) -> Result<()> {
        self.require_model()?;
        planning.validate()?;
        self.tools.servers.check_prompts(&planning.prompts)
    }

    /// The texts of prompts of MCP servers, asked now.
    ///
    /// # Errors
    /// `not_found` for one that was not accepted, `bad_request` for its arguments, `mcp_…` as the server
    /// answers.
    pub async fn notes(&self, planning: &[PromptRef]) -> Result<Vec<Note>> {
        self.tools.servers.notes(planning).await
    }

    /// The place of a run of `tenant` that started at `started_at`. Databases are asked for what they hold.
    pub(crate) async fn place(&self, started_at: Timestamp, tenant: &str) -> PlanningPlace {
        let (databases, tool_rules) = (self.tools.databases().await, self.tools.planning_rules());
        let database_notes = self.tools.database_notes();
        PlanningPlace {
            catalog: self.tools.usable_for(tenant),
            databases,
            database_notes,
            tool_rules,
            today: started_at.strftime("%A, %Y-%m-%d (UTC)").to_string(),
        }
    }

    pub(crate) fn planning_request<'a>(
        &'a self,
        task: &'a str,
        context: &'a Value,
        place: &'a PlanningPlace,
        limits: &'a Limits,
    ) -> PlanningRequest<'a> {
        let PlanningPlace { catalog, databases, tool_rules, today, database_notes } = place;
        PlanningRequest {
            task,
            context,
            catalog,
            databases,
            database_notes: database_notes.as_deref(),
            tool_rules,
            today: Some(today),
            limits,
            notes: &[],
            samples: &[],
            past: None,
            revision: None,
            answered: &[],
            may_ask: false,
            is_autonomous: false,
        }
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

    pub(crate) fn planner(&self) -> Result<Planner> {
        let client = self.llm.clone().ok_or_else(|| {
            Error::new(ErrorCode::LlmNotConfigured, "a task needs a model, and none is configured").with_help(
                "set `[llm] provider` and `model` in luaplan.toml, or run a saved plan with `luaplan run`",
            )
        })?;
        Ok(Planner::new(client, self.planner_settings()))
    }
}
