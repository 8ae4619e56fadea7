//! `luaplan tools import`: manifests of the operations of an OpenAPI document.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use luaplan_app::{check_tool_name, openapi_operations, read_openapi};
use luaplan_base::{Error, ErrorCode, Result, nearest};
use luaplan_journal::neutralize;
use luaplan_tools::openapi::{Document, ImportOptions, Manifest, Operation};

use super::Session;
use super::config::write_new;
use crate::cli::args::ImportArgs;
use crate::cli::exit;
use crate::cli::table::{LastColumn, table};

pub(super) async fn run(session: &Session<'_>, args: &ImportArgs) -> Result<u8> {
    let document = read_openapi(&args.document, &session.environment.working_dir).await?;
    let options = ImportOptions {
        prefix: args.prefix.clone(),
        server: args.server.clone(),
        secret: args.secret.clone(),
        user: args.user.clone(),
    };
    check(&document, &options)?;
    let operations = openapi_operations(&document, &options);
    if args.operations.is_empty() {
        list(session, &document.title(), &operations);
        return Ok(exit::DONE);
    }
    let chosen = chosen(&operations, &args.operations)?;
    let folder = PathBuf::from(&session.load()?.raw.tools_dir);
    let wrote = write(session, &folder, &chosen, args.overwrite)?;
    if session.output.is_json() {
        let tools: Vec<Json> = chosen
            .iter()
            .zip(&wrote)
            .map(|((operation, manifest), file)| {
                json!({ "operation": operation.id, "tool": operation.tool, "file": file, "secret": manifest.secret, "notes": manifest.notes })
            })
            .collect();
        session.output.data(&json!({ "wrote": tools }));
        return Ok(exit::DONE);
    }
    for ((operation, manifest), file) in chosen.iter().zip(&wrote) {
        session.output.line(format_args!("wrote {}: {}", file.display(), cell(&operation.id)));
        for note in &manifest.notes {
            session.output.line(format_args!("  {}", neutralize(note)));
        }
    }
    let mut secrets: Vec<&str> =
        chosen.iter().filter_map(|(_, manifest)| manifest.secret.as_deref()).collect();
    secrets.sort_unstable();
    secrets.dedup();
    session.output.line("\nnext:");
    for secret in secrets {
        session.output.line(format_args!("  set `[secrets] {secret} = {{ env = \"…\" }}`"));
    }
    if let Some((operation, _)) = chosen.first() {
        session.output.line(format_args!("  luaplan tools test {} --arguments '{{…}}'", operation.tool));
    }
    Ok(exit::DONE)
}

/// A name from the document, on one line of a list.
fn cell(name: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    let name = neutralize(name).replace('\n', " ");
    match name.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// Refuses options that would make every operation fail.
///
/// # Errors
/// `usage`, naming the option.
fn check(document: &Document, options: &ImportOptions) -> Result<()> {
    let bad = |option: &str, given: &str, what: &str, help: &str| {
        let message = format!("`{option} {}`: {what}", given.escape_debug());
        Err(Error::new(ErrorCode::Usage, message).with_help(help))
    };
    if let Some(prefix) = &options.prefix {
        let help =
            "give a word of lower-case letters, digits and `_` that begins with a letter, such as `crm`";
        if prefix.contains('.') {
            return bad("--prefix", prefix, "a tool's name has one dot, and that follows the prefix", help);
        }
        if let Err(error) = check_tool_name(prefix) {
            let what = error.message().trim_start_matches("`name`").trim_start_matches([':', ' ']);
            return bad("--prefix", prefix, what, help);
        }
    }
    if let Some(server) = &options.server
        && let Err(what) = document.check_server(server)
    {
        return bad("--server", server, &what, "give a whole address, such as `https://api.example.com/v1`");
    }
    Ok(())
}

fn list(session: &Session<'_>, title: &str, operations: &[Operation]) {
    let one = |operation: &Operation| {
        json!({
            "operation": operation.id,
            "method": operation.method,
            "path": operation.path,
            "summary": operation.summary,
            "tool": operation.tool,
            "refused": operation.manifest.as_ref().err(),
            "notes": operation.manifest.as_ref().map(|manifest| manifest.notes.clone()).unwrap_or_default(),
        })
    };
    if session.output.is_json() {
        let operations: Vec<Json> = operations.iter().map(one).collect();
        session.output.data(&json!({ "title": title, "operations": operations }));
        return;
    }
    let row = |operation: &Operation| {
        let what = match &operation.manifest {
            Ok(_) => neutralize(&operation.summary).replace('\n', " "),
            Err(reason) => format!("not: {}", neutralize(reason)),
        };
        let id =
            if operation.id.starts_with(&operation.method) { String::new() } else { operation.id.clone() };
        let place = format!("{} {}", operation.method, operation.path);
        vec![cell(&id), cell(&place), operation.tool.clone(), what]
    };
    let headers = ["OPERATION", "REQUEST", "TOOL", "WHAT IT DOES"];
    session.output.line(table(&headers, operations.iter().map(row).collect(), LastColumn::Whole));
}

/// The operations of these names, each with its manifest.
///
/// # Errors
/// `not_found` for an unknown name; `openapi_unusable` for operations that cannot be tools. Nothing
/// is written then.
fn chosen<'a>(operations: &'a [Operation], names: &[String]) -> Result<Vec<(&'a Operation, &'a Manifest)>> {
    let by_name = Names::of(operations);
    let mut chosen: Vec<(&Operation, &Manifest)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    let mut refused: Vec<String> = Vec::new();
    for name in names {
        let name = name.trim();
        let Some(operation) = by_name.get(name) else {
            let error = Error::new(ErrorCode::NotFound, format!("the document has no operation `{name}`"));
            return Err(match nearest(name, operations.iter().map(|operation| operation.id.as_str())) {
                Some(near) => {
                    error.with_help(format!("did you mean `{near}`? without `--operations` all are listed"))
                }
                None => error.with_help("without `--operations` all are listed"),
            });
        };
        match &operation.manifest {
            Ok(manifest) if known.insert(&operation.tool) => chosen.push((operation, manifest)),
            Ok(_) => {}
            Err(reason) => refused.push(format!("`{name}`: {reason}")),
        }
    }
    if refused.is_empty() {
        return Ok(chosen);
    }
    let help = if refused.iter().any(|reason| reason.contains("`--")) {
        "give the option the reason names; nothing was written"
    } else if chosen.is_empty() {
        "write a manifest by hand: `luaplan tools new NAME --kind http`; nothing was written"
    } else {
        "leave these out of `--operations`, and write theirs by hand (`luaplan tools new NAME --kind http`); nothing was written"
    };
    Err(Error::new(ErrorCode::OpenapiUnusable, neutralize(&refused.join("\n"))).with_help(help))
}

/// Operations by their names: ids, or method and path. A map, as a document may have tens of thousands
/// and all of them may be requested.
struct Names<'a> {
    by_id: HashMap<&'a str, &'a Operation>,
    by_request: HashMap<(&'a str, &'a str), &'a Operation>,
}

impl<'a> Names<'a> {
    /// Of two with one name, the first wins.
    fn of(operations: &'a [Operation]) -> Self {
        let mut names = Self { by_id: HashMap::new(), by_request: HashMap::new() };
        for operation in operations {
            names.by_id.entry(&operation.id).or_insert(operation);
            names.by_request.entry((&operation.method, &operation.path)).or_insert(operation);
        }
        names
    }

    fn get(&self, name: &str) -> Option<&'a Operation> {
        let by_request = || {
            let (method, path) = name.split_once(' ')?;
            let method = method.to_ascii_uppercase();
            self.by_request.get(&(method.as_str(), path.trim())).copied()
        };
        self.by_id.get(name).copied().or_else(by_request)
    }
}

/// Writes all files, or none.
fn write(
    session: &Session<'_>,
    folder: &Path,
    chosen: &[(&Operation, &Manifest)],
    overwrite: bool,
) -> Result<Vec<PathBuf>> {
    let here = &session.environment.working_dir;
    let cannot = |path: &Path, error: &std::io::Error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", path.display()))
    };
    let files: Vec<PathBuf> =
        chosen.iter().map(|(operation, _)| folder.join(format!("{}.toml", operation.tool))).collect();
    if !overwrite && let Some(there) = files.iter().find(|file| here.join(file).exists()) {
        return Err(Error::new(ErrorCode::FileExists, format!("{} is already there", there.display()))
            .with_help("nothing was written; `--overwrite` writes over it"));
    }
    std::fs::create_dir_all(here.join(folder)).map_err(|error| cannot(folder, &error))?;
    for ((_, manifest), file) in chosen.iter().zip(&files) {
        let path = here.join(file);
        if overwrite {
            if path.is_symlink() {
                let message =
                    format!("{} is a symbolic link; what it points to is not written over", file.display());
                return Err(Error::new(ErrorCode::FileExists, message).with_help("remove the link first"));
            }
            std::fs::write(&path, &manifest.text).map_err(|error| cannot(file, &error))?;
        } else {
            write_new(&path, &manifest.text)?;
        }
    }
    Ok(files)
}
