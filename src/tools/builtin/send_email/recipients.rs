//! Addresses: their form, and the allowed recipients.

use lettre::Address;
use lettre::message::{Mailbox, Mailboxes};
use url::Host;

use luaplan_base::{ErrorCode, ToolFailure, Value};

use super::header_text;

/// The longest text one address argument may be.
const ADDRESSES_BYTES_MAX: usize = 32 * 1024;

/// Reads the argument `name`: one string (also with commas), or a list of such strings.
pub(super) fn parse(name: &str, argument: Option<&Value>) -> Result<Vec<Mailbox>, ToolFailure> {
    match argument {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let mut mailboxes = Vec::new();
            for item in items {
                mailboxes.extend(parse_text(name, item)?);
            }
            Ok(mailboxes)
        }
        Some(value) => parse_text(name, value),
    }
}

fn parse_text(name: &str, value: &Value) -> Result<Vec<Mailbox>, ToolFailure> {
    let refuse = |reason: &str| ToolFailure::new(ErrorCode::EmailInvalid, format!("`{name}` {reason}"));
    let Some(text) = value.as_str() else {
        return Err(refuse(&format!("must be an address or a list of addresses, not {}", value.kind())));
    };
    if text.len() > ADDRESSES_BYTES_MAX {
        return Err(refuse(&format!("is longer than {ADDRESSES_BYTES_MAX} bytes")));
    }
    header_text::check(text).map_err(|reason| refuse(&reason))?;
    let shown = header_text::shorten(text);
    let parsed: Mailboxes = text
        .trim()
        .parse()
        .map_err(|_| refuse(&format!("is not an address or a list of addresses: `{shown}`")))?;
    let mailboxes = Vec::<Mailbox>::from(parsed);
    if mailboxes.is_empty() {
        return Err(refuse("holds no address"));
    }
    mailboxes
        .into_iter()
        .map(|mailbox| normalize(mailbox).map_err(|reason| refuse(&format!("`{shown}` {reason}"))))
        .collect()
}

/// Reads the configured sender.
pub(super) fn parse_sender(text: &str) -> Result<Mailbox, String> {
    header_text::check(text)?;
    normalize(text.trim().parse().map_err(|_| "is not an address".to_owned())?)
}

/// One form for each address: plain ASCII local part, domain in lower-case ASCII (IDNA).
///
/// Quoted local parts, address literals and source routes (`%`, `!`) are refused: servers read
/// them differently, so the allow list could mean one mailbox and the server another.
fn normalize(mailbox: Mailbox) -> Result<Mailbox, String> {
    let user = mailbox.email.user();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
    if !user.is_ascii() {
        return Err("has a part before the @ that is not ASCII, which is not supported".to_owned());
    }
    if !user.bytes().all(plain) || user.contains(['%', '!']) {
        return Err("has quotes, spaces, `%` or `!` before the @, which is not supported".to_owned());
    }
    // Mail programs read these as an option, a program to run or a file to write.
    if user.starts_with(['-', '/', '&', '~']) || user.contains(['|', '`']) {
        return Err("begins with `-`, `/`, `&` or `~`, or has `|` or a backquote before the @, which is not supported".to_owned());
    }
    let not_a_domain = || "needs a domain name after the @".to_owned();
    let Ok(Host::Domain(domain)) = Host::parse(mailbox.email.domain()) else { return Err(not_a_domain()) };
    if !domain.contains('.') && domain != "localhost" {
        return Err(not_a_domain());
    }
    let email = Address::new(user, &domain).map_err(|_| not_a_domain())?;
    let name = mailbox.name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    Ok(Mailbox::new(name, email))
}

/// The allowed recipients.
pub(super) struct RecipientAllowList(Vec<(String, String)>);

impl RecipientAllowList {
    /// # Errors
    /// The pattern that is none.
    pub(super) fn parse<'a>(patterns: &'a [String]) -> Result<Self, &'a String> {
        let parse = |pattern: &'a String| {
            let refuse = || pattern;
            let (local, domain) = pattern.trim().split_once('@').ok_or_else(refuse)?;
            let clean = |part: &str| {
                !part.is_empty()
                    && !part.contains('@')
                    && header_text::check(part).is_ok()
                    && !part.contains(' ')
            };
            if !clean(local) || !clean(domain) {
                return Err(refuse());
            }
            // Only a pattern without wildcard is a domain that IDNA can turn to ASCII.
            let domain = match Host::parse(domain) {
                Ok(Host::Domain(domain)) if !domain.contains('*') => domain,
                _ if domain.is_ascii() => domain.to_ascii_lowercase(),
                _ => return Err(refuse()),
            };
            Ok((local.to_owned(), domain))
        };
        patterns.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// The patterns as configured.
    pub(super) fn patterns(&self) -> Vec<String> {
        self.0.iter().map(|(local, domain)| format!("{local}@{domain}")).collect()
    }

    /// The part before the @ is compared as written, the domain without regard to case. A `*`
    /// stands for any number of characters on its own side of the @.
    pub(super) fn allows(&self, address: &Address) -> bool {
        let domain = address.domain().to_ascii_lowercase();
        self.0.iter().any(|(local_pattern, domain_pattern)| {
            matches(local_pattern, address.user()) && matches(domain_pattern, &domain)
        })
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(tail)
}
