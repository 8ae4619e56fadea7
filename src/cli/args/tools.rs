//! The words of `tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `tools`.
#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: Option<ToolsAction>,
}

/// `tools …`.
#[derive(Debug, Subcommand)]
pub enum ToolsAction {
    /// List the tools
    List,
    /// Show one tool: its parameters, effect, rate and stub
    Show {
        /// The tool's name
        name: String,
    },
    /// Find tools by words, the best first: the ranking that chooses what a prompt shows
    Search {
        /// What the tool should do
        #[arg(required = true)]
        words: Vec<String>,
        /// At most so many
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Write a commented manifest for a tool of your own into the folder of manifests
    New {
        /// The tool's name
        name: String,
        /// What the tool is made of
        #[arg(long, value_name = "KIND")]
        kind: ManifestKind,
    },
    /// Check manifests without running anything; those of the folder of manifests where none is named
    Check {
        /// Manifests
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Make one real call of a tool, on record as any, and show what is sent, without secrets
    Test {
        /// The tool's name
        name: String,
        /// The arguments by name: JSON text, or @FILE with JSON
        #[arg(long, value_name = "JSON|@FILE")]
        arguments: Option<String>,
    },
    /// Print the Lua stubs of all tools and of the plan library, for editors
    Stubs,
}

/// What a tool made by a manifest is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ManifestKind {
    /// An HTTP request.
    Http,
    /// A SQL statement.
    Sql,
    /// A command.
    Command,
}
