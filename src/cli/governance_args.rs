//! The arguments of `approve`, `answer` and `policy`.

use clap::{Args, Subcommand};

/// `approve`.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// The run's id, or `last` (the newest that can still go on); without it, what waits in all runs is listed
    pub run: Option<String>,
    /// The call's id as the list shows it, or `plan` for the plan of a task; without it, what waits in the run is listed
    #[arg(conflicts_with = "all")]
    pub call: Option<String>,
    /// Decide about every call of the run that waits
    #[arg(long, requires = "run")]
    pub all: bool,
    /// What is decided.
    #[command(flatten)]
    pub decision: DecisionArgs,
    /// Apply changed arguments without asking (at a terminal)
    #[arg(long, short)]
    pub yes: bool,
    /// Leave the run paused; `luaplan resume RUN` resumes it
    #[arg(long, requires = "run")]
    pub no_resume: bool,
    /// Print each event as one JSON line on standard output while the run goes on
    #[arg(long)]
    pub events: bool,
}

/// What is decided about a call: one of these.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct DecisionArgs {
    /// Allow this call (the default)
    #[arg(long)]
    pub once: bool,
    /// Allow this call, and for so long every call of the tool that the same rules ask about (`1h`)
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// Allow this call with one argument changed; the others stay (may be repeated). VALUE is text, or JSON where the argument is no text now; `null` takes it out
    #[arg(long = "argument", value_name = "NAME=VALUE", conflicts_with = "all")]
    pub arguments: Vec<String>,
    /// Allow this call with this JSON object merged into its arguments (RFC 7396), or @FILE with one; without a value $EDITOR opens all arguments
    #[arg(long, value_name = "JSON|@FILE", num_args = 0..=1, conflicts_with = "all")]
    pub edit: Option<Option<String>>,
    /// Run the plan in this file in place of the one that waits; the check has to pass it
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    pub plan: Option<std::path::PathBuf>,
    /// Deny this call; the plan is told why. A plan that is denied is planned anew, and the model told why
    #[arg(long, value_name = "REASON")]
    pub deny: Option<String>,
}

impl DecisionArgs {
    /// Whether arguments or the plan are changed.
    #[must_use]
    pub fn edits(&self) -> bool {
        self.edit.is_some() || self.plan.is_some() || !self.arguments.is_empty()
    }
}

/// `answer`.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The run's id, or `last` (the newest that can still go on); without it, the open questions of all runs are listed
    pub run: Option<String>,
    /// The answer, where the run asks one question; with TEXT the id of the call that asks. Without it, the run's open questions are listed
    #[arg(value_name = "TEXT|CALL")]
    pub first: Option<String>,
    /// The answer
    #[arg(value_name = "TEXT")]
    pub second: Option<String>,
    /// Leave the run paused; `luaplan resume RUN` resumes it
    #[arg(long, requires = "first")]
    pub no_resume: bool,
    /// Print each event as one JSON line on standard output while the run goes on
    #[arg(long)]
    pub events: bool,
}

/// `policy`.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: PolicyAction,
}

/// `policy …`.
#[derive(Debug, Subcommand)]
pub enum PolicyAction {
    /// Check the policy file, and look for names that no tool has
    Check {
        /// The file; the configured one when not given
        file: Option<std::path::PathBuf>,
    },
    /// Say which rules match a call, which decides, and why
    Explain(ExplainCallArgs),
    /// List the calls that were allowed for a time
    Grants {
        /// Those too that expired or were revoked
        #[arg(long)]
        all: bool,
    },
    /// Take back what was allowed for a time
    Revoke {
        /// The grant's id, as `policy grants` shows it
        grant: String,
    },
}

/// `policy explain`.
#[derive(Debug, Args)]
pub struct ExplainCallArgs {
    /// The run's id, or `last`
    #[arg(conflicts_with = "tool")]
    pub run: Option<String>,
    /// One call of the run, by its id
    pub call: Option<String>,
    /// Ask about a call of this tool that nobody made
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Its arguments by name: JSON text, or @FILE with JSON
    #[arg(long, value_name = "JSON|@FILE", requires = "tool")]
    pub arguments: Option<String>,
    /// In whose run: the tenant, as `tenant=` in the file of API keys names it
    #[arg(long, value_name = "NAME", requires = "tool")]
    pub tenant: Option<String>,
    /// In a run of this mode
    #[arg(long, requires = "tool", value_parser = ["structured", "autonomous"])]
    pub mode: Option<String>,
}
