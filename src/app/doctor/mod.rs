//! What a run will need, tried one by one, with what to do about each failure.
//!
//! **Never here:** repairing anything, writing configuration, calling a model or sending mail.

mod engine;
mod files;
mod reach;

use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode, counted};
use luaplan_catalog::Catalog;
use luaplan_engine::Isolation;
use luaplan_journal::{Journal, create_private_folder};

use super::agents::agent_faults;
use super::config::{Config, Environment, LoadOptions, Loaded, mask_passwords};
use crate::tools::assemble;
use crate::{ApiKeys, PolicyReport, unknown_approvers};

/// How one check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoctorState {
    /// As it should be.
    Good,
    /// Runs are possible, but something will be missing.
    Warning,
    /// Runs are not possible.
    Bad,
}

/// One check.
#[derive(Debug, Clone)]
pub struct DoctorCheck {
    /// What was tried.
    pub name: String,
    /// How it came out.
    pub state: DoctorState,
    /// What was seen.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// All checks.
#[derive(Debug, Clone, Default)]
pub struct DoctorReport {
    /// In the order tried.
    pub checks: Vec<DoctorCheck>,
}

impl DoctorReport {
    /// The worst of all checks.
    #[must_use]
    pub fn worst(&self) -> DoctorState {
        self.checks.iter().map(|check| check.state).max().unwrap_or(DoctorState::Good)
    }

    /// `{"ok","checks":[{"name","state","message","help"?}]}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let checks: Vec<Json> = self
            .checks
            .iter()
            .map(|check| {
                let state = match check.state {
                    DoctorState::Good => "ok",
                    DoctorState::Warning => "warning",
                    DoctorState::Bad => "failed",
                };
                json!({ "name": check.name, "state": state, "message": check.message, "help": check.help })
            })
            .collect();
        json!({ "ok": self.worst() == DoctorState::Good, "checks": checks })
    }

    fn good(&mut self, name: &str, message: impl Into<String>) {
        self.add(name, DoctorState::Good, &message.into(), None);
    }

    fn warn(&mut self, name: &str, message: impl Into<String>, help: &str) {
        self.add(name, DoctorState::Warning, &message.into(), Some(help.to_owned()));
    }

    fn failed(&mut self, name: &str, state: DoctorState, error: &Error) {
        self.add(
            name,
            state,
            &format!("{}: {}", error.code(), error.message()),
            Some(error.help().to_owned()),
        );
    }

    fn add(&mut self, name: &str, state: DoctorState, message: &str, help: Option<String>) {
        let message = mask_passwords(message);
        self.checks.push(DoctorCheck { name: name.to_owned(), state, message, help });
    }
}

/// Tries everything. Writes nothing but an empty journal where the data folder has none.
pub async fn examine(environment: &Environment, options: &LoadOptions) -> DoctorReport {
    let mut report = DoctorReport::default();
    match engine::self_test() {
        Ok(()) => report.good("engine", "Lua 5.4 runs a plan, and a limit stops one"),
        Err(error) => report.failed("engine", DoctorState::Bad, &error),
    }
    let Some((loaded, config)) = files::configuration(&mut report, environment, options) else {
        return report;
    };
    workers(&mut report, &config).await;
    let keys = files::api_keys(&mut report, &config);
    data_folder(&mut report, &config).await;
    reach::tools(&mut report, &loaded, &config, environment).await;
    policy(&mut report, &config, keys.as_ref());
    agents(&mut report, &loaded, &config);
    reach::model(&mut report, &loaded, &config, environment).await;
    report
}

/// Workers are tried even where runs do not use them: `serve` would.
async fn workers(report: &mut DoctorReport, config: &Config) {
    let catalog = Catalog::default();
    let Some(pool) = assemble::workers(config, Isolation::Process, None, &catalog) else {
        report.good("workers", "not used: sandbox.isolation is in-process");
        return;
    };
    match pool.confinement().await {
        Ok(confinement) if confinement.is_complete() => report.good("workers", confinement.to_string()),
        Ok(confinement) => report.warn(
            "workers",
            confinement.to_string(),
            "use a system whose kernel has every layer, or run luaplan itself in a container or VM",
        ),
        Err(error) => report.failed("workers", DoctorState::Warning, &error),
    }
}

/// The policy file beside the tools and API keys it names.
fn policy(report: &mut DoctorReport, config: &Config, keys: Option<&ApiKeys>) {
    // What is wrong with the tools themselves is said already.
    let (Some(rules), Ok(catalog)) = (&config.policy, assemble::tool_catalog(config)) else { return };
    let checked = match PolicyReport::of(rules, &catalog) {
        Ok(checked) => checked,
        Err(error) => return report.failed("policy", DoctorState::Bad, &error),
    };
    let of_approvers = keys.map(|keys| unknown_approvers(rules, keys)).unwrap_or_default();
    let warnings: Vec<String> = checked.warnings.into_iter().chain(of_approvers).collect();
    for warning in &warnings {
        report.warn("policy", format!("{}: {warning}", rules.origin), "correct the name, or take it out");
    }
    if warnings.is_empty() {
        report.good("policy", format!("{}: {}", rules.origin, counted(checked.rules, "rule")));
    }
}

/// A run is possible without any agent; one that calls an agent with a fault fails there.
fn agents(report: &mut DoctorReport, loaded: &Loaded, config: &Config) {
    // What is wrong with the tools themselves is said already.
    let Ok(catalog) = assemble::tool_catalog(config) else { return };
    let faults = agent_faults(config, &catalog);
    if faults.is_empty() && !config.agents.is_empty() {
        report.good("agents", config.agents.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    for fault in faults {
        report.failed("agents", DoctorState::Warning, &loaded.placed(fault));
    }
}

async fn data_folder(report: &mut DoctorReport, config: &Config) {
    let existed = config.data_dir.exists();
    match Journal::open(&config.journal_path(), config.journal.as_ref()).await {
        Ok(journal) => {
            if journal.shared().is_some() {
                report.good("journal", format!("{}: can be written", journal.place()));
            }
            journal.close().await;
        }
        Err(error) if config.journal.is_some() => report.failed("journal", DoctorState::Bad, &error),
        Err(error) => return report.failed("data folder", DoctorState::Bad, &error),
    }
    if config.journal.is_some()
        && let Err(error) = create_private_folder(&config.data_dir)
    {
        let message = format!("`{}` cannot be made: {error}", config.data_dir.display());
        return report.failed(
            "data folder",
            DoctorState::Bad,
            &Error::new(ErrorCode::FileUnreadable, message),
        );
    }
    let note = if existed { "can be written" } else { "created" };
    report.good("data folder", format!("{}: {note}", config.data_dir.display()));
}
