//! The whole command line: the options that every command takes, and the command.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser};

use super::Command;

const AFTER_HELP: &str = "Exit codes: 0 done; 1 the plan, run or tests failed; 2 usage or configuration; \
3 the check refused the plan; 4 a limit stopped it; 5 paused or asleep; 6 denied by policy; 130 interrupted.";

const GLOBAL_HEADING: &str = "Options of every command";

const SET: &str = "set";

/// Places the options after the others, as clap lists global options last.
const LAST: usize = 1000;

/// The parsed command line.
#[derive(Debug)]
pub struct Cli {
    /// Options every command takes.
    pub global: GlobalArgs,
    /// What to do.
    pub command: Command,
}

/// Options every command takes.
#[derive(Debug)]
pub struct GlobalArgs {
    /// Whether data is printed instead of text.
    pub json: bool,
    /// The configuration file to read.
    pub config: Option<PathBuf>,
    /// The configuration keys that were set, in the order of the command line.
    pub set: Vec<String>,
}

/// Turns a task in plain words into a small Lua program, and runs that program safely.
#[derive(Debug, Parser)]
#[command(name = "luaplan", version, propagate_version = true, max_term_width = 100, after_help = AFTER_HELP)]
struct Words {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct GlobalOptions {
    /// Print data instead of text
    #[arg(long, global = true, help_heading = GLOBAL_HEADING)]
    json: bool,
    /// Configuration file to read instead of ./luaplan.toml
    #[arg(long, global = true, help_heading = GLOBAL_HEADING, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Gives the command and its subcommands `--set`, each as an option of its own: clap loses the values of a global option
/// before a command's name where others follow it.
fn with_set(command: clap::Command) -> clap::Command {
    let set = Arg::new(SET)
        .long(SET)
        .value_name("KEY=VALUE")
        .action(ArgAction::Append)
        .display_order(LAST)
        .help_heading(GLOBAL_HEADING)
        .help("Set one configuration key, for example `--set llm.model=llama3.2` (may be repeated)");
    command.mut_subcommands(with_set).arg(set)
}

fn set_of(mut matches: &ArgMatches) -> Vec<String> {
    let mut set = Vec::new();
    loop {
        set.extend(matches.get_many::<String>(SET).into_iter().flatten().cloned());
        match matches.subcommand() {
            Some((_, below)) => matches = below,
            None => return set,
        }
    }
}

impl CommandFactory for Cli {
    fn command() -> clap::Command {
        with_set(Words::command())
    }

    fn command_for_update() -> clap::Command {
        with_set(Words::command_for_update())
    }
}

impl FromArgMatches for Cli {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Words { global: GlobalOptions { json, config }, command } = Words::from_arg_matches(matches)?;
        Ok(Self { global: GlobalArgs { json, config, set: set_of(matches) }, command })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Parser for Cli {}
