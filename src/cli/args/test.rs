//! The arguments of `test`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `test`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TestArgs {
    /// What else can be done.
    #[command(subcommand)]
    pub action: Option<TestAction>,
    /// A test file, or a folder searched for `*_test.lua`
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Form of the results
    #[arg(long, value_enum, default_value = "text")]
    pub format: TestFormat,
    /// Say which lines and calls of the plans the tests reach
    #[arg(long)]
    pub coverage: bool,
    /// Fail unless the tests reach this share of the lines, in percent (0 to 100); implies `--coverage`
    #[arg(long, value_name = "PERCENT")]
    pub coverage_min: Option<f64>,
    /// Write what the tests reach to a file in the form of LCOV; implies `--coverage`
    #[arg(long, value_name = "FILE")]
    pub coverage_lcov: Option<PathBuf>,
    /// Have every call fail once, or those of one tool, or the one at a place of each run, and say what becomes of the plan
    #[arg(
        long,
        value_name = "all|tool=NAME|position=N",
        num_args = 0..=1,
        default_missing_value = "all",
        conflicts_with_all = ["coverage", "coverage_min", "coverage_lcov"]
    )]
    pub faults: Option<String>,
    /// The code calls fail with
    #[arg(long, value_name = "CODE", default_value = "tool_timeout", requires = "faults")]
    pub fault_code: String,
    /// What the failures say of `retryable`, which `retry` and plans look at: trying again may help, cannot, or each once
    #[arg(long, value_enum, default_value = "both", requires = "faults")]
    pub fault_retryable: Retryable,
    /// Run again what is affected whenever a file changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

/// What `test` can do besides running tests.
#[derive(Debug, Subcommand)]
pub enum TestAction {
    /// Make a test of a run that is recorded: its plan, what its tools answered, and how it ended
    FromRun(FromRunArgs),
}

/// `test from-run`.
#[derive(Debug, Args)]
pub struct FromRunArgs {
    /// The run's id, or `last`
    pub run: String,
    /// The folder the files are written to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    /// The plan is written as NAME.lua, its test as NAME_test.lua [default: the plan's own name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
}

/// What injected failures say of `retryable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Retryable {
    /// `true`: trying again may help
    Yes,
    /// `false`: it cannot
    No,
    /// Each failure twice, once with `true` and once with `false`
    Both,
}

/// Forms of test results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// JUnit XML
    Junit,
    /// Test Anything Protocol, version 14
    Tap,
}
