//! The conversation with the mail server.

use std::fmt::Write as _;
use std::future::Future;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lettre::Address;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Noop, Rcpt};
use lettre::transport::smtp::response::{Response, Severity};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, timeout, timeout_at};

use luaplan_base::{ErrorCode, Result, ToolFailure, Value};

use super::header_text::neutralize;
use super::settings::{Encryption, MailServer};

/// How long to wait for the answer to QUIT; the mail is delivered by then.
const QUIT_WAIT: Duration = Duration::from_millis(500);

/// The phase of the conversation, as failures name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Connect,
    StartTls,
    Authenticate,
    Envelope,
    Content,
}

impl Phase {
    fn words(self) -> &'static str {
        match self {
            Self::Connect => "connecting and greeting",
            Self::StartTls => "starting TLS",
            Self::Authenticate => "authenticating",
            Self::Envelope => "naming sender and recipients",
            Self::Content => "sending the message",
        }
    }
}

/// One conversation, with a fixed deadline.
pub(super) struct Conversation<'a> {
    server: &'a MailServer,
    deadline: Instant,
    allowed: Duration,
}

impl<'a> Conversation<'a> {
    /// A conversation that takes at most `allowed` from now on.
    pub(super) fn new(server: &'a MailServer, allowed: Duration) -> Self {
        Self { server, deadline: Instant::now() + allowed, allowed }
    }

    /// Delivers the message to all recipients or to none.
    pub(super) async fn deliver(
        &self,
        from: &Address,
        recipients: &[Address],
        content: &[u8],
    ) -> Result<String, ToolFailure> {
        let mut connection = self.open().await?;
        self.step(Phase::Envelope, connection.command(Mail::new(Some(from.clone()), Vec::new()))).await?;
        let mut refused = Vec::new();
        for recipient in recipients {
            let command = connection.command(Rcpt::new(recipient.clone(), Vec::new()));
            match self.step(Phase::Envelope, command).await {
                Ok(_) => {}
                Err(failure) if failure.details.contains_key("smtp_code") => {
                    refused.push((recipient, failure));
                }
                Err(failure) => return Err(failure),
            }
        }
        if !refused.is_empty() {
            Self::quit(connection).await;
            return Err(refusal(&refused));
        }
        // A reply out of order (a man in the middle can insert one before TLS) must not pass for an
        // acceptance, so the exact kind of reply is required here.
        let go_on = self.step(Phase::Envelope, connection.command(Data)).await?;
        if !go_on.has_code(354) {
            return Err(failure(&format!("the mail server answered DATA with {}", self.shown(&go_on))));
        }
        // The library ends the last line itself; with its own end the message would grow by one.
        let content = content.strip_suffix(b"\r\n").unwrap_or(content);
        let response = self.step(Phase::Content, connection.message(content)).await?;
        if response.code().severity != Severity::PositiveCompletion {
            return Err(in_doubt(&format!(
                "the mail server answered the message with {}",
                self.shown(&response)
            )));
        }
        Self::quit(connection).await;
        Ok(self.shown(&response))
    }

    /// Everything up to the message, with NOOP in its place.
    pub(super) async fn probe(&self) -> Result<String, ToolFailure> {
        let mut connection = self.open().await?;
        self.step(Phase::Envelope, connection.command(Noop)).await?;
        let name = neutralize(connection.server_info().name());
        let tls = if connection.is_encrypted() { "TLS" } else { "no TLS" };
        let login = if self.server.login.is_some() { "authenticated" } else { "no authentication" };
        Self::quit(connection).await;
        Ok(format!("{name} at {}:{} answers ({tls}, {login})", self.server.host, self.server.port))
    }

    async fn open(&self) -> Result<AsyncSmtpConnection, ToolFailure> {
        let server = self.server;
        let implicit = match &server.encryption {
            Encryption::Implicit(tls) => Some(tls.clone()),
            _ => None,
        };
        let address = (server.host.as_str(), server.port);
        let connect = AsyncSmtpConnection::connect_tokio1(address, None, &server.hello, implicit, None);
        let mut connection = self.step(Phase::Connect, connect).await?;
        let starttls = match &server.encryption {
            Encryption::StartTls(tls) => Some(tls),
            Encryption::Opportunistic(tls) if connection.can_starttls() => Some(tls),
            _ => None,
        };
        if let Some(tls) = starttls {
            self.step(Phase::StartTls, connection.starttls(tls.clone(), &server.hello)).await?;
        }
        if let Some((username, password)) = &server.login {
            if !connection.is_encrypted() && !server.is_loopback {
                return Err(failure("the server offers no TLS, and the password is not sent without it"));
            }
            let credentials = Credentials::new(username.clone(), password.expose_secret().to_owned());
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            self.step(Phase::Authenticate, connection.auth(&mechanisms, &credentials)).await?;
        }
        Ok(connection)
    }

    async fn step<T>(
        &self,
        phase: Phase,
        action: impl Future<Output = Result<T, SmtpError>>,
    ) -> Result<T, ToolFailure> {
        match timeout_at(self.deadline, action).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.refused(phase, &error)),
            Err(_) => Err(self.silent(phase)),
        }
    }

    fn silent(&self, phase: Phase) -> ToolFailure {
        let (words, allowed_ms) = (phase.words(), self.allowed.as_millis());
        let message = format!("the mail server did not answer within {allowed_ms} ms while {words}");
        if phase == Phase::Content {
            return in_doubt(&message);
        }
        ToolFailure::new(ErrorCode::ToolTimeout, message)
            .retryable()
            .with_detail("limit", i64::try_from(allowed_ms).unwrap_or(i64::MAX))
    }

    fn refused(&self, phase: Phase, error: &SmtpError) -> ToolFailure {
        let words = phase.words();
        let reason = neutralize(&self.without_secret(&with_causes(error)));
        if let Some(code) = error.status() {
            let said = format!(
                "{code} {}",
                std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
            );
            let said = neutralize(&self.without_secret(&said));
            let failure = failure(&format!("the mail server refused while {words}: {said}"))
                .with_detail("smtp_code", i64::from(u16::from(code)))
                .with_detail("response", said);
            return if error.is_transient() { failure.retryable() } else { failure };
        }
        let mut message = format!("the mail server failed while {words}: {reason}");
        if phase == Phase::Connect && reason.to_lowercase().contains("connection refused") {
            let _ = write!(message, "; is the server running at {}:{}?", self.server.host, self.server.port);
        }
        match phase {
            Phase::Content => in_doubt(&message),
            // No retry helps before a setting changes: a certificate, a mechanism, a missing feature.
            _ if error.is_client() || is_tls_refusal(error) => failure(&message),
            _ => failure(&message).retryable(),
        }
    }

    fn shown(&self, response: &Response) -> String {
        let lines = response.message().collect::<Vec<_>>().join(" ");
        neutralize(&self.without_secret(&format!("{} {lines}", response.code())))
    }

    /// A server may repeat what the client sent, in the encoding of the wire.
    fn without_secret(&self, text: &str) -> String {
        let Some((username, password)) = &self.server.login else { return text.to_owned() };
        let password = password.expose_secret();
        let plain = BASE64.encode(format!("\0{username}\0{password}"));
        let forms = [plain, BASE64.encode(password), password.to_owned()];
        let forms = forms.iter().filter(|form| !form.is_empty());
        forms.fold(text.to_owned(), |text, form| text.replace(form, "[password]"))
    }

    async fn quit(mut connection: AsyncSmtpConnection) {
        let _ = timeout(QUIT_WAIT, connection.quit()).await;
    }
}

fn failure(message: &str) -> ToolFailure {
    ToolFailure::new(ErrorCode::SmtpFailed, message)
}

/// The content is out and no answer came: the server may have taken the message.
fn in_doubt(message: &str) -> ToolFailure {
    failure(&format!("{message}; it is not known whether the mail was delivered"))
        .with_detail("in_doubt", true)
}

fn refusal(refused: &[(&Address, ToolFailure)]) -> ToolFailure {
    let described = |(address, failure): &(&Address, ToolFailure)| -> Value {
        let response = failure.details.get("response").cloned().unwrap_or_default();
        [("address", Value::from(address.to_string())), ("response", response)].into_iter().collect()
    };
    let names = refused.iter().map(|(address, _)| address.to_string()).collect::<Vec<_>>().join(", ");
    let message = format!("the mail server refused {names}; nothing was sent");
    let failure =
        failure(&message).with_detail("refused", Value::Array(refused.iter().map(described).collect()));
    if refused.iter().all(|(_, failure)| failure.retryable) { failure.retryable() } else { failure }
}

fn with_causes(error: &SmtpError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error).and_then(std::error::Error::source);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

fn is_tls_refusal(error: &SmtpError) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            return io.kind() == std::io::ErrorKind::InvalidData;
        }
        cause = inner.source();
    }
    false
}
