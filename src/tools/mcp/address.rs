//! The printable address of a server at a `url`: its query and its user may hold a key.

use percent_encoding::percent_decode_str;
use url::Url;

/// A parameter whose name ends like this has a secret value.
const SECRET_ENDINGS: [&str; 11] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "credential",
    "credentials",
    "signature",
    "sig",
    "auth",
];

/// A printable address, and the means to remove the rest of it from a text.
#[derive(Clone)]
pub(super) struct Address {
    shown: String,
    /// Parts of the whole address only, and their replacements.
    hidden: Vec<(String, String)>,
}

impl Address {
    pub(super) fn new(url: &str) -> Self {
        let mut hidden = Vec::new();
        let normal = Url::parse(url).map(String::from).ok();
        for form in std::iter::once(url).chain(normal.as_deref()) {
            let (before, rest) = cut(form);
            // In front of the host, or it would be taken out where it says something else.
            if let Some((_, host)) = before.rsplit_once('@')
                && let Some((_, user)) = before.strip_suffix(host).unwrap_or_default().split_once("://")
            {
                hidden.push((format!("://{user}"), "://…@".to_owned()));
            }
            if rest.len() > 1 {
                hidden.push((rest.to_owned(), "?…".to_owned()));
            }
        }
        Self { shown: shown_address(url), hidden }
    }

    /// Without user and query.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The text without the hidden parts of this address.
    pub(super) fn hide(&self, mut text: String) -> String {
        for (whole, stand_in) in &self.hidden {
            if text.contains(whole.as_str()) {
                text = text.replace(whole.as_str(), stand_in);
            }
        }
        text
    }
}

/// The address without user, query and fragment: `…@` and `?…` say where one was.
#[must_use]
pub fn shown_address(url: &str) -> String {
    let (before, rest) = cut(url);
    let before = match before.rsplit_once('@') {
        Some((user, host)) => {
            let scheme = user.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
            format!("{scheme}…@{host}")
        }
        None => before.to_owned(),
    };
    if rest.is_empty() { before } else { format!("{before}?…") }
}

/// The secrets of the address, by position or name: a password, and the values of parameters with secret names.
#[must_use]
pub fn secrets_of_address(url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let mut secrets = Vec::new();
    if let Some(password) = url.password() {
        secrets.extend([password.to_owned(), percent_decode_str(password).decode_utf8_lossy().into_owned()]);
    }
    for pair in url.query().into_iter().flat_map(|query| query.split('&')) {
        let Some((name, value)) = pair.split_once('=') else { continue };
        let name = name.to_ascii_lowercase();
        if !value.is_empty() && SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            let spaced = value.replace('+', " ");
            secrets.extend([value.to_owned(), percent_decode_str(&spaced).decode_utf8_lossy().into_owned()]);
        }
    }
    secrets
}

/// Up to the query or fragment, and from there.
fn cut(url: &str) -> (&str, &str) {
    url.split_at(url.find(['?', '#']).unwrap_or(url.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_query_and_fragment_are_not_shown() {
        for (url, shown) in [
            ("https://example.com/mcp", "https://example.com/mcp"),
            ("https://example.com:8443/mcp?key=k1&v=2", "https://example.com:8443/mcp?…"),
            ("https://user:pw@example.com/mcp", "https://…@example.com/mcp"),
            ("https://token@example.com?a", "https://…@example.com?…"),
            ("https://u:p@x@example.com/#part", "https://…@example.com/?…"),
            ("user:pw@example.com/mcp?key=k1", "…@example.com/mcp?…"),
        ] {
            assert_eq!(shown_address(url), shown);
        }
    }

    #[test]
    fn a_text_loses_what_is_not_shown_in_either_form() {
        let address = Address::new("https://us er:pw@example.com/mcp?key=k 1");
        let text = "error for https://us%20er:pw@example.com/mcp?key=k%201, was https://us er:pw@example.com/mcp?key=k 1";
        let expected = "error for https://…@example.com/mcp?…, was https://…@example.com/mcp?…";
        assert_eq!(address.hide(text.to_owned()), expected);
        let plain = Address::new("https://example.com/mcp?");
        assert_eq!(plain.hide("is it? yes".to_owned()), "is it? yes");
    }

    #[test]
    fn a_password_and_what_is_called_a_key_are_secret() {
        let secrets = secrets_of_address("https://me:p%40w@example.com/mcp?api_key=a%2Bb&version=2&X-Sig=s");
        assert_eq!(secrets, ["p%40w", "p@w", "a%2Bb", "a+b", "s", "s"]);
        assert!(secrets_of_address("https://example.com/mcp?version=2").is_empty());
    }
}
