//! Calls that a policy file makes people decide about: asked, decided, bound, on record. Real mail server,
//! real journal, real processes.

mod bound;
mod command;
#[cfg(target_os = "linux")]
pub(crate) use command::at_terminal;
mod file;
mod grants;
mod http;
mod kills;
mod race;
mod replays;
mod runs;
mod told;

use std::path::PathBuf;

use luaplan::app::{AfterDecision, App, ApprovalAnswer, ResumeRequest};
use luaplan::base::{ErrorCode, Result, RunId};
use luaplan::engine::RunOutcome;
use luaplan::journal::{Actor, ApprovalState, GrantState, JournalRead as _, RunState, RunStatus};
use tokio_util::sync::CancellationToken;

use crate::app_parts::Bench;

/// Mail inside the company goes by itself, other mail is asked about; one address is never written to.
pub(crate) const POLICY: &str = r#"version = 1

[[rule]]
name = "mail-asks"
tool = "send_email"
decision = "prompt"
reason = "mail leaves the machine"

[[rule]]
name = "large-lists"
tool = "send_email"
decision = "manual"
reason = "the subject says that it is final"
arguments.subject = "FINAL*"

[[rule]]
name = "never-the-boss"
tool = "send_email"
decision = "deny"
reason = "nobody writes to the boss by machine"
arguments.to = { any = "boss@*" }
"#;

/// Decides in the name of `by`; the run stays paused.
pub(crate) async fn decide(app: &App, id: &str, answer: ApprovalAnswer, by: &str) -> Result<ApprovalState> {
    app.approvals().decide(id, answer, AfterDecision::StaysPaused, &Actor::named(by)).await
}

/// Takes a grant back in the name of `by`.
async fn revoke(app: &App, grant_id: &str, by: &str) -> Result<GrantState> {
    app.approvals().revoke(grant_id, None, &Actor::named(by)).await
}

/// A mail server that is configured and not there: calls that are allowed fail, and say so.
pub(crate) const ABSENT_MAIL_SERVER: [(&str, &str); 3] = [
    ("tools.send_email.smtp", "\"smtp://127.0.0.1:1\""),
    ("tools.send_email.from", "\"luaplan@company.com\""),
    ("tools.send_email.allow_recipients", "[\"*@*\"]"),
];

/// The same as lines of a configuration file; its tables may follow.
pub(crate) fn absent_mail_server() -> String {
    ABSENT_MAIL_SERVER.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

/// Sends one mail and says what came of it.
pub(crate) const MAILER: &str = r#"function run(context)
  local sent = send_email(context.to or "admin@company.com", context.subject or "hello", "x")
  if sent.error then return { code = sent.code, said = sent.error } end
  return { delivered = sent.delivered }
end"#;

/// An application under a policy file.
pub(crate) struct Governed {
    pub(crate) bench: Bench,
    pub(crate) policy: PathBuf,
    _folder: tempfile::TempDir,
}

impl Governed {
    pub(crate) async fn new(policy: &str) -> Self {
        Self::with_secret(policy, "a secret nobody uses").await
    }

    /// As [`Governed::new`], where `secret` is configured as one.
    pub(crate) async fn with_secret(policy: &str, secret: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            (format!("{:?}", file.display().to_string()), file)
        };
        let (path, file) = written("policy.toml", policy);
        let (secret, _) = written("secret", secret);

        let bench = Bench::with(&[("policy.file", &path), ("secrets.hushed.file", &secret)], None).await;
        Self { bench, policy: file, _folder: folder }
    }

    /// Runs a plan that must pause for an approval.
    pub(crate) async fn paused(&self, source: &str) -> RunId {
        let outcome = self.bench.run(source).await;
        assert_asks(&outcome);
        outcome.run_id
    }

    pub(crate) async fn state(&self, run_id: &RunId) -> RunState {
        self.bench.app.journal().run_state(run_id).await.unwrap().unwrap()
    }

    /// Decides about the only call that waits.
    pub(crate) async fn decide(&self, run_id: &RunId, answer: ApprovalAnswer) {
        let pending = self.bench.app.approvals().pending(Some(run_id)).await.unwrap();
        assert_eq!(pending.len(), 1, "{pending:?}");
        decide(&self.bench.app, &pending[0].request.approval_id, answer, "ann").await.unwrap();
    }

    pub(crate) async fn resume(&self, run_id: &RunId) -> RunOutcome {
        self.bench.app.resume(resume_request(run_id)).await.unwrap()
    }

    pub(crate) fn mails(&self) -> usize {
        self.bench.parts.received().len()
    }
}

pub(crate) fn resume_request(run_id: &RunId) -> ResumeRequest {
    ResumeRequest::new(run_id.clone(), CancellationToken::new())
}

pub(crate) fn assert_asks(outcome: &RunOutcome) {
    let code = outcome.error().map(|error| error.code());
    assert_eq!(
        (outcome.status(), code),
        (RunStatus::Paused, Some(ErrorCode::ApprovalRequired)),
        "{outcome:?}"
    );
}
