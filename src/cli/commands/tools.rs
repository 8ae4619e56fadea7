//! `luaplan tools`.

use serde_json::json;

use luaplan_app::with_seen_results;
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_catalog::{DatabaseSchema, FoundTool, ToolKind, ToolSpec, search, stubs};
use luaplan_journal::neutralize;
use luaplan_vm::LIBRARY_STUBS;

use super::{Session, tool_import, tool_manifests};
use crate::cli::args::ToolsAction;
use crate::cli::exit;
use crate::cli::table::{LastColumn, table};

pub(super) async fn run(session: &Session<'_>, action: Option<ToolsAction>) -> Result<u8> {
    match action {
        Some(ToolsAction::New { name, kind }) => tool_manifests::new(session, &name, kind),
        Some(ToolsAction::Import(args)) => tool_import::run(session, &args).await,
        Some(ToolsAction::Check { files }) => tool_manifests::check(session, &files),
        Some(ToolsAction::Test { name, arguments }) => {
            tool_manifests::test(session, &name, arguments.as_deref()).await
        }
        Some(ToolsAction::Describe { name }) => describe(session, &name).await,
        action => show(session, action),
    }
}

/// Fails as the last database does that cannot be asked, after the others are told.
async fn describe(session: &Session<'_>, name: &str) -> Result<u8> {
    let app = session.open().await?;
    let tool = app.tools().tool(name)?;
    let schemas = tool.schemas().await;
    let known: Vec<&DatabaseSchema> = schemas.iter().filter_map(|(_, schema)| schema.as_ref().ok()).collect();
    let failed = schemas.iter().filter_map(|(_, schema)| schema.as_ref().err()).next_back();
    let output = session.output;
    if let (true, None) = (output.is_json(), &failed) {
        output.data(&known);
    } else if !output.is_json() {
        if known.is_empty() && failed.is_none() {
            output.line(format_args!("`{name}` tells of no database"));
        }
        known.iter().for_each(|schema| output.line(neutralize(&schema.to_string())));
        tool.schema_notes()
            .into_iter()
            .for_each(|notes| output.line(format_args!("\n{}", neutralize(notes))));
    }
    failed.map_or(Ok(exit::DONE), |error| {
        Err(Error::new(error.code(), error.message()).with_help(error.help()))
    })
}

fn show(session: &Session<'_>, action: Option<ToolsAction>) -> Result<u8> {
    let (config, catalog) = session.tools()?;
    let catalog = with_seen_results(&config, catalog);
    let output = session.output;
    match action.unwrap_or(ToolsAction::List) {
        ToolsAction::List if output.is_json() => {
            output.data(&catalog.iter().map(|spec| catalog.listed(spec)).collect::<Vec<_>>());
        }
        ToolsAction::List => {
            let row = |spec: &ToolSpec| {
                vec![
                    spec.name.clone(),
                    spec.effect.as_str().to_owned(),
                    spec.rate.to_string(),
                    format!("{:?}", spec.timeout),
                    match catalog.not_set_up(&spec.name) {
                        Some(_) => format!("(not set up) {}", first_sentence(&spec.description)),
                        None => first_sentence(&spec.description),
                    },
                ]
            };
            let headers = ["TOOL", "EFFECT", "RATE", "TIMEOUT", "WHAT IT DOES"];
            let rows = catalog.iter().map(|spec| row(spec)).collect();
            output.line(table(&headers, rows, LastColumn::Cut));
        }
        ToolsAction::Search { words, limit } => {
            let words = words.join(" ");
            let mut found = search(&catalog, &words);
            found.truncate(limit as usize);
            if output.is_json() {
                output.data(&found.iter().map(found_json).collect::<Vec<_>>());
            } else if found.is_empty() {
                output.line(format_args!("no tool shares a word with \"{words}\""));
            } else {
                let row = |found: &FoundTool| {
                    let FoundTool { spec, score } = found;
                    let effect = spec.effect.as_str().to_owned();
                    vec![spec.name.clone(), effect, format!("{score:.2}"), first_sentence(&spec.description)]
                };
                let headers = ["TOOL", "EFFECT", "SCORE", "WHAT IT DOES"];
                output.line(table(&headers, found.iter().map(row).collect(), LastColumn::Cut));
            }
        }
        ToolsAction::Show { name } => {
            let spec = catalog.get(&name).ok_or_else(|| {
                let known = catalog.names().collect::<Vec<_>>().join(", ");
                Error::new(ErrorCode::NotFound, format!("there is no tool `{name}`"))
                    .with_help(format!("the tools are {known}"))
            })?;
            if output.is_json() {
                output.data(&catalog.listed(spec));
            } else {
                let ToolSpec { rate, burst, concurrency, timeout, .. } = &**spec;
                output.line(format_args!(
                    "---Rate: {rate}, {burst} at once; at most {concurrency} under way; timeout {timeout:?}."
                ));
                if spec.kind == ToolKind::Mcp {
                    let server = spec.name.split('.').next().unwrap_or_default();
                    output.line(format_args!("---Kind: mcp, of the server `{server}`."));
                } else if spec.kind != ToolKind::Builtin {
                    let kind = spec.to_json()["kind"].as_str().unwrap_or_default().to_owned();
                    output.line(format_args!("---Kind: {kind}, by a manifest."));
                }
                if let Some(missing) = catalog.not_set_up(&spec.name) {
                    output.line(format_args!("---Not set up: {missing}."));
                }
                let seen = spec.seen_stub().map(|seen| {
                    format!("\n-- What runs saw of its results, which it does not declare:\n{seen}")
                });
                output.source(&(spec.stub() + &seen.unwrap_or_default()));
            }
        }
        ToolsAction::Stubs if output.is_json() => {
            output.data(&json!({ "tools": stubs(&catalog), "library": LIBRARY_STUBS }));
        }
        ToolsAction::New { .. }
        | ToolsAction::Import(_)
        | ToolsAction::Check { .. }
        | ToolsAction::Describe { .. }
        | ToolsAction::Test { .. } => {}
        ToolsAction::Stubs => output.source(&format!("{}\n{LIBRARY_STUBS}", stubs(&catalog))),
    }
    Ok(exit::DONE)
}

fn found_json(found: &FoundTool) -> serde_json::Value {
    let FoundTool { spec, score } = found;
    json!({ "name": spec.name, "score": score, "effect": spec.effect, "description": spec.description })
}

/// The first sentence.
fn first_sentence(text: &str) -> String {
    let end = text
        .match_indices('.')
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].chars().next().is_none_or(char::is_whitespace));
    text[..end.unwrap_or(text.len())].replace('\n', " ")
}
