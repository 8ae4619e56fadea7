//! `--sample`: the beginnings of data that a person shares with the model that plans, shown before they are sent.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use indexmap::IndexMap;

use luaplan_app::App;
use luaplan_base::{Error, ErrorCode, Result, Value};
use luaplan_journal::neutralize;
use luaplan_planner::{SAMPLES_MAX, Sample};

use super::Session;
use super::run::run_own_plan;
use super::tool_manifests::failure_of;
use crate::cli::approvals::{agrees, can_ask};
use crate::cli::signals::cancelled_by_signals;

/// So much of a file or page is looked at.
const LOOKED_BYTES_MAX: u64 = 64 * 1024;

/// Of a page, what [`LOOKED_BYTES_MAX`] takes.
const FETCHES: &str = "function run(context)\n  local body = fetch_url(context.from)\n  \
    if type(body) == \"table\" and body.error then error(body) end\n  \
    if type(body) ~= \"string\" then error(\"it is no text\") end\n  return body:sub(1, 65536)\nend\n";
/// Of a table, some rows.
const QUERIES: &str = "function run(context)\n  local rows = query_db{table = context.from, limit = 3}\n  \
    if rows.error then error(rows) end\n  return rows\nend\n";

/// What a sample is taken of.
enum Source {
    File,
    Url,
    Table,
}

impl Source {
    fn of(session: &Session<'_>, from: &str) -> Result<Self> {
        if from.starts_with("http://") || from.starts_with("https://") {
            return Ok(Self::Url);
        }
        let path = session.environment.working_dir.join(from);
        if path.exists() {
            return Ok(Self::File);
        }
        let may_be_a_table = !from.is_empty()
            && from.chars().all(|c| c.is_alphanumeric() || ['_', '.', '$', '"', ' '].contains(&c));
        if may_be_a_table {
            return Ok(Self::Table);
        }
        Err(Error::new(ErrorCode::FileUnreadable, format!("--sample {from}: there is no such file"))
            .with_help("name a file, a URL with http:// or https://, or a table of `luaplan tools describe`"))
    }
}

/// The samples that were named, as naming one is consent, and those that the person at the terminal agrees to share. Each is
/// shown before it is sent.
///
/// # Errors
/// `usage` for too many; `file_unreadable` for what cannot be read or is no text; those of the calls.
pub(super) async fn of_task(
    session: &Session<'_>,
    app: &App,
    task: &str,
    names: &[String],
) -> Result<Vec<Sample>> {
    let samples = named(session, app, names).await?;
    Ok(asked(session, app, task, samples).await)
}

async fn named(session: &Session<'_>, app: &App, names: &[String]) -> Result<Vec<Sample>> {
    if names.len() > SAMPLES_MAX {
        return Err(Error::new(ErrorCode::Usage, "too many `--sample`")
            .with_limit(SAMPLES_MAX, names.len())
            .with_help("name those alone whose form the plan has to know"));
    }
    let mut samples = Vec::new();
    for from in names {
        let sample = take(session, app, from).await?;
        show(session, app, &sample, "is shared with");
        samples.push(sample);
    }
    Ok(samples)
}

/// With the samples of what the task names, as far as the person agrees. What cannot be taken is said, and left out.
async fn asked(session: &Session<'_>, app: &App, task: &str, mut samples: Vec<Sample>) -> Vec<Sample> {
    if !app.config().asks_for_samples || !can_ask(session.output, false) {
        return samples;
    }
    let cancel = cancelled_by_signals();
    for from in in_task(session, app, task).await {
        if samples.len() >= SAMPLES_MAX {
            break;
        }
        if samples.iter().any(|sample| sample.from == from) {
            continue;
        }
        let sample = match take(session, app, &from).await {
            Ok(sample) => sample,
            Err(error) => {
                session.output.note(neutralize(&format!("no sample of {from}: {}", error.message())));
                continue;
            }
        };
        show(session, app, &sample, "would be shared with");
        if agrees("share it? [y]es, [n]o: ", &cancel).await == Some(true) {
            samples.push(sample);
        }
    }
    samples
}

/// Addresses, files of the working folder and tables that a task names.
async fn in_task(session: &Session<'_>, app: &App, task: &str) -> Vec<String> {
    let tables = match app.tools().described("query_db").await {
        Ok(told) => told,
        Err(_) => serde_json::Value::Null,
    };
    let is_table = |word: &str| {
        let databases = tables["databases"].as_array().into_iter().flatten();
        let mut named = databases.flat_map(|database| database["tables"].as_array().into_iter().flatten());
        named.any(|table| table["name"] == word)
    };
    let mut found: Vec<String> = Vec::new();
    for word in task.split_whitespace() {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation() && !['/', '_', '$'].contains(&c));
        let is_file = word.contains(['.', '/']) && session.environment.working_dir.join(word).is_file();
        let is_url = word.starts_with("http://") || word.starts_with("https://");
        if (is_file || is_url || is_table(word)) && !found.iter().any(|other| other == word) {
            found.push(word.to_owned());
        }
    }
    found
}

async fn take(session: &Session<'_>, app: &App, from: &str) -> Result<Sample> {
    let (text, goes_on) = match Source::of(session, from)? {
        Source::File => beginning(&session.environment.working_dir.join(from))
            .map_err(|what| Error::new(ErrorCode::FileUnreadable, format!("--sample {from}: {what}")))?,
        Source::Url => match called(session, app, from, FETCHES).await? {
            Value::String(text) => {
                let goes_on = text.len() as u64 >= LOOKED_BYTES_MAX;
                (text, goes_on)
            }
            Value::Bytes(bytes) => {
                let goes_on = bytes.len() as u64 >= LOOKED_BYTES_MAX;
                let text = text_of(&bytes)
                    .map_err(|what| Error::new(ErrorCode::BadRequest, format!("--sample {from}: {what}")))?;
                (text, goes_on)
            }
            other => (other.to_json_text(), false),
        },
        Source::Table => match called(session, app, from, QUERIES).await? {
            Value::Array(rows) => {
                let lines: Vec<String> = rows.iter().map(Value::to_json_text).collect();
                (lines.join("\n"), true)
            }
            other => (other.to_json_text(), false),
        },
    };
    // What the model must not see is not shown either, and is not on record.
    let sample = Sample::new(from, &app.history().redactor().text(&text), goes_on);
    if sample.text().trim().is_empty() {
        return Err(Error::new(ErrorCode::BadRequest, format!("--sample {from}: there is nothing in it"))
            .with_help("leave it out, or name data that is there"));
    }
    Ok(sample)
}

/// The first bytes of a file as text, and whether it goes on.
fn beginning(path: &Path) -> std::result::Result<(String, bool), String> {
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LOOKED_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok((text_of(&bytes)?, metadata.len() > bytes.len() as u64))
}

/// The text, which may end in the midst of a character.
fn text_of(bytes: &[u8]) -> std::result::Result<String, String> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(error) => return Err(format!("it is no UTF-8 text (at byte {})", error.valid_up_to())),
    };
    Ok(valid.to_owned())
}

/// What one call returns, made by a run of its own, so that policy and log apply to it as to any.
async fn called(session: &Session<'_>, app: &App, from: &str, source: &str) -> Result<Value> {
    let context = Value::Object(IndexMap::from([("from".to_owned(), Value::from(from))]));
    let outcome = run_own_plan(session, app, ("sample", source), Some(context)).await?;
    let Some(error) = outcome.error() else {
        return outcome.result.map_err(|_| Error::new(ErrorCode::Internal, "a run failed without an error"));
    };
    let failure = failure_of(app, &outcome.run_id).await?.unwrap_or_default();
    let code = failure["code"].as_str().and_then(|code| code.parse::<ErrorCode>().ok());
    let (code, help) = code.map_or((error.code(), error.help()), |code| (code, code.remedy()));
    let message = format!("--sample {from}: {}", failure["error"].as_str().unwrap_or(error.message()));
    let help = format!("{help} The call is on record: `luaplan show {}`", outcome.run_id);
    Err(Error::new(code, message).with_help(help))
}

fn show(session: &Session<'_>, app: &App, sample: &Sample, verb: &str) {
    let model = app.config().llm.name();
    let lines: Vec<String> = sample.text().lines().map(|line| format!("  | {line}")).collect();
    let bytes = sample.text().len();
    let more = if sample.is_cut() { "the beginning" } else { "all" };
    let text = format!("{more} of {} ({bytes} bytes) {verb} {model}:\n{}", sample.from, lines.join("\n"));
    session.output.note(neutralize(&text));
}
