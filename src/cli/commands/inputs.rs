//! Inputs of commands from files, standard input and flags.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use luaplan_app::config::Config;
use luaplan_app::{PlanningOptions, PromptRef};
use luaplan_base::{Error, ErrorCode, LimitName, LimitProfile, Limits, Result, Value};
use luaplan_catalog::regular_file::read_to_end;

use super::Session;
use crate::cli::args::RunOptions;
use crate::cli::exit;
use crate::cli::planning_args::PlanningArgs;

/// The text of a plan and its name. `-` is standard input.
pub(super) fn read_plan(session: &Session<'_>, file: &Path) -> Result<(String, String)> {
    if file == Path::new("-") {
        let name = "standard input";
        let text = text_of(Ok(io::stdin())).map_err(|error| unreadable(name, &error))?;
        return Ok(("stdin".to_owned(), text));
    }
    let name = file.display().to_string();
    // A pipe is allowed: shells pass a command's output as one.
    let bytes = File::open(session.environment.working_dir.join(file))
        .and_then(read_to_end)
        .map_err(|error| unreadable(&name, &error))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Error::new(
            ErrorCode::CheckRefused,
            format!("{name} is not UTF-8 text (at byte {})", error.utf8_error().valid_up_to()),
        )
        .with_help("a plan is Lua source as UTF-8 text; bytecode is not accepted")),
    }
}

fn text_of(opened: io::Result<impl io::Read>) -> io::Result<String> {
    let bytes = opened.and_then(read_to_end)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// What a file holds, as text.
pub(super) fn read_text(session: &Session<'_>, file: &str) -> Result<String> {
    text_of(File::open(session.environment.working_dir.join(file))).map_err(|error| unreadable(file, &error))
}

/// `--context`: JSON text, or `@FILE` with JSON.
pub(super) fn read_context(session: &Session<'_>, argument: Option<&str>) -> Result<Option<Value>> {
    argument.map(|argument| read_json(session, argument, "--context")).transpose()
}

/// The value of the option `flag`: JSON text, or `@FILE` with JSON.
pub(super) fn read_json(session: &Session<'_>, argument: &str, flag: &str) -> Result<Value> {
    let at = |file: &str| session.environment.working_dir.join(file);
    let (origin, text) = match argument.strip_prefix('@') {
        Some(file) => {
            let text = text_of(File::open(at(file))).map_err(|error| unreadable(file, &error))?;
            (file, text)
        }
        None => (flag, argument.to_owned()),
    };
    Value::from_json_text(&text).map_err(|error| {
        let error = match error.code() {
            ErrorCode::BadRequest if argument.starts_with('@') => error.with_help(format!(
                "the file has to hold JSON; a text, such as CSV, becomes JSON with `jq -Rs '{{text: .}}' {origin}`"
            )),
            ErrorCode::BadRequest if at(argument).is_file() => {
                error.with_help(format!("for what the file holds, write `{flag} @{argument}`"))
            }
            ErrorCode::BadRequest => error
                .with_help(format!("write JSON, as in `{flag} '{{\"name\": \"value\"}}'`, or `{flag} @FILE`")),
            _ => error,
        };
        of_argument(flag, &error, &format!("{origin}: "))
    })
}

/// `--arguments`: a JSON object, or @FILE with one; without the flag an empty one.
pub(super) fn read_arguments(session: &Session<'_>, argument: Option<&str>) -> Result<Value> {
    let value = argument.map(|argument| read_json(session, argument, "--arguments")).transpose()?;
    match value.unwrap_or_else(|| Value::Object(indexmap::IndexMap::new())) {
        arguments @ Value::Object(_) => Ok(arguments),
        other => Err(Error::new(
            ErrorCode::Usage,
            format!("--arguments is {}, and takes an object by parameter name", other.kind()),
        )
        .with_help("write `--arguments '{\"name\": \"value\"}'`")),
    }
}

/// As [`read_context`]; without the flag an empty object.
pub(super) fn context_or_empty(session: &Session<'_>, argument: Option<&str>) -> Result<Value> {
    Ok(read_context(session, argument)?.unwrap_or_else(|| Value::Object(indexmap::IndexMap::new())))
}

/// The configured limits with `--profile` and `--limit` over them.
pub(super) fn limits(config: &Config, options: &RunOptions) -> Result<Limits> {
    let mut limits = match &options.profile {
        Some(profile) => {
            profile.parse::<LimitProfile>().map_err(|error| of_argument("--profile", &error, ""))?.limits()
        }
        None => config.limits.clone(),
    };
    for pair in &options.limit {
        let (name, text) = pair.split_once('=').ok_or_else(|| {
            Error::new(ErrorCode::Usage, format!("`--limit {pair}` has no `=`"))
                .with_help("write `--limit name=value`, for example `--limit wall=2s`")
        })?;
        name.parse::<LimitName>()
            .and_then(|name| limits.set(name, text))
            .map_err(|error| of_argument("--limit", &error, &format!("--limit {pair}: ")))?;
    }
    Ok(limits)
}

/// `--candidates`, `--tests` and `--mcp-prompt`.
pub(super) fn planning(session: &Session<'_>, options: &PlanningArgs) -> Result<PlanningOptions> {
    let tests = options.tests.as_ref().map(|file| session.environment.working_dir.join(file));
    let prompts = options.mcp_prompts.iter().map(|text| prompt_ref(text)).collect::<Result<_>>()?;
    Ok(PlanningOptions { candidates: options.candidates, tests, prompts, ..PlanningOptions::default() })
}

fn prompt_ref(text: &str) -> Result<PromptRef> {
    let (name, arguments) = text.split_once('=').unwrap_or((text, "{}"));
    let arguments: BTreeMap<String, String> = serde_json::from_str(arguments).map_err(|error| {
        Error::new(
            ErrorCode::Usage,
            format!("--mcp-prompt {name}: the arguments are no object of texts: {error}"),
        )
        .with_help("write `--mcp-prompt 'crm.report={\"month\": \"May\"}'`")
        .with_detail(exit::ARGUMENT, "--mcp-prompt")
    })?;
    Ok(PromptRef { name: name.trim().to_owned(), arguments })
}

fn unreadable(what: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::FileUnreadable, format!("cannot read {what}: {error}"))
}

/// Marks an error about an argument: a usage error, whatever its code.
fn of_argument(argument: &str, error: &Error, before: &str) -> Error {
    let help = match error.code() {
        ErrorCode::ConfigInvalid if error.help() == ErrorCode::ConfigInvalid.remedy() => {
            "`luaplan help run` shows what is possible"
        }
        _ => error.help(),
    };
    Error::new(error.code(), format!("{before}{}", error.message()))
        .with_help(help.to_owned())
        .with_detail(exit::ARGUMENT, argument)
}
