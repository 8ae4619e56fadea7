//! `luaplan tools new | check | test`: tools made by manifests.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use luaplan_app::{App, RunSpec, check_manifest, check_tool_name};
use luaplan_base::{CallArguments, Error, ErrorCode, Result, RunId, Value};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{EventBody, JournalRead as _, RecordFilter, neutralize};
use luaplan_manifests::templates;
use luaplan_tools::manifest::warnings;

use super::config::write_new;
use super::{Session, inputs, run};
use crate::cli::args::ManifestKind;
use crate::cli::exit;
use crate::cli::progress::{EventPrinter, report};
use crate::cli::shortened::all_of_run;
use crate::cli::signals::cancelled_by_signals;

/// Writes a commented manifest into the folder of manifests.
pub(super) fn new(session: &Session<'_>, name: &str, kind: ManifestKind) -> Result<u8> {
    check_tool_name(name)?;
    let (template, arguments) = match kind {
        ManifestKind::Http => (templates::HTTP, r#"{"words": "nail"}"#),
        ManifestKind::Sql => (templates::SQL, r#"{"city": "Oslo"}"#),
        ManifestKind::Command => (templates::COMMAND, r#"{"text": "one two"}"#),
    };
    let shown = Path::new(&session.load()?.raw.tools_dir).join(format!("{name}.toml"));
    let path = session.environment.working_dir.join(&shown);
    let folder = path.parent().unwrap_or(&path);
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot create {}: {error}", folder.display()))
    })?;
    write_new(&path, &template.replace("NAME", name))?;
    // The new file must pass its own check, or it is removed.
    if let Err(error) = check_manifest(&path) {
        let _ = std::fs::remove_file(&path);
        return Err(error);
    }
    if session.output.is_json() {
        session.output.data(&json!({ "wrote": [shown] }));
        return Ok(exit::DONE);
    }
    session.output.line(format_args!("wrote {}", shown.display()));
    session.output.line(format_args!(
        "\nnext:\n  luaplan tools check {}\n  luaplan tools test {name} --arguments '{arguments}'",
        shown.display()
    ));
    Ok(exit::DONE)
}

/// Checks manifests as a run would; without arguments, those of the folder of manifests.
pub(super) fn check(session: &Session<'_>, files: &[PathBuf]) -> Result<u8> {
    let files = if files.is_empty() { folder_files(session)? } else { files.to_vec() };
    let checked: Vec<(PathBuf, Result<ToolSpec>)> = files
        .into_iter()
        .map(|file| {
            let spec = check_manifest(&session.environment.working_dir.join(&file));
            (file, spec)
        })
        .collect();
    let ok = checked.iter().all(|(_, spec)| spec.is_ok());
    if session.output.is_json() {
        let results: Vec<Json> = checked
            .iter()
            .map(|(file, spec)| match spec {
                Ok(spec) => json!({ "file": file, "ok": true, "tool": spec.name, "kind": spec.kind, "warnings": warnings(spec) }),
                Err(error) => json!({ "file": file, "ok": false, "error": error.to_json() }),
            })
            .collect();
        session.output.data(&json!({ "ok": ok, "manifests": results }));
    } else if checked.is_empty() {
        session.output.line("there are no manifests");
    } else {
        for (file, spec) in &checked {
            match spec {
                Ok(spec) => {
                    session.output.line(format_args!("ok {}: {}", file.display(), spec.name));
                    for warning in warnings(spec) {
                        session.output.line(neutralize(&format!("warning: {}: {warning}", file.display())));
                    }
                }
                Err(error) => session.output.error(error),
            }
        }
    }
    Ok(if ok { exit::DONE } else { exit::USAGE })
}

fn folder_files(session: &Session<'_>) -> Result<Vec<PathBuf>> {
    let config = session.load()?.check(session.environment)?;
    let Some(folder) = &config.tools_dir else { return Ok(Vec::new()) };
    let entries = std::fs::read_dir(folder).map_err(|error| {
        Error::new(ErrorCode::ConfigUnreadable, format!("{}: cannot be read: {error}", folder.display()))
    })?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    let here = &session.environment.working_dir;
    Ok(files
        .into_iter()
        .map(|file| file.strip_prefix(here).map_or(file.clone(), Path::to_path_buf))
        .collect())
}

/// Makes one real call, by a plan of one line, so that it passes the bus and is recorded like any call.
pub(super) async fn test(session: &Session<'_>, name: &str, arguments: Option<&str>) -> Result<u8> {
    let arguments = inputs::read_arguments(session, arguments)?;
    let app = session.open().await?;
    let tool = app.tools().tool(name)?;
    // A tool without parameters is called without arguments: the check refuses any.
    let takes_none = tool.spec().parameters().next().is_none() && !tool.spec().takes_unknown_names();
    if let Some(named) = arguments.as_object().filter(|named| takes_none && !named.is_empty()) {
        return Err(takes_no_arguments(name, named.keys()));
    }
    let given = if takes_none { Vec::new() } else { vec![arguments.clone()] };
    let bound = tool.spec().bind(&CallArguments(given));
    let shape = match bound.map(|bound| tool.request_shape(&bound)) {
        Ok(Some(Ok(mut shape))) => {
            // The arguments may hold a secret.
            app.history().redactor().document(&mut shape);
            Some(shape)
        }
        // Refused or not shown: the call itself reports why.
        _ => None,
    };
    let context = Value::Object(IndexMap::from([("arguments".to_owned(), arguments)]));
    // The plan raises the failure, so that the run ends with its code.
    let passed = if takes_none { "" } else { "context.arguments" };
    let source = format!(
        "function run(context)\n  local result = {name}({passed})\n  \
         if type(result) == \"table\" and result.error and result.code then error(result) end\n  \
         return result\nend\n"
    );
    let printer = EventPrinter::new(session.output, false);
    let spec = RunSpec::plan(format!("tools test {name}"), &source, app.config().limits.clone())
        .with_context(Some(context), None)
        .with_listeners(vec![printer.listener()], cancelled_by_signals());
    let outcome = app.run(spec).await;
    let failure = failure_of(&app, &outcome.run_id).await?;
    if session.output.is_json() {
        let mut answer = outcome.to_json();
        if let Some(members) = answer.as_object_mut() {
            members.insert("request".to_owned(), shape.unwrap_or_default());
            members.insert("failure".to_owned(), failure.unwrap_or_default());
        }
        session.output.data(&answer);
    } else {
        if let Some(shape) = shape {
            session.output.heading("request");
            session.output.data(&shape);
        }
        // The failure as a plan sees it, in place of the error that this plan ignored it.
        if let Some(failure) = failure {
            session.output.heading("failure");
            session.output.shown_data(&failure, &all_of_run(&outcome.run_id));
            if let Some(code) = failure.get("code").and_then(Json::as_str)
                && let Ok(code) = code.parse::<ErrorCode>()
            {
                session.output.note(format_args!("  help: {}", advice(code, name)));
            }
        } else {
            // A suspended call has no result yet.
            if outcome.result.is_ok() {
                session.output.heading("result");
            }
            report(session.output, &outcome, Some(("tools test", &source)));
        }
        session.output.note(format_args!("on record as run {}", outcome.run_id));
    }
    Ok(run::exit_code(&outcome))
}

/// What to do about a failure of this tool.
fn advice(code: ErrorCode, tool: &str) -> String {
    match code {
        // The code's help names no tool; a name with a dot is quoted.
        ErrorCode::UrlBlocked if tool.contains('.') => {
            format!("add the host to `allow_hosts` under `[tools.\"{tool}\"]` if it is meant")
        }
        ErrorCode::UrlBlocked => {
            format!("add the host to `allow_hosts` under `[tools.{tool}]` if it is meant")
        }
        code => code.remedy().replace("tools show NAME", &format!("tools show {tool}")),
    }
}

fn takes_no_arguments<'a>(tool: &str, given: impl Iterator<Item = &'a String>) -> Error {
    let names: Vec<String> = given.map(|name| format!("`{name}`")).collect();
    let message = format!("`{tool}` takes no arguments; --arguments gives {}", names.join(", "));
    Error::new(ErrorCode::Usage, message).with_help(format!("leave them out: `luaplan tools test {tool}`"))
}

/// The recorded failure of a run's only call.
pub(super) async fn failure_of(app: &App, run_id: &RunId) -> Result<Option<Json>> {
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let records = app.journal().records(filter).await?;
    Ok(records.into_iter().find_map(|record| match record.event.body {
        EventBody::ToolCallFinished { error, .. } => error,
        EventBody::ToolCallRefused { error, .. } => Some(error),
        _ => None,
    }))
}
