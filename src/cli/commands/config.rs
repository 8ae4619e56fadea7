//! `luaplan config init | validate | show`.

use std::path::Path;

use serde_json::json;

use luaplan_app::config::ValueSource;
use luaplan_app::{
    ApiKeys, McpServerState, PolicyReport, agent_faults, check_tool_settings, mcp_server_states, tool_catalog,
};
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::neutralize;

use super::Session;
use crate::cli::exit;
use crate::cli::table::{LastColumn, table};

/// The commented starting configuration.
pub(super) const TEMPLATE: &str = include_str!("../../../examples/luaplan.toml");

pub(super) fn init(session: &Session<'_>, file: &Path) -> Result<u8> {
    let path = session.environment.working_dir.join(file);
    write_new(&path, TEMPLATE)?;
    if session.output.is_json() {
        session.output.data(&json!({ "wrote": [file.display().to_string()] }));
    } else {
        session.output.line(format_args!("wrote {}", file.display()));
    }
    Ok(exit::DONE)
}

pub(super) fn validate(session: &Session<'_>) -> Result<u8> {
    let loaded = session.load()?;
    let placed = |error| loaded.placed(error);
    let config = loaded.check(session.environment)?;
    let catalog = tool_catalog(&config).map_err(placed)?;
    check_tool_settings(&config, session.environment).map_err(placed)?;
    if config.llm.is_configured() {
        config.llm.validate().map_err(placed)?;
    }
    if let Some(path) = &config.server.api_keys_file {
        ApiKeys::from_file(path)?;
    }
    if let Some(rules) = &config.policy {
        PolicyReport::of(rules, &catalog)?;
    }
    if let Some(fault) = agent_faults(&config, &catalog).into_iter().next() {
        return Err(placed(fault));
    }
    // Such a server is no fault; plans just cannot use it yet.
    let waiting: Vec<McpServerState> =
        mcp_server_states(&config).into_iter().filter(|server| server.missing.is_some()).collect();
    for server in &waiting {
        if let (Some(missing), Some(help)) = (&server.missing, &server.help) {
            session.output.note(format_args!("mcp.{}: {missing}; {help}", server.name));
        }
    }
    let files: Vec<String> = loaded.files.iter().map(|path| path.display().to_string()).collect();
    if session.output.is_json() {
        let tools: Vec<&str> = catalog.names().collect();
        session.output.data(&json!({ "ok": true, "files": files, "tools": tools, "mcp_waiting": waiting }));
    } else if files.is_empty() {
        session.output.line("no configuration file; the defaults are in force and valid");
    } else {
        session.output.line(format_args!("valid: {}", files.join(", ")));
    }
    Ok(exit::DONE)
}

pub(super) fn show(session: &Session<'_>) -> Result<u8> {
    let loaded = session.load()?;
    if session.output.is_json() {
        let values: Vec<_> = loaded
            .values
            .iter()
            .map(
                |value| json!({ "key": value.key, "value": value.value, "source": value.source.to_string() }),
            )
            .collect();
        session.output.data(&values);
        return Ok(exit::DONE);
    }
    let row = |value: &ValueSource| {
        let text = neutralize(&value.value.to_string()).replace('\n', "\\n");
        vec![value.key.clone(), text, neutralize(&value.source.to_string())]
    };
    let rows = loaded.values.iter().map(row).collect();
    session.output.line(table(&["KEY", "VALUE", "SOURCE"], rows, LastColumn::Whole));
    Ok(exit::DONE)
}

/// Writes a file that must not exist yet.
pub(super) fn write_new(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::new(ErrorCode::FileExists, format!("{} is already there", path.display()))
        }
        _ => Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", path.display())),
    })
}
