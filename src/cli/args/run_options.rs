//! The options of commands that run a plan.

use std::path::PathBuf;

use clap::Args;

/// What a plan is run with.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// The context: JSON text, or @FILE with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    pub context: Option<String>,
    /// A context kept between runs: its latest version is the start, what the run leaves is saved
    #[arg(long, value_name = "NAME")]
    pub context_name: Option<String>,
    /// Change one limit, for example `--limit instructions=1000000 --limit memory=64MiB --limit wall=2s`
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
    /// Limit profile: strict, standard or generous
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Answer tool calls from a file with a JSON list of mocks instead of real tools; `default` takes the built-in mocks, `generated` makes answers up from the manifests
    #[arg(long, value_name = "FILE|default|generated")]
    pub mock: Option<PathBuf>,
    /// What `--mock generated` makes up depends on this number
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub mock_seed: u64,
    /// Lua engine [default: sandbox.engine of the configuration, mlua]
    #[arg(long, value_parser = ["mlua", "piccolo"])]
    pub engine: Option<String>,
    /// Where the VM lives [default: sandbox.isolation of the configuration, in-process]
    #[arg(long, value_name = "WHERE", value_parser = ["process", "in-process"])]
    pub isolation: Option<String>,
    /// How much is done unasked: `structured` asks a person where the policy says so, `autonomous` only where it must [default: structured]
    #[arg(long, value_name = "MODE", value_parser = ["structured", "autonomous"])]
    pub mode: Option<String>,
    /// Decide about calls by this policy file, in place of the configured one
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print each event as one JSON line on standard output while the run goes on
    #[arg(long)]
    pub events: bool,
}
