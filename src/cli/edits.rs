//! Edits of a call's arguments or of a plan before approval: parsed, and shown as a difference.

use std::io::Write as _;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value as Json;

use luaplan_app::config::Environment;
use luaplan_app::{ApprovalAnswer, ArgumentChange, PendingApproval, argument_changes};
use luaplan_base::{CallId, Error, ErrorCode, Result, Value};
use luaplan_journal::{ApprovalState, neutralize};

use super::difference::unified;
use super::plan_approvals::source_of;
use super::shortened::{Detail, all_of_call};

/// How much of a long text is shown before and after a change.
const AROUND_CHARS: usize = 60;

/// Parses `NAME=VALUE` for each argument to change in the waiting call.
pub(super) fn set(waits: &PendingApproval, pairs: &[String]) -> Result<ApprovalAnswer> {
    let mut values = IndexMap::new();
    for pair in pairs {
        let (name, text) = pair.split_once('=').ok_or_else(|| {
            let message = format!("`--argument {pair}` has no `=`");
            super::exit::usage(message, "--argument", "write `--argument to=a@example.com`")
        })?;
        let name = name.trim();
        // A text stays a text: `--argument subject=2026` is then no number.
        let is_text = waits.request.arguments.get(name).is_some_and(Json::is_string);
        let value = match Value::from_json_text(text) {
            Ok(value @ (Value::String(_) | Value::Null)) => value,
            Ok(value) if !is_text => value,
            _ => Value::String(text.to_owned()),
        };
        values.insert(name.to_owned(), value);
    }
    Ok(ApprovalAnswer::Set(values))
}

/// The changes that an answer makes in the arguments of the call; empty where it makes none.
///
/// # Errors
/// `bad_request` where the arguments do not change.
pub(super) fn difference(waits: &PendingApproval, answer: &ApprovalAnswer) -> Result<Vec<String>> {
    let Some(edited) = answer.arguments(&waits.request)? else { return Ok(Vec::new()) };
    let changes = argument_changes(&waits.request, &edited);
    if changes.is_empty() {
        let (same, as_is) = match waits.request.plan {
            Some(_) => ("the plan stays as it is", "run the plan as it is"),
            None => ("the arguments stay as they are", "allow the call as it is"),
        };
        return Err(Error::new(ErrorCode::BadRequest, same)
            .with_help(format!("{as_is}: `luaplan approve {} {}`", waits.run_id, waits.request.call_id)));
    }
    if waits.request.plan.is_some() {
        return Ok(of_plans(&changes));
    }
    let mut lines = of_changes(&changes);
    let all = all_of_call(&waits.run_id, waits.request.call_id.as_str());
    lines.push(format!("  (the call as it waits: `{all}`)"));
    Ok(lines)
}

/// The changes that a person made in a call with the decision; empty without changes.
///
/// # Errors
/// `journal_corrupt` where the recorded arguments cannot be read.
pub(super) fn decided(asked: &ApprovalState) -> Result<Vec<String>> {
    let Some(edited) = asked.decision.as_ref().and_then(|decision| decision.arguments.clone()) else {
        return Ok(Vec::new());
    };
    let changes = argument_changes(asked, &Value::from_exact_json(edited)?);
    Ok(if asked.plan.is_some() { of_plans(&changes) } else { of_changes(&changes) })
}

/// The answer that runs the plan `source` in place of the one that waits.
pub(super) fn of_plan(source: String) -> ApprovalAnswer {
    let plan = (CallId::WHOLE_PLAN.to_owned(), Value::String(source));
    ApprovalAnswer::Edit(Value::Object(IndexMap::from_iter([plan])))
}

/// The plan that an answer runs in place of the one that waits.
pub(super) fn edited_plan(answer: &ApprovalAnswer) -> Option<&str> {
    match answer {
        ApprovalAnswer::Edit(Value::Object(members)) => members.get(CallId::WHOLE_PLAN)?.as_str(),
        _ => None,
    }
}

/// The lines in which two plans differ.
fn of_plans(changes: &[ArgumentChange]) -> Vec<String> {
    let text = |value: &Option<Json>| value.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned();
    let of_one = |change: &ArgumentChange| {
        let (before, after) = (text(&change.before), text(&change.after));
        unified(("the plan that waits", &before), ("the edited plan", &after))
    };
    changes.iter().flat_map(|change| of_one(change).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn of_changes(changes: &[ArgumentChange]) -> Vec<String> {
    let width = changes.iter().map(|change| change.name.chars().count()).max().unwrap_or(0);
    changes.iter().flat_map(|change| of_change(change, width)).collect()
}

/// The old and the new value, as two lines.
fn of_change(change: &ArgumentChange, width: usize) -> Vec<String> {
    let text = |value: &Option<Json>| value.as_ref().map(ToString::to_string);
    let (mut before, mut after) = (text(&change.before), text(&change.after));
    let is_long =
        |text: &Option<String>| text.as_deref().is_some_and(|text| Detail::Short.excerpt(text).is_some());
    if let (Some(old), Some(new)) = (&before, &after)
        && (is_long(&before) || is_long(&after))
    {
        let (old, new) = what_differs(old, new);
        (before, after) = (Some(old), Some(new));
    }
    let line = |mark: char, text: String| {
        let text = match Detail::Short.excerpt(&text) {
            Some(part) => format!("{}… ({part})", part.head),
            None => text,
        };
        neutralize(&format!("  {mark} {:<width$}  {text}", change.name))
    };
    before.map(|text| line('-', text)).into_iter().chain(after.map(|text| line('+', text))).collect()
}

/// The parts of two texts that differ, with a little context.
fn what_differs(old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let same = |(one, other): &(&char, &char)| one == other;
    let before = old.iter().zip(&new).take_while(same).count();
    let behind = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(same).count();
    let cut = |text: &[char]| {
        let (from, to) =
            (before.saturating_sub(AROUND_CHARS), (text.len() - behind + AROUND_CHARS).min(text.len()));
        let (head, tail) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
        format!("{head}{}{tail}", text[from..to].iter().collect::<String>())
    };
    (cut(&old), cut(&new))
}

/// Opens all arguments in the person's editor, in a file of `folder` that is removed afterwards.
///
/// # Errors
/// `usage` where no editor is configured, it fails, or the file is no JSON object.
pub(super) fn in_editor(
    waits: &PendingApproval,
    environment: &Environment,
    folder: &Path,
) -> Result<ApprovalAnswer> {
    if waits.request.plan.is_some() {
        return Ok(of_plan(text_in_editor(source_of(waits), "lua", environment, folder)?));
    }
    let usage = |message: String, help: &str| super::exit::usage(message, "--edit", help);
    let text = serde_json::to_string_pretty(&waits.request.arguments).unwrap_or_default();
    let edited = text_in_editor(&text, "json", environment, folder)?;
    match Value::from_json_text(&edited) {
        Ok(arguments @ Value::Object(_)) => Ok(ApprovalAnswer::Edit(arguments)),
        Ok(other) => {
            Err(usage(format!("the editor left {}, not an object", other.kind()), "run the command again"))
        }
        Err(error) => Err(usage(
            format!("what the editor left is no JSON: {}", error.message()),
            "nothing was decided; run the command again",
        )),
    }
}

/// What $EDITOR makes of `text`, in a file with this extension.
///
/// # Errors
/// `usage` where no editor is configured or it fails; `file_unreadable`.
pub(super) fn text_in_editor(
    text: &str,
    extension: &str,
    environment: &Environment,
    folder: &Path,
) -> Result<String> {
    let usage = |message: String, help: &str| super::exit::usage(message, "--edit", help);
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| environment.variables.get(*name));
    let Some(editor) = editor.filter(|editor| !editor.trim().is_empty()) else {
        return Err(usage(
            "an edit opens an editor, and neither $VISUAL nor $EDITOR names one".to_owned(),
            "set EDITOR; single arguments are changed by `--argument to=a@example.com`, a plan by `--plan FILE`",
        ));
    };
    let cannot = |what: &str, error: &std::io::Error| {
        Error::new(ErrorCode::FileUnreadable, format!("{what}: {error}"))
    };
    let path = folder.join(format!("edit-{}.{extension}", luaplan_base::RunId::generate()));
    write_private(&path, text)
        .map_err(|error| cannot("the text cannot be written for the editor", &error))?;
    let ended = run_editor(editor, &path);
    let edited = std::fs::read_to_string(&path);
    // The text must not stay on the disk, however the editor ended.
    let removed = std::fs::remove_file(&path);
    let ended = ended.map_err(|error| cannot("the editor could not be started", &error))?;
    if !ended.success() {
        return Err(usage(
            format!("the editor ended with {ended}, so nothing was decided"),
            "run the command again",
        ));
    }
    removed.map_err(|error| cannot("the file of the editor cannot be removed", &error))?;
    edited.map_err(|error| cannot("what the editor wrote cannot be read", &error))
}

#[cfg(unix)]
fn run_editor(editor: &str, path: &Path) -> std::io::Result<std::process::ExitStatus> {
    // $EDITOR may hold options, so a shell reads it.
    std::process::Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path).status()
}

#[cfg(not(unix))]
fn run_editor(editor: &str, path: &Path) -> std::io::Result<std::process::ExitStatus> {
    std::process::Command::new(editor).arg(path).status()
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_long_texts_the_part_that_differs_is_shown() {
        let (head, tail) = ("a".repeat(5000), "z".repeat(5000));
        let (old, new) = what_differs(&format!("{head}old{tail}"), &format!("{head}renewed{tail}"));
        assert!(old.contains("aold\u{7a}") && new.contains("arenewed\u{7a}"), "{old} {new}");
        assert!(old.chars().count() < 200 && old.starts_with('…') && old.ends_with('…'), "{old}");
        assert_eq!(what_differs("abc", "abcd"), ("abc".to_owned(), "abcd".to_owned()));
    }
}
