//! The whole application on real parts: a database file, a picture server, a mailbox.

use std::path::Path;
use std::sync::Arc;

use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, AppParts, RunSpec, Work};
use luaplan::base::{Limits, RunId, Value};
use luaplan::demo::DemoParts;
use luaplan::engine::RunOutcome;
use luaplan::journal::{JournalRead as _, Record, RecordFilter};
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage};

/// A folder with parts and an application wired to them.
pub(crate) struct Bench {
    pub(crate) parts: DemoParts,
    pub(crate) app: App,
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(&[], None).await
    }

    /// With further configuration, `key.path` and TOML text, and a model.
    pub(crate) async fn with(settings: &[(&str, &str)], llm: Option<Arc<dyn LlmClient>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
        let mut flags = parts.configuration();
        flags.extend(settings.iter().map(|(key, text)| setting(key, text)));
        let environment = environment(folder.path());
        let loaded = load(&environment, &LoadOptions { file: None, flags }).unwrap();
        let app =
            App::open_with(&loaded, &environment, AppParts { llm, ..AppParts::default() }).await.unwrap();
        Self { parts, app, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.app.config().limits.clone()
    }

    /// Runs a plan with an empty context.
    pub(crate) async fn run(&self, source: &str) -> RunOutcome {
        self.run_with(source, None, self.limits()).await
    }

    pub(crate) async fn run_with(&self, source: &str, context: Option<Value>, limits: Limits) -> RunOutcome {
        let work = Work::Plan { name: "plan".to_owned(), source: source.to_owned() };
        self.app.run(RunSpec { context, limits, ..self.request(work) }).await
    }

    pub(crate) fn request(&self, work: Work) -> RunSpec {
        RunSpec::new(work, self.limits())
    }

    pub(crate) async fn records(&self, run_id: &RunId) -> Vec<Record> {
        let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
        self.app.journal().records(filter).await.unwrap()
    }

    /// The names of a run's events, in order.
    pub(crate) async fn events(&self, run_id: &RunId) -> Vec<&'static str> {
        self.records(run_id).await.iter().map(|record| record.event.body.name()).collect()
    }
}

/// A setting from its `key.path` and TOML text.
pub(crate) fn setting(key: &str, text: &str) -> (String, toml::Value) {
    let mut table: toml::Table = toml::from_str(&format!("value = {text}")).unwrap();
    (key.to_owned(), table.remove("value").unwrap())
}

/// Surroundings without any variable or file.
pub(crate) fn environment(folder: &Path) -> Environment {
    Environment { working_dir: folder.to_path_buf(), ..Environment::default() }
}

/// A model that always answers the same and costs a cent a time.
pub(crate) struct PricedModel;

#[async_trait::async_trait]
impl LlmClient for PricedModel {
    async fn chat(
        &self,
        _request: &ChatRequest,
        _progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> luaplan::base::Result<ChatReply> {
        Ok(ChatReply {
            text: "hello".to_owned(),
            usage: TokenUsage {
                input_tokens: 1,
                output_tokens: 1,
                cost_micro_usd: 10_000,
                ..TokenUsage::default()
            },
            provider: "test".to_owned(),
            model: "priced".to_owned(),
            duration: std::time::Duration::ZERO,
            recorded: false,
        })
    }

    fn name(&self) -> String {
        "test/priced".to_owned()
    }
}
