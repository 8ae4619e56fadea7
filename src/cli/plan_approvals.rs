//! Shows the plan of a task that waits for approval, and asks about it at a terminal.

use std::fmt::Write as _;

use tokio_util::sync::CancellationToken;

use luaplan_app::config::Environment;
use luaplan_app::{AfterDecision, App, ApprovalAnswer, Caller, PendingApproval, PlanOf};
use luaplan_base::{CallId, Error, ErrorCode, Result, Value};
use luaplan_bus::{LOCAL_TENANT, Suspension};
use luaplan_engine::RunOutcome;
use luaplan_journal::{JournalRead as _, PlanRequest, neutralize};
use luaplan_plan::preview::Texts;

use super::approvals::{is_meant, line};
use super::edits;
use super::findings;
use super::output::Output;
use super::progress::show_findings;
use super::shortened::PAGE_LINES_MAX;

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
        "  decide: luaplan approve {run_id} plan; another plan: `--plan FILE` or `--edit`; planned anew: `--deny REASON`; \
         dropped: luaplan cancel {run_id}"
    )
}

/// Shows the plan that a run waits for a decision about, where the person was not asked at a terminal.
///
/// # Errors
/// As reading the journal.
pub(super) async fn show_waiting_plan(output: &Output, app: &App, outcome: &RunOutcome) -> Result<()> {
    if output.is_json() || !matches!(outcome.suspension(), Some(Suspension::Approvals(_))) {
        return Ok(());
    }
    for waits in app.approvals().pending(Some(&outcome.run_id)).await? {
        if let Some(plan) = describe(&waits, PAGE_LINES_MAX) {
            output.note(format_args!("{plan}\n{}", commands(&waits)));
        }
    }
    Ok(())
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
        let left = || {
            output.note(format_args!("\nnothing was run\n{}", commands(waits)));
            Ok(false)
        };
        loop {
            let Some(word) = line(&format!("\n{QUESTION}"), self.cancel).await else { return left() };
            let answer = match word.as_str() {
                "r" | "run" | "y" | "yes" => Some(ApprovalAnswer::Once),
                "q" | "quit" | "l" | "later" => return left(),
                "s" | "save" => match line("file: ", self.cancel).await {
                    Some(file) => {
                        self.save(&file, source_of(waits));
                        None
                    }
                    None => return left(),
                },
                "c" | "change" | "n" | "no" => match line("what should be different? ", self.cancel).await {
                    Some(words) if words.is_empty() => None,
                    Some(words) => Some(ApprovalAnswer::Deny(words)),
                    None => return left(),
                },
                "e" | "edit" => match self.edited(waits, &mut draft).await {
                    Some(answer) => answer,
                    None => return left(),
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
            if source == source_of(waits) {
                return Ok(None);
            }
            let answer = edits::of_plan(source);
            Ok(Some((edits::difference(waits, &answer)?, answer)))
        });
        match answer {
            Ok(None) => {
                self.output.note("the plan stays as it is");
                Some(None)
            }
            Ok(Some((difference, answer))) => {
                if !self.would_do(waits, draft).await {
                    return Some(None);
                }
                let is_meant = is_meant(self.output, waits, &difference, self.cancel).await?;
                Some(is_meant.then_some(answer))
            }
            Err(error) => {
                let help = format!(
                    "the plan still waits: `s` writes it to a file, and `luaplan approve {} plan --plan FILE` runs what you \
                     make of that",
                    waits.run_id
                );
                self.output.error(&Error::new(error.code(), error.message()).with_help(help));
                Some(None)
            }
        }
    }

    /// Shows what an edited plan would do; `false` where it may not run, with the findings.
    async fn would_do(&self, waits: &PendingApproval, source: &str) -> bool {
        let state = self.app.journal().run_state(&waits.run_id).await.ok().flatten();
        let context = state.and_then(|state| Value::from_exact_json(state.context).ok());
        let plan = PlanOf {
            tenant: waits.tenant.as_deref().unwrap_or(LOCAL_TENANT),
            name: "the edited plan",
            source,
            limits: &self.app.config().limits,
            context: context.as_ref(),
        };
        // The decision checks it again, by the limits of the run.
        match self.app.plans().explain_for(plan).await {
            Ok(explanation) => {
                let page = explanation.preview.as_ref().map(|preview| preview.page(Texts::Short));
                match page {
                    Some(page) => {
                        let page = indented(page.trim_end());
                        self.output.note(neutralize(&format!("\nwhat it would do:\n{page}\n")));
                        true
                    }
                    None => {
                        findings::print(self.output, "the edited plan", source, &explanation.findings);
                        false
                    }
                }
            }
            Err(error) => {
                self.output.error(&error);
                false
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
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let error = Error::new(ErrorCode::FileExists, format!("{file} is already there"));
                self.output.error(&error.with_help("name a file that is not there yet"));
            }
            Err(error) => {
                let said = format!("cannot write {file}: {error}");
                let help = "name a file in a folder that is there";
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
