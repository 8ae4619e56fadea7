//! The address of a request: its host is fixed, and arguments are encoded for their position.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use url::Url;

use luaplan_base::ToolFailure;

use crate::manifest::{Arguments, Template, bad_arguments};

/// Everything but the characters RFC 3986 calls unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// An address with places for arguments in its path and query.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct UrlTemplate {
    /// Scheme, host and port.
    base: Url,
    segments: Vec<Template>,
    query: Option<Template>,
}

impl TryFrom<String> for UrlTemplate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err("the URL has white space or a control character in it".to_owned());
        }
        if text.contains('#') {
            return Err("a fragment (`#…`) is never sent; leave it out".to_owned());
        }
        let (scheme, rest) = text
            .split_once("://")
            .filter(|(scheme, _)| matches!(*scheme, "http" | "https"))
            .ok_or_else(|| "it must begin with `https://` or `http://`".to_owned())?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.contains(['{', '}']) {
            return Err("the host is fixed: arguments have their places in path and query".to_owned());
        }
        if authority.contains('@') {
            return Err("no user or password in the URL; use `auth` with the name of a secret".to_owned());
        }
        let base = Url::parse(&format!("{scheme}://{authority}"))
            .map_err(|error| format!("`{scheme}://{authority}` is not a URL: {error}"))?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(Template::parse(query)?)),
            None => (rest, None),
        };
        let segments = path.strip_prefix('/').unwrap_or(path).split('/');
        let segments = segments.map(Template::parse).collect::<Result<Vec<_>, _>>()?;
        if segments.iter().any(|segment| segment.literal().is_some_and(is_dots)) {
            return Err("the path may not hold `.` or `..`".to_owned());
        }
        Ok(Self { base, segments, query })
    }
}

fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

impl UrlTemplate {
    /// Scheme, host and port, with `/` as path.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Every text with places for arguments; `true` where each must have a value.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&Template, bool)> {
        self.segments
            .iter()
            .map(|segment| (segment, true))
            .chain(self.query.iter().map(|query| (query, true)))
    }

    /// The address with its arguments.
    ///
    /// # Errors
    /// `bad_arguments` for arguments that would change the path: empty ones, `.` and `..`.
    pub(super) fn fill(&self, arguments: &Arguments) -> Result<Url, ToolFailure> {
        let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
        let absent = || bad_arguments("an argument of the address is not given");
        let mut text = self.base.as_str().trim_end_matches('/').to_owned();
        for segment in &self.segments {
            let filled = segment.fill(arguments, encode)?.ok_or_else(absent)?;
            let named = || segment.names().collect::<Vec<_>>().join("`, `");
            if segment.literal().is_none() && (filled.is_empty() || is_dots(&filled)) {
                return Err(bad_arguments(format!(
                    "`{}` would change the path of the address: it may not be empty, `.` or `..`",
                    named()
                )));
            }
            text.push('/');
            text.push_str(&filled);
        }
        if let Some(query) = &self.query {
            text.push('?');
            text.push_str(&query.fill(arguments, encode)?.ok_or_else(absent)?);
        }
        let url =
            Url::parse(&text).map_err(|error| bad_arguments(format!("no address comes of it: {error}")))?;
        // A second check, in case the encoding above is wrong.
        let segments = url.path_segments().map_or(0, Iterator::count);
        if url.origin() != self.base.origin() || segments != self.segments.len() {
            return Err(bad_arguments("the arguments would lead to another host or path"));
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use luaplan_base::Value;

    fn fill(template: &str, argument: &str) -> Result<String, ToolFailure> {
        let template = UrlTemplate::try_from(template.to_owned()).unwrap();
        let arguments: Arguments = [("x".to_owned(), Value::from(argument))].into_iter().collect();
        template.fill(&arguments).map(|url| url.to_string())
    }

    #[test]
    fn arguments_are_encoded_by_their_place_and_never_change_it() {
        const PATH: &str = "https://api.example.com/v1/items/{x}/parts";
        assert_eq!(fill(PATH, "7").unwrap(), "https://api.example.com/v1/items/7/parts");
        for (argument, expected) in [
            ("a/b", "a%2Fb"),
            ("../../admin", "..%2F..%2Fadmin"),
            ("%2e%2e", "%252e%252e"),
            ("?q=1#f", "%3Fq%3D1%23f"),
            ("@evil.example:80", "%40evil.example%3A80"),
            ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"),
            ("\\\\evil", "%5C%5Cevil"),
            ("ü", "%C3%BC"),
            ("{x}", "%7Bx%7D"),
        ] {
            assert_eq!(fill(PATH, argument).unwrap(), PATH.replace("{x}", expected), "{argument}");
        }
        for argument in ["", ".", ".."] {
            assert_eq!(fill(PATH, argument).unwrap_err().code, "bad_arguments", "{argument}");
        }
        let query = fill("https://api.example.com/s?q={x}&n=1", "a&b=c d").unwrap();
        assert_eq!(query, "https://api.example.com/s?q=a%26b%3Dc%20d&n=1");
        assert_eq!(fill("https://api.example.com/a.{x}", ".").unwrap(), "https://api.example.com/a..");
        assert_eq!(fill("https://api.example.com/.{x}", ".").unwrap_err().code, "bad_arguments");
        assert_eq!(fill("https://api.example.com/%2e{x}", ".").unwrap_err().code, "bad_arguments");
    }

    #[test]
    fn the_host_belongs_to_the_manifest() {
        for refused in [
            "https://{x}/a",
            "https://api.{x}.example.com/a",
            "{x}://api.example.com/",
            "https://api.example.com:{x}/",
            "https://user:{x}@api.example.com/",
            "https://user:pw@api.example.com/",
            "ftp://api.example.com/",
            "https://api.example.com/a#{x}",
            "https://api.example.com/../a",
            "https://api.example.com/a b",
            "https:///a",
            "api.example.com/a",
        ] {
            assert!(UrlTemplate::try_from(refused.to_owned()).is_err(), "{refused}");
        }
    }
}
