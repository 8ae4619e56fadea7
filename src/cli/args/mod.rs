//! The arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use luaplan_base::parse_duration;
use luaplan_vm::EngineKind;

use super::governance_args::{AnswerArgs, ApproveArgs, PolicyArgs};
use super::mcp_args::McpArgs;
use super::planning_args::{PlanArgs, TaskArgs};

mod everywhere;
mod run_options;
mod test;
mod tools;

pub use everywhere::Cli;
pub(super) use run_options::RunOptions;
pub(super) use test::{FromRunArgs, Retryable, TestAction, TestArgs, TestFormat};
pub(super) use tools::{ImportArgs, ManifestKind, ToolsAction, ToolsArgs};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See the main job done: a task becomes a program, and the program runs on real parts
    Demo(DemoArgs),
    /// Write a starting luaplan.toml, a plan and its test into a folder
    Init(InitArgs),
    /// Try what a run will need, and say what to do about each failure
    Doctor,
    /// Turn a task in plain words into a plan, check it and run it
    Task(TaskArgs),
    /// Turn a task in plain words into a plan, and print it instead of running it
    Plan(PlanArgs),
    /// Check a plan without running it
    Check(CheckArgs),
    /// Say what a plan would do: calls, places reached, worst case, graph
    Explain(ExplainArgs),
    /// Run a saved plan
    Run(RunArgs),
    /// Run the tests beside plans (`*_test.lua`), with mocked tools
    Test(TestArgs),
    /// List runs, newest first
    Runs(RunsArgs),
    /// Show one run: its plan, its calls and how it ended
    Show(ShowArgs),
    /// Go on with a run whose process ended, or that waits for you
    Resume(ResumeArgs),
    /// Pause a run once the calls it is at are over; one that sleeps cannot be paused
    Pause(PauseArgs),
    /// End a run, whichever process is at it
    Cancel(CancelArgs),
    /// Change how much a run does unasked, from its next call and plan on
    Mode(ModeArgs),
    /// Start a run over: its plan and context again, as another run
    Reset(ResetArgs),
    /// Run a recorded run again without any effect, and show what differs
    Replay(ReplayArgs),
    /// List the calls that wait for a person, and decide about them
    Approve(ApproveArgs),
    /// List the questions that runs ask, and answer them
    Answer(AnswerArgs),
    /// Check the policy file, or say what it says about calls
    Policy(PolicyArgs),
    /// Query the log of every call and state change, or verify it
    Audit(AuditArgs),
    /// List, show, make, import, check and call tools
    Tools(ToolsArgs),
    /// Write, validate or show the configuration
    Config(ConfigArgs),
    /// Serve the HTTP API
    Serve(ServeArgs),
    /// Serve an assistant by the Model Context Protocol, or accept, list and log in to MCP servers
    Mcp(McpArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Run plans for another luaplan, over standard input and output
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Query SQLite files for another luaplan, over standard input and output
    #[command(hide = true)]
    SqliteReader(SqliteReaderArgs),
}

/// `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Folder for the demo's database, pictures and mail (kept) [default: `demo` in the data folder]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder to write into
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub dir: PathBuf,
}

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plan, or `-` for standard input
    pub file: PathBuf,
    /// A context to check its use against, by its shape: JSON text, or @FILE with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    pub context: Option<String>,
    /// Have the databases look at the plan's statements too; nothing is executed
    #[arg(long)]
    pub live: bool,
}

/// `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The plan, or `-` for standard input
    pub file: PathBuf,
    /// A context to show values from: JSON text, or @FILE with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    pub context: Option<String>,
    /// Print the computation graph in this form instead of the page
    #[arg(long, value_name = "FORM", value_parser = ["json", "mermaid", "dot", "svg"])]
    pub graph: Option<String>,
    /// Write the page or graph to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file of `--output` where it is already there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Cut no text of the page
    #[arg(long)]
    pub full: bool,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The plan, or `-` for standard input
    pub file: PathBuf,
    /// How to run it.
    #[command(flatten)]
    pub options: RunOptions,
    /// A parameter that the plan declares: JSON, or else a text; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub parameters: Vec<String>,
    /// Check, show what the plan would do and what it may use; run nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `runs`.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// At most this many
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Only runs with this status
    #[arg(long, value_parser = ["running", "sleeping", "paused", "succeeded", "failed", "cancelled"])]
    pub status: Option<String>,
}

/// `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run's id, or `last`
    pub run: String,
    /// Print the plan's source alone
    #[arg(long)]
    pub plan: bool,
    /// Show one call alone, by its id: its arguments, who allowed it and what came of it
    #[arg(long, value_name = "CALL", conflicts_with = "plan")]
    pub call: Option<String>,
    /// Shorten nothing: without it values above 2 KiB or 40 lines, and pages of more than 200 lines, are cut
    #[arg(long)]
    pub full: bool,
}

/// `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run's id, or `last`: the newest that can still go on
    pub run: String,
    /// Make a call in doubt again (may be repeated)
    #[arg(long, value_name = "CALL")]
    pub retry: Vec<String>,
    /// Take a call in doubt as done, with this result (may be repeated)
    #[arg(long, value_name = "CALL=JSON")]
    pub done: Vec<String>,
    /// Take a call in doubt as not done; the plan sees a failure with this reason (may be repeated)
    #[arg(long, value_name = "CALL=REASON")]
    pub failed: Vec<String>,
    /// Decide about calls by this policy file, in place of the configured one
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print each event as one JSON line on standard output while the run goes on
    #[arg(long)]
    pub events: bool,
}

/// `pause`.
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// The run's id, or `last`
    pub run: String,
    /// How long to wait for the calls it is at
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub wait: Duration,
}

/// `cancel`.
#[derive(Debug, Args)]
pub struct CancelArgs {
    /// The run's id, or `last`
    pub run: String,
    /// How long to wait for the process that is at it
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub wait: Duration,
}

/// `mode`.
#[derive(Debug, Args)]
pub struct ModeArgs {
    /// The run's id, or `last`
    pub run: String,
    /// The mode from now on
    #[arg(value_parser = ["structured", "autonomous"])]
    pub mode: String,
    /// By how many plans it works on its task from now on at most, up to 1000 [default: autonomous.max_iterations of the configuration, 8]
    #[arg(long, value_name = "NUMBER")]
    pub max_iterations: Option<u32>,
}

/// `reset`.
#[derive(Debug, Args)]
pub struct ResetArgs {
    /// The run's id, or `last`
    pub run: String,
    /// Make calls again that wrote, sent or spent something
    #[arg(long)]
    pub repeat_effects: bool,
    /// Print each event as one JSON line on standard output while the run goes on
    #[arg(long)]
    pub events: bool,
}

/// `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The run's id, or `last`
    pub run: String,
    /// Run this plan instead, against what is on record
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    /// Have this model plan the task anew, and run its plan against what is on record
    #[arg(long, value_name = "MODEL", conflicts_with = "with", value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,
    /// Decide about the calls by this policy file
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// `audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// What to do with the log instead of querying it.
    #[command(subcommand)]
    pub action: Option<AuditAction>,
    /// Only this run: its id, or `last`
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only events of this name (may be repeated)
    #[arg(long, value_name = "EVENT")]
    pub event: Vec<String>,
    /// Only what went well, or only what failed
    #[arg(long, value_parser = ["ok", "failed"])]
    pub outcome: Option<String>,
    /// Not before this time (ISO 8601), or this long ago (`2h`, `3d`)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// At most this many, the newest
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Print CSV instead of JSON lines
    #[arg(long)]
    pub csv: bool,
}

/// `audit …`.
#[derive(Debug, Subcommand)]
pub enum AuditAction {
    /// Check every record against its hash and its neighbours
    Verify,
}

/// `config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: ConfigAction,
}

/// `config …`.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Write a commented luaplan.toml; refuses to overwrite one
    Init {
        /// The file to write
        #[arg(default_value = "luaplan.toml")]
        file: PathBuf,
    },
    /// Check the whole configuration
    Validate,
    /// Show every value in force and where it came from
    Show,
}

/// `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port; anything but loopback needs `server.api_keys_file`
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Decide about calls by this policy file, in place of the configured one
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `worker`.
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// Lua engine
    #[arg(long, default_value = "mlua", value_parser = str::parse::<EngineKind>)]
    pub engine: EngineKind,
    /// How many runs to serve before it ends
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub runs: u32,
    /// The memory limit of the runs it is for, in bytes; the process may use a multiple of it
    #[arg(long, default_value_t = 64 << 20, value_name = "BYTES")]
    pub memory_bytes: u64,
    /// Processor time after which the system ends the process
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub cpu_seconds: u64,
}

/// `sqlite-reader`.
#[derive(Debug, Args)]
pub struct SqliteReaderArgs {
    /// The folder of the files
    pub folder: PathBuf,
}
