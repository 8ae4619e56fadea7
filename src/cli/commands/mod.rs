//! One command per file. Each takes its arguments and returns an exit code.

mod answer;
mod approve;
mod audit;
mod check;
mod config;
mod demo;
mod doctor;
mod explain;
mod init;
mod inputs;
mod mode;
mod plan;
mod policy;
mod replay;
mod reset;
mod resume;
mod run;
mod runs;
mod samples;
mod serve;
mod show;
mod show_call;
mod show_page;
mod stop;
mod task;
mod test;
mod tool_manifests;
mod tools;
pub(super) mod worker;

#[cfg(feature = "mcp")]
mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "mcp_absent.rs"]
mod mcp;
#[cfg(feature = "openapi")]
mod tool_import;
#[cfg(not(feature = "openapi"))]
#[path = "tool_import_absent.rs"]
mod tool_import;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory as _;

use luaplan_app::config::{Config, Environment, LoadOptions, Loaded, load};
use luaplan_app::{App, AppParts, note_not_set_up, tool_catalog};
use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_catalog::Catalog;
use luaplan_journal::{Journal, JournalRead as _, PostgresJournal, SqliteJournal};

use super::args::{Cli, Command, ConfigAction, RunOptions};
use super::exit;
use super::output::Output;

/// The context of every command.
pub(super) struct Session<'a> {
    pub(super) environment: &'a Environment,
    pub(super) output: &'a Output,
    pub(super) options: LoadOptions,
    opened: RefCell<Vec<Arc<Journal>>>,
}

impl Session<'_> {
    /// The configuration; starts the log that it configures.
    pub(super) fn load(&self) -> Result<Loaded> {
        self.load_with(&self.options)
    }

    fn load_with(&self, options: &LoadOptions) -> Result<Loaded> {
        let loaded = load(self.environment, options)?;
        super::progress::start_log(&loaded.raw.log.filter, loaded.raw.log.format == "json");
        Ok(loaded)
    }

    /// The checked configuration and its tools; opens nothing.
    pub(super) fn tools(&self) -> Result<(Config, Catalog)> {
        let loaded = self.load()?;
        let config = loaded.check(self.environment)?;
        let mut catalog = tool_catalog(&config).map_err(|error| loaded.placed(error))?;
        note_not_set_up(&config, self.environment, config.llm.is_configured(), &mut catalog);
        Ok((config, catalog))
    }

    /// The journal, read-only; `None` where no run has made one yet. Other processes may have it
    /// open.
    pub(super) async fn journal(&self) -> Result<Option<Journal>> {
        let config = self.load()?.check(self.environment)?;
        if let Some(settings) = &config.journal {
            let journal = PostgresJournal::open_read_only(settings).await?;
            return Ok(journal.map(|journal| Journal::Postgres(Arc::new(journal))));
        }
        let path = config.journal_path();
        let is_absent = |path: &Path| {
            std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        // An anchor without its journal means that the journal was removed.
        if is_absent(&path) && is_absent(&path.with_extension("head")) {
            return Ok(None);
        }
        SqliteJournal::open_read_only(&path).await.map(|journal| Some(Journal::Sqlite(journal)))
    }

    /// The application.
    pub(super) async fn open(&self) -> Result<App> {
        self.open_with(&self.options, AppParts::default()).await
    }

    /// The application for a run, with the engine and isolation of its options.
    pub(super) async fn open_for(&self, run: &RunOptions) -> Result<App> {
        let mut options = self.options.clone();
        options.flags.extend(self.policy_flag(run.policy.as_deref()));
        for (key, value) in [("sandbox.engine", &run.engine), ("sandbox.isolation", &run.isolation)] {
            let value = value.as_ref().map(|value| toml::Value::String(value.clone()));
            options.flags.extend(value.map(|value| (key.to_owned(), value)));
        }
        self.open_with(&options, AppParts::default()).await
    }

    /// The application for a recorded run (its id, or `last`), on the run's engine.
    pub(super) async fn open_for_recorded(&self, run: &str) -> Result<(App, RunId)> {
        self.open_for_recorded_with(run, Vec::new()).await
    }

    /// The same, with further flags.
    pub(super) async fn open_for_recorded_with(
        &self,
        run: &str,
        flags: Vec<(String, toml::Value)>,
    ) -> Result<(App, RunId)> {
        let journal = self.journal().await?.ok_or_else(show::no_runs)?;
        let run_id = show::find(&journal, run).await?;
        self.open_recorded(journal, run_id, flags).await
    }

    /// As [`Session::open_for_recorded`]; `last` is the newest run that can be resumed.
    pub(super) async fn open_to_resume(
        &self,
        run: &str,
        flags: Vec<(String, toml::Value)>,
    ) -> Result<(App, RunId)> {
        let journal = self.journal().await?.ok_or_else(show::no_runs)?;
        let run_id = show::find_resumable(&journal, run).await?;
        self.open_recorded(journal, run_id, flags).await
    }

    async fn open_recorded(
        &self,
        journal: Journal,
        run_id: RunId,
        flags: Vec<(String, toml::Value)>,
    ) -> Result<(App, RunId)> {
        let state = journal.run_state(&run_id).await?;
        journal.close().await;
        let mut options = self.options.clone();
        options.flags.extend(flags);
        if let Some(engine) = state.and_then(|state| state.engine) {
            options.flags.push(("sandbox.engine".to_owned(), toml::Value::String(engine.to_string())));
        }
        Ok((self.open_with(&options, AppParts::default()).await?, run_id))
    }

    /// `--policy FILE` as a setting. A file of the command line lies in the working folder, one of the
    /// configuration beside that.
    pub(super) fn policy_flag(&self, file: Option<&Path>) -> Option<(String, toml::Value)> {
        let path = self.environment.working_dir.join(file?);
        Some(("policy.file".to_owned(), toml::Value::String(path.display().to_string())))
    }

    /// The application, with other flags and parts.
    pub(super) async fn open_with(&self, options: &LoadOptions, parts: AppParts) -> Result<App> {
        let app = App::open_with(&self.load_with(options)?, self.environment, parts).await?;
        self.closes(&app);
        Ok(app)
    }

    /// Closes the application's journal when the command is done, so that one file holds all of it
    /// and can be read in a folder without write permission.
    pub(super) fn closes(&self, app: &App) {
        self.opened.borrow_mut().push(app.journal().clone());
    }

    async fn close(&self) {
        for journal in self.opened.take() {
            journal.close().await;
        }
    }
}

pub(super) async fn run(cli: Cli, environment: &Environment, output: &Output) -> Result<ExitCode> {
    let options = LoadOptions { file: cli.global.config.clone(), flags: parse_set(&cli.global.set)? };
    // Before any output. A fault of the configuration is reported by the command that needs it.
    if let Ok(config) = load(environment, &options).and_then(|loaded| loaded.check(environment)) {
        super::sink::know(config.redactor(environment));
    }
    let session = Session { environment, output, options, opened: RefCell::default() };
    let ended = dispatch(&session, cli.command).await;
    session.close().await;
    ended.map(ExitCode::from)
}

async fn dispatch(session: &Session<'_>, command: Command) -> Result<u8> {
    Ok(match command {
        Command::Demo(args) => demo::run(session, &args).await?,
        Command::Init(args) => init::run(session, &args)?,
        Command::Doctor => doctor::run(session).await?,
        Command::Task(args) => task::run(session, &args).await?,
        Command::Plan(args) => plan::run(session, &args).await?,
        Command::Check(args) => check::run(session, &args).await?,
        Command::Explain(args) => explain::run(session, &args)?,
        Command::Run(args) => run::run(session, &args).await?,
        Command::Test(args) => test::run(session, &args).await?,
        Command::Runs(args) => runs::run(session, &args).await?,
        Command::Resume(args) => resume::run(session, &args).await?,
        Command::Pause(args) => stop::pause(session, &args).await?,
        Command::Cancel(args) => stop::cancel(session, &args).await?,
        Command::Mode(args) => mode::run(session, &args).await?,
        Command::Reset(args) => reset::run(session, &args).await?,
        Command::Replay(args) => replay::run(session, &args).await?,
        Command::Show(args) => show::run(session, &args).await?,
        Command::Approve(args) => approve::run(session, &args).await?,
        Command::Answer(args) => answer::run(session, &args).await?,
        Command::Policy(args) => policy::run(session, &args.action).await?,
        Command::Audit(args) => audit::run(session, &args).await?,
        Command::Tools(args) => tools::run(session, args.action).await?,
        Command::Config(args) => match args.action {
            ConfigAction::Init { file } => config::init(session, &file)?,
            ConfigAction::Validate => config::validate(session)?,
            ConfigAction::Show => config::show(session)?,
        },
        Command::Serve(args) => serve::run(session, args).await?,
        Command::Mcp(args) => mcp::run(session, &args).await?,
        Command::Completions(args) => completions(session.output, args.shell),
        Command::Worker(args) => worker::run(&args)?,
        Command::SqliteReader(args) => worker::sqlite_reader(&args)?,
    })
}

fn completions(output: &Output, shell: clap_complete::Shell) -> u8 {
    // Into memory first: the generator panics where its writer fails, as on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "luaplan", &mut script);
    let script = String::from_utf8_lossy(&script);
    if output.is_json() {
        output.data(&serde_json::json!({ "shell": shell.to_string(), "script": script }));
    } else {
        output.line(script.trim_end());
    }
    exit::DONE
}

/// `key.path=value`; the value is a TOML literal where it is one, else text.
fn parse_set(pairs: &[String]) -> Result<Vec<(String, toml::Value)>> {
    pairs
        .iter()
        .map(|pair| {
            let (key, text) = pair.split_once('=').ok_or_else(|| {
                Error::new(ErrorCode::Usage, format!("`--set {pair}` has no `=`"))
                    .with_help("write `--set key.path=value`")
            })?;
            let literal = toml::from_str::<toml::Table>(&format!("value = {text}"))
                .ok()
                .and_then(|mut table| table.remove("value"));
            Ok((key.to_owned(), literal.unwrap_or_else(|| toml::Value::String(text.to_owned()))))
        })
        .collect()
}
