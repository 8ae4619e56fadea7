//! The arguments of `task` and `plan`.

use std::path::PathBuf;

use clap::Args;

use luaplan_planner::CANDIDATES_MAX;

use super::args::RunOptions;

/// How a task is planned.
#[derive(Debug, Args)]
pub struct PlanningArgs {
    /// Ask for this many plans at the same time and take the best [default: planner.candidates of the configuration, 1]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=i64::from(CANDIDATES_MAX)))]
    pub candidates: Option<u32>,
    /// Plan tests (`NAME_test.lua`) that the plan must pass before it is taken
    #[arg(long, value_name = "FILE")]
    pub tests: Option<PathBuf>,
    /// Put the text of a prompt of an MCP server before the planner, as data: SERVER.prompt, or SERVER.prompt={"argument": "text"}; may be repeated
    #[arg(long = "mcp-prompt", value_name = "NAME[=JSON]")]
    pub mcp_prompts: Vec<String>,
    /// Share the beginning of this data with the model: a file, a URL (by `fetch_url`) or a table (three rows, by `query_db`); it is shown before it is sent; may be repeated
    #[arg(long = "sample", value_name = "FILE|URL|TABLE")]
    pub samples: Vec<String>,
}

/// `task`.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// The task in plain words
    pub task: String,
    /// How it is planned.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// How to run it.
    #[command(flatten)]
    pub options: RunOptions,
    /// With `--mode autonomous`: by how many plans the run works on the task at most, up to 1000 [default: autonomous.max_iterations of the configuration, 8]
    #[arg(long, value_name = "NUMBER")]
    pub max_iterations: Option<u32>,
    /// Change the plan of this run (its id, or `last`) by the task; the context is that run's unless another is given
    #[arg(long, value_name = "RUN", conflicts_with_all = ["print_prompt", "dry_run"])]
    pub follow: Option<String>,
    /// Run the plan without asking whether it is meant; calls are asked about all the same where the policy says so
    #[arg(long, short)]
    pub yes: bool,
    /// Have a person confirm the plan before anything of it runs; where there is no terminal the run pauses until `luaplan approve`
    #[arg(long, conflicts_with_all = ["yes", "mock"])]
    pub approve: bool,
    /// Print the prompt and stop; no model is asked
    #[arg(long)]
    pub print_prompt: bool,
    /// Show prompt budget, tools and limits; no model is asked and nothing is run (use `luaplan plan` to ask the model)
    #[arg(long)]
    pub dry_run: bool,
}

/// `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The task in plain words
    pub task: String,
    /// How it is planned.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// The context whose shape the model is shown: JSON text, or @FILE with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    pub context: Option<String>,
    /// Change the plan in this file by the task; standard error shows what changes
    #[arg(long, value_name = "FILE", conflicts_with = "print_prompt")]
    pub revise: Option<PathBuf>,
    /// Write the plan to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file of `--output` where it is already there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Print the prompt and stop; no model is asked
    #[arg(long)]
    pub print_prompt: bool,
}
