//! The arguments of `tools`.

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
        /// At most this many
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
    /// Make manifests of the operations of an OpenAPI document (3.0 or 3.1, JSON or YAML), or list what can become one
    Import(ImportArgs),
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
    /// Ask the databases that a tool reads for their tables, columns and keys, as the planner is told them; never rows
    Describe {
        /// The tool's name
        #[arg(default_value = "query_db")]
        name: String,
    },
    /// Print the Lua stubs of all tools and of the plan library, for editors
    Stubs,
}

/// `tools import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A file, or an address: `https`, or `http` on this machine
    pub document: String,
    /// The operations to import, by their `operationId` or as "GET /path"; without it they are listed
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub operations: Vec<String>,
    /// Name the tools PREFIX.operation
    #[arg(long)]
    pub prefix: Option<String>,
    /// The server to ask; needed where the document names several, or none
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// The name of the secret under `[secrets]`; that of the document's scheme otherwise
    #[arg(long, value_name = "NAME")]
    pub secret: Option<String>,
    /// The user of HTTP basic authentication
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Write over manifests that are there
    #[arg(long, requires = "operations")]
    pub overwrite: bool,
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
