//! Tools made by manifests, on real servers, databases and processes.

mod canary;
mod canary_http;
pub(crate) mod canary_plan;
mod commands;
mod faults;
mod guide;
mod import;
mod requests;
mod shown;
mod statements;

use std::path::Path;

use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, AppParts, RunSpec, Work};
use luaplan::base::{CallOutcome, Result};
use luaplan::engine::RunOutcome;
use luaplan::workers::WorkerProgram;
use serde_json::Value as Json;

use crate::app_parts::setting;
use crate::support::{TestRun, value};

/// An application over a folder with manifests.
pub(crate) struct Shop {
    pub(crate) app: App,
    pub(crate) folder: tempfile::TempDir,
}

impl Shop {
    /// With manifests by name, configuration (`key.path` and TOML text) and environment variables.
    pub(crate) async fn open(
        manifests: &[(&str, &str)],
        settings: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> Self {
        Self::try_open(manifests, settings, variables).await.unwrap()
    }

    pub(crate) async fn try_open(
        manifests: &[(&str, &str)],
        settings: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let folder = tempfile::tempdir().unwrap();
        Self::open_in(folder, manifests, settings, variables).await
    }

    pub(crate) async fn open_in(
        folder: tempfile::TempDir,
        manifests: &[(&str, &str)],
        settings: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let tools = folder.path().join("luaplan-tools");
        std::fs::create_dir_all(&tools).unwrap();
        for (name, text) in manifests {
            std::fs::write(tools.join(format!("{name}.toml")), text).unwrap();
        }
        let app = open_app(folder.path(), settings, variables).await?;
        Ok(Self { app, folder })
    }

    /// One call of a tool, past the bus.
    pub(crate) async fn call(&self, tool: &str, arguments: Json) -> CallOutcome {
        let tool = self.app.tools().tool(tool).unwrap();
        TestRun::new().call(&*tool, value(arguments)).await
    }

    /// A whole run of a plan.
    pub(crate) async fn run(&self, source: &str) -> RunOutcome {
        self.app
            .run(RunSpec::new(
                Work::Plan { name: "plan".to_owned(), source: source.to_owned() },
                self.app.config().limits.clone(),
            ))
            .await
    }
}

pub(crate) async fn open_app(
    folder: &Path,
    settings: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> Result<App> {
    let environment = Environment {
        working_dir: folder.to_path_buf(),
        variables: variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
        ..Environment::default()
    };
    let flags = settings.iter().map(|(key, text)| setting(key, text));
    let loaded = load(&environment, &LoadOptions { file: None, flags: flags.collect() })?;
    let worker_program = Some(WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan")));
    App::open_with(&loaded, &environment, AppParts { worker_program, ..AppParts::default() }).await
}

/// A manifest: kind, effect, parameters as inline TOML, and what follows.
pub(crate) fn manifest(name: &str, kind: &str, effect: &str, params: &str, rest: &str) -> String {
    format!(
        "name = \"{name}\"\ndescription = \"Does what the test needs.\"\nkind = \"{kind}\"\neffect = \"{effect}\"\n\
         [params]\ntype = \"object\"\nadditionalProperties = false\nproperties = {params}\n{rest}\n"
    )
}
