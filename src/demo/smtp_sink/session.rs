//! One client's conversation (RFC 5321, with RFC 1870, 2920, 3207, 4954, 6152 and 6531).

use std::io::Result;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncRead, AsyncWrite};

use super::lines::Lines;
use super::{ReceivedMail, Shared, SinkCredentials, SinkTls};

/// After so many refusals the server closes the connection.
const REFUSALS_MAX: u32 = 20;

struct Session<'a, S> {
    lines: Lines<S>,
    shared: &'a Shared,
    encrypted: bool,
    greeted: bool,
    user: Option<String>,
    from: Option<String>,
    to: Vec<String>,
}

enum Next {
    GoOn,
    Close,
    StartTls,
}

/// Serves until the client quits. Returns the connection where the client asked for TLS.
pub(super) async fn run<S>(stream: S, shared: &Shared, encrypted: bool) -> Result<Option<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let lines = Lines::new(stream, shared.options.idle);
    let mut session =
        Session { lines, shared, encrypted, greeted: false, user: None, from: None, to: Vec::new() };
    // After STARTTLS the server does not greet again (RFC 3207).
    if !encrypted || matches!(shared.options.tls, SinkTls::Implicit(_)) {
        session.lines.reply("220 localhost ESMTP luaplan mail sink").await?;
    }
    let mut refusals = 0;
    loop {
        let Some(line) = session.lines.command().await? else { return Ok(None) };
        let (reply, next) = session.answer(&line).await?;
        session.lines.reply(&reply).await?;
        match next {
            Next::GoOn => {}
            Next::Close => return Ok(None),
            Next::StartTls => return Ok(session.lines.into_inner()),
        }
        if reply.starts_with('5') {
            refusals += 1;
        }
        if refusals >= REFUSALS_MAX {
            session.lines.reply("421 too many refused commands").await?;
            return Ok(None);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<'_, S> {
    async fn answer(&mut self, line: &str) -> Result<(String, Next)> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let reply = match verb.to_ascii_uppercase().as_str() {
            "EHLO" => self.hello(true),
            "HELO" => self.hello(false),
            "NOOP" => "250 OK".to_owned(),
            "RSET" => {
                self.forget();
                "250 OK".to_owned()
            }
            "VRFY" | "EXPN" => "252 not told; send the message and see".to_owned(),
            "QUIT" => return Ok(("221 goodbye".to_owned(), Next::Close)),
            "STARTTLS" if self.may_start_tls() => {
                return Ok(("220 ready for TLS".to_owned(), Next::StartTls));
            }
            "AUTH" => self.authenticate(rest).await?,
            "MAIL" => self.mail(rest),
            "RCPT" => self.recipient(rest),
            "DATA" => self.data().await?,
            _ => "502 command not known".to_owned(),
        };
        Ok((reply, Next::GoOn))
    }

    fn hello(&mut self, extended: bool) -> String {
        self.forget();
        self.greeted = true;
        if !extended {
            return "250 localhost".to_owned();
        }
        let size = format!("SIZE {}", self.shared.options.message_bytes_max);
        let mut lines = vec!["localhost", &size, "8BITMIME", "SMTPUTF8", "PIPELINING"];
        if self.may_start_tls() {
            lines.push("STARTTLS");
        }
        if self.credentials().is_some() {
            lines.push("AUTH PLAIN LOGIN");
        }
        let last = lines.len() - 1;
        let marked = lines.iter().enumerate().map(|(at, line)| {
            let mark = if at == last { ' ' } else { '-' };
            format!("250{mark}{line}")
        });
        marked.collect::<Vec<_>>().join("\r\n")
    }

    fn may_start_tls(&self) -> bool {
        !self.encrypted && matches!(self.shared.options.tls, SinkTls::StartTls(_))
    }

    /// The required credentials, where the connection is encrypted enough for them.
    fn credentials(&self) -> Option<&SinkCredentials> {
        self.shared.options.credentials.as_ref().filter(|_| !self.may_start_tls())
    }

    async fn authenticate(&mut self, rest: &str) -> Result<String> {
        let Some(wanted) = self.credentials().cloned() else {
            return Ok("503 authentication is not offered here".to_owned());
        };
        let (mechanism, initial) = rest.split_once(' ').unwrap_or((rest, ""));
        let given = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => {
                let answer = if initial.is_empty() { self.ask("").await? } else { decode(initial) };
                answer.and_then(|text| {
                    let mut parts = text.splitn(3, '\0').skip(1).map(str::to_owned);
                    Some((parts.next()?, parts.next()?))
                })
            }
            "LOGIN" => {
                let user = if initial.is_empty() { self.ask("Username:").await? } else { decode(initial) };
                user.zip(self.ask("Password:").await?)
            }
            _ => return Ok("504 mechanism not known".to_owned()),
        };
        Ok(match given {
            Some((user, password))
                if user == wanted.username && password == wanted.password.expose_secret() =>
            {
                self.user = Some(user);
                "235 authenticated".to_owned()
            }
            Some(_) => "535 credentials not accepted".to_owned(),
            None => "501 credentials not understood".to_owned(),
        })
    }

    async fn ask(&mut self, challenge: &str) -> Result<Option<String>> {
        self.lines.reply(&format!("334 {}", BASE64.encode(challenge))).await?;
        Ok(self.lines.command().await?.as_deref().and_then(decode))
    }

    fn mail(&mut self, rest: &str) -> String {
        if !self.greeted || self.from.is_some() {
            return "503 say EHLO first, and MAIL once for each message".to_owned();
        }
        if self.shared.options.credentials.is_some() && self.user.is_none() {
            return "530 authentication required".to_owned();
        }
        let Some((address, parameters)) = path(rest, "FROM:") else {
            return "501 expected MAIL FROM:<address>".to_owned();
        };
        for parameter in parameters.split_ascii_whitespace() {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let fits = match name.to_ascii_uppercase().as_str() {
                "SIZE" => value.parse::<usize>().map(|size| size <= self.shared.options.message_bytes_max),
                "BODY" | "SMTPUTF8" | "AUTH" => Ok(true),
                _ => return "555 parameter not known".to_owned(),
            };
            match fits {
                Ok(true) => {}
                Ok(false) => return "552 message too large".to_owned(),
                Err(_) => return "501 SIZE is not a number".to_owned(),
            }
        }
        self.from = Some(address);
        "250 OK".to_owned()
    }

    fn recipient(&mut self, rest: &str) -> String {
        if self.from.is_none() {
            return "503 say MAIL first".to_owned();
        }
        match path(rest, "TO:") {
            Some((address, "")) if address.contains('@') => {
                if self.to.len() >= self.shared.options.recipients_max {
                    return "452 too many recipients".to_owned();
                }
                self.to.push(address);
                "250 OK".to_owned()
            }
            Some((_, parameters)) if !parameters.is_empty() => "555 parameter not known".to_owned(),
            _ => "501 expected RCPT TO:<address>".to_owned(),
        }
    }

    async fn data(&mut self) -> Result<String> {
        if self.to.is_empty() {
            return Ok("503 say MAIL and RCPT first".to_owned());
        }
        self.lines.reply("354 go on, end with a lone dot").await?;
        let content = self.lines.content(self.shared.options.message_bytes_max).await?;
        let from = self.from.take().unwrap_or_default();
        let to = std::mem::take(&mut self.to);
        let Some(content) = content else { return Ok("552 message too large".to_owned()) };
        let mail = ReceivedMail {
            path: Default::default(),
            from,
            to,
            size_bytes: content.len(),
            authenticated_as: self.user.clone(),
            encrypted: self.encrypted,
        };
        Ok(match self.shared.keep(mail, &content).await {
            Ok(()) => "250 kept".to_owned(),
            Err(error) => {
                tracing::warn!(%error, "the mail sink cannot keep a message");
                "452 cannot keep the message".to_owned()
            }
        })
    }

    fn forget(&mut self) {
        self.from = None;
        self.to.clear();
    }
}

/// `FROM:<address> parameters` as address and parameters.
fn path<'a>(rest: &'a str, keyword: &str) -> Option<(String, &'a str)> {
    let head = rest.get(..keyword.len())?;
    if !head.eq_ignore_ascii_case(keyword) {
        return None;
    }
    let (address, parameters) = rest[keyword.len()..].trim_start().strip_prefix('<')?.split_once('>')?;
    Some((address.to_owned(), parameters.trim()))
}

fn decode(text: &str) -> Option<String> {
    String::from_utf8(BASE64.decode(text.trim()).ok()?).ok()
}
