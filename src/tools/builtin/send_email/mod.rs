//! `send_email(to, subject, body, attachments)`: one message through one configured SMTP server.
//!
//! Nothing is sent unless all recipients are on the allow list and the server accepts them. A failure
//! after the content went out says that the outcome is in doubt and is never marked retryable.
//!
//! **Never here:** a sender chosen by a plan, files read from disk, a queue, a second attempt.

mod attachments;
mod delivery;
mod header_text;
mod message;
mod recipients;
mod settings;

use std::time::Duration;

use async_trait::async_trait;
use lettre::Address;
use secrecy::SecretString;

use luaplan_base::{CallOutcome, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Invocation, Tool, short_list};
use luaplan_catalog::ToolSpec;

use self::delivery::Conversation;
use self::message::{MessageDraft, looks_like_html};
use self::settings::Checked;

pub use settings::SendEmailSettings;

/// Longest subject in bytes.
const SUBJECT_BYTES_MAX: usize = 2_000;

/// The tool.
pub struct SendEmail {
    spec: ToolSpec,
    settings: Checked,
}

impl SendEmail {
    /// The tool `spec` describes, with checked settings. `password` is the content of the
    /// environment variable that `settings.password_env` names.
    ///
    /// # Errors
    /// `config_invalid` naming the key that cannot be used.
    pub fn new(spec: ToolSpec, settings: SendEmailSettings, password: Option<SecretString>) -> Result<Self> {
        Ok(Self { spec, settings: Checked::new(settings, password)? })
    }

    /// Tries the server: connects, starts TLS, authenticates, and quits. Sends nothing. Returns a
    /// sentence about the server.
    ///
    /// # Errors
    /// `smtp_failed` or `tool_timeout`, as a call would.
    pub async fn probe(&self) -> Result<String> {
        let probed = Conversation::new(&self.settings.server, self.time_for_server()).probe().await;
        probed.map_err(|failure| {
            let code = failure.code.parse().unwrap_or(ErrorCode::SmtpFailed);
            Error::new(code, failure.message)
        })
    }

    /// A little less than the whole call may take, so that the failure can name its phase.
    fn time_for_server(&self) -> Duration {
        self.spec.timeout - (self.spec.timeout / 10).min(Duration::from_secs(1))
    }

    async fn send(&self, invocation: &Invocation) -> CallOutcome {
        let draft = self.draft(&invocation.arguments)?;
        let recipients = self.recipients(&draft)?;
        let now = invocation.log.clock().now();
        let composed = draft.compose(&self.settings.from, &invocation.idempotency_key, now)?;
        let conversation = Conversation::new(&self.settings.server, self.time_for_server());
        let response =
            conversation.deliver(&self.settings.from.email, &recipients, &composed.content).await?;
        let size_bytes = i64::try_from(composed.content.len()).unwrap_or(i64::MAX);
        let recipients = recipients.iter().map(|address| Value::from(address.to_string())).collect();
        let receipt = [
            ("delivered", Value::Bool(true)),
            ("message_id", Value::String(composed.message_id)),
            ("recipients", Value::Array(recipients)),
            ("size_bytes", Value::Integer(size_bytes)),
            ("response", Value::String(response)),
        ];
        Ok(receipt.into_iter().collect())
    }

    fn draft(&self, arguments: &Value) -> Result<MessageDraft, ToolFailure> {
        let body = required_text(arguments, "body")?;
        let is_html = match arguments.get("html") {
            None | Some(Value::Null) => looks_like_html(body),
            Some(Value::Bool(is_html)) => *is_html,
            Some(other) => return Err(refuse(format!("`html` must be true or false, not {}", other.kind()))),
        };
        let draft = MessageDraft {
            to: recipients::parse("to", arguments.get("to"))?,
            cc: recipients::parse("cc", arguments.get("cc"))?,
            bcc: recipients::parse("bcc", arguments.get("bcc"))?,
            reply_to: recipients::parse("reply_to", arguments.get("reply_to"))?,
            subject: subject(arguments)?,
            body: body.to_owned(),
            is_html,
            attachments: attachments::parse(arguments.get("attachments"))?,
        };
        if draft.to.is_empty() {
            return Err(refuse("`to` holds no address"));
        }
        let size = draft.body.len() + draft.attachments.iter().map(|part| part.content.len()).sum::<usize>();
        within("body and attachments together", "bytes", self.settings.attachment_bytes_max, size as u64)?;
        Ok(draft)
    }

    /// Every address of the envelope once, in order; all of them allowed.
    fn recipients(&self, draft: &MessageDraft) -> Result<Vec<Address>, ToolFailure> {
        let mut recipients: Vec<Address> = Vec::new();
        for mailbox in draft.to.iter().chain(&draft.cc).chain(&draft.bcc) {
            if !recipients.contains(&mailbox.email) {
                recipients.push(mailbox.email.clone());
            }
        }
        within("the message", "recipients", self.settings.recipients_max as u64, recipients.len() as u64)?;
        // Answers go to `reply_to`, so it must be as trusted as a recipient; our own sender is.
        let replies = draft.reply_to.iter().map(|mailbox| &mailbox.email);
        let replies = replies.filter(|address| **address != self.settings.from.email);
        recipients.iter().chain(replies).try_for_each(|address| self.allowed(address))?;
        Ok(recipients)
    }

    fn allowed(&self, address: &Address) -> Result<(), ToolFailure> {
        if self.settings.allowed.allows(address) {
            return Ok(());
        }
        let message = format!("{address} is not on the list of allowed recipients; nothing was sent");
        Err(ToolFailure::new(ErrorCode::RecipientDenied, message)
            .with_detail("recipient", address.to_string()))
    }
}

#[async_trait]
impl Tool for SendEmail {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn planning_rules(&self) -> Vec<String> {
        let patterns = self.settings.allowed.patterns();
        let allowed = if patterns.is_empty() { "nobody".to_owned() } else { short_list(&patterns) };
        let most = self.settings.recipients_max;
        vec![format!("allowed recipients: {allowed}"), format!("at most {most} recipients a mail")]
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.send(&invocation).await
    }

    fn could_call(&self, arguments: &Value) -> Result<(), ToolFailure> {
        self.recipients(&self.draft(arguments)?).map(drop)
    }

    fn could_ever_call(&self, call: &ForeseenCall) -> Result<(), ToolFailure> {
        for name in ["to", "cc", "bcc", "reply_to"] {
            for text in call.texts(name) {
                for mailbox in recipients::parse(name, Some(&Value::from(text)))? {
                    if name != "reply_to" || mailbox.email != self.settings.from.email {
                        self.allowed(&mailbox.email)?;
                    }
                }
            }
        }
        if call.is_whole() { self.could_call(&call.arguments()) } else { Ok(()) }
    }
}

fn subject(arguments: &Value) -> Result<String, ToolFailure> {
    let subject = required_text(arguments, "subject")?;
    header_text::check(subject).map_err(|reason| refuse(format!("`subject` {reason}")))?;
    within("`subject`", "bytes", SUBJECT_BYTES_MAX as u64, subject.len() as u64)?;
    Ok(subject.to_owned())
}

fn required_text<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, ToolFailure> {
    match arguments.get(name) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Err(refuse(format!("`{name}` is missing"))),
        Some(other) => Err(refuse(format!("`{name}` must be text, not {}", other.kind()))),
    }
}

fn within(what: &str, unit: &str, limit: u64, observed: u64) -> Result<(), ToolFailure> {
    if observed <= limit {
        return Ok(());
    }
    let message = format!("{what}: {observed} {unit}, more than the {limit} allowed");
    Err(Error::new(ErrorCode::EmailInvalid, message).with_limit(limit, observed).into())
}

fn refuse(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ErrorCode::EmailInvalid, message)
}

#[cfg(test)]
mod tests;
