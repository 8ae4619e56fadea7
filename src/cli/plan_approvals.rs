//! Shows the plan of a task that waits for approval, and asks about it at a terminal.

use std::fmt::Write as _;

use tokio_util::sync::CancellationToken;

use luaplan_app::config::Environment;
use luaplan_app::{AfterDecision, App, ApprovalAnswer, Caller, PendingApproval};
use luaplan_base::{CallId, Error, ErrorCode, Result};
use luaplan_journal::{PlanRequest, neutralize};

use super::approvals::{is_meant, line};
use super::edits;
use super::output::Output;
use super::progress::show_findings;

const QUESTION: &str = "[r]un, [e]dit, [s]ave, [c]hange, [q]uit? ";

/// The model's words, what the plan would do, and the plan; at most so many lines of the plan. `None` for a call.
pub(super) fn describe(waits: &PendingApproval, lines_max: usize) -> Option<String> {
    let PlanRequest { explanation, effects, .. } = waits.request.plan.as_ref()?;
    let mut text = format!("the plan ({})\n", waits.request.effect.as_str());
    if let Some(said) = explanation {
        let _ = write!(text, "\nthe model says (its own words, not checked):\n{}\n", indented(said));
    }
    let _ = write!(text, "\nwhat it would do:\n{}\n\nthe plan itself:\n", indented(effects.trim_end()));
    let source = source_of(waits);
    for (index, line) in source.lines().enumerate().take(lines_max) {
        let _ = writeln!(text, "{:>4}  {line}", index + 1);
    }
    let count = source.lines().count();
    if count > lines_max {
        let _ = writeln!(
            text,
            "      … {} more lines: `luaplan show {} --plan`",
            count - lines_max,
            waits.run_id
        );
    }
    Some(neutralize(text.trim_end()))
}

/// The source of the plan that waits.
pub(super) fn source_of(waits: &PendingApproval) -> &str {
    waits.request.arguments.get(CallId::WHOLE_PLAN).and_then(|source| source.as_str()).unwrap_or_default()
}

/// The commands for the decision.
pub(super) fn commands(waits: &PendingApproval) -> String {
    let run_id = &waits.run_id;
    format!(
        "  decide: luaplan approve {run_id} plan; another plan: `--plan FILE` or `--edit`; planned anew: `--deny REASON`"
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// A person at the terminal, and what is needed to ask.
pub(super) struct Asking<'a> {
    pub(super) output: &'a Output,
    pub(super) app: &'a App,
    pub(super) environment: &'a Environment,
    pub(super) cancel: &'a CancellationToken,
}

impl Asking<'_> {
    /// Shows the plan and asks until a decision is on record (`true`), or the person leaves it for later.
    ///
    /// # Errors
    /// As reading the journal.
    pub(super) async fn about(&self, waits: &PendingApproval) -> Result<bool> {
        let output = self.output;
        output.note(format_args!("\n{}", describe(waits, usize::MAX).unwrap_or_default()));
        // What a person wrote and the check refused is not lost.
        let mut draft = source_of(waits).to_owned();
        loop {
            let Some(word) = line(&format!("\n{QUESTION}"), self.cancel).await else { return Ok(false) };
            let answer = match word.as_str() {
                "r" | "run" | "y" | "yes" => Some(ApprovalAnswer::Once),
                "q" | "quit" | "l" | "later" => {
                    output.note(format_args!("nothing was run\n{}", commands(waits)));
                    return Ok(false);
                }
                "s" | "save" => match line("file: ", self.cancel).await {
                    Some(file) => {
                        self.save(&file, source_of(waits));
                        None
                    }
                    None => return Ok(false),
                },
                "c" | "change" | "n" | "no" => match line("what should be different? ", self.cancel).await {
                    Some(words) if words.is_empty() => None,
                    Some(words) => Some(ApprovalAnswer::Deny(words)),
                    None => return Ok(false),
                },
                "e" | "edit" => match self.edited(waits, &mut draft).await {
                    Some(answer) => answer,
                    None => return Ok(false),
                },
                _ => {
                    output.note(
                        "answer with one of the letters in brackets; `y` runs it, `n` asks what to change",
                    );
                    None
                }
            };
            let Some(answer) = answer else { continue };
            let (id, by) = (&waits.request.approval_id, Caller::at_terminal());
            match self.app.approvals().decide(id, answer, AfterDecision::GoesOn, by.actor()).await {
                Ok(_) => return Ok(true),
                // Another approver decided meanwhile: the run may be resumed all the same.
                Err(error) if error.code() == ErrorCode::ApprovalStale => {
                    output.error(&error);
                    return Ok(true);
                }
                Err(error) => self.refused(&error, &draft),
            }
        }
    }

    /// Opens the draft in the editor and asks whether the result is meant; `Some(None)` goes back to the choice.
    async fn edited(&self, waits: &PendingApproval, draft: &mut String) -> Option<Option<ApprovalAnswer>> {
        let written = edits::text_in_editor(draft, "lua", self.environment, &self.app.config().data_dir);
        let answer = written.and_then(|source| {
            draft.clone_from(&source);
            let answer = edits::of_plan(source);
            Ok((edits::difference(waits, &answer)?, answer))
        });
        match answer {
            Ok((difference, answer)) => {
                let is_meant = is_meant(self.output, waits, &difference, self.cancel).await?;
                Some(is_meant.then_some(answer))
            }
            Err(error) => {
                self.output.error(&error);
                Some(None)
            }
        }
    }

    fn save(&self, file: &str, source: &str) {
        if file.is_empty() {
            return;
        }
        let path = self.environment.working_dir.join(file);
        let written = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match written.and_then(|mut file| std::io::Write::write_all(&mut file, source.as_bytes())) {
            Ok(()) => self.output.note(neutralize(&format!("wrote {file}"))),
            Err(error) => {
                let said = format!("cannot write {file}: {error}");
                let help = "name a file that is not there yet, in a folder that is";
                self.output.error(&Error::new(ErrorCode::FileUnreadable, said).with_help(help));
            }
        }
    }

    /// Says why a decision was not taken, with the findings of the check where there are any.
    fn refused(&self, error: &Error, draft: &str) {
        show_findings(self.output, error, Some(("the edited plan", draft)));
        self.output.error(error);
    }
}
