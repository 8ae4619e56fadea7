//! Configuration and messages without passwords, for showing.

use serde_json::Value as Json;
use toml::Value as Toml;

use luaplan_tools::mcp::shown_address;

/// What stands where a password stood.
const MASK: &str = "***";

/// Query parameters of addresses whose value is a secret.
const SECRET_PARAMETERS: [&str; 6] = ["password", "passwd", "token", "secret", "api_key", "apikey"];

/// `text` with the passwords of all addresses in it masked: `scheme://user:PASSWORD@host` and
/// `?password=…`. Where a password holds unescaped `/` or `@`, rather too much goes than too little.
#[must_use]
pub fn mask_passwords(text: &str) -> String {
    mask_parameters(&mask_authorities(text))
}

pub(super) fn mask_value(value: &Toml) -> Toml {
    match value {
        Toml::String(text) => Toml::String(mask_passwords(text)),
        Toml::Array(items) => Toml::Array(items.iter().map(mask_value).collect()),
        Toml::Table(table) => {
            Toml::Table(table.iter().map(|(key, value)| (key.clone(), mask_value(value))).collect())
        }
        other => other.clone(),
    }
}

/// What may be shown of a value that `[mcp.NAME]` sends to a server, where that is not all of it: the query of its
/// `url` may hold a key under any name, and a header that names no variable is one.
pub(super) fn mask_of_mcp(key: &str, value: &Toml) -> Option<Toml> {
    let (_, rest) = key.strip_prefix("mcp.")?.split_once('.')?;
    let text = value.as_str()?;
    match rest {
        "url" => Some(Toml::String(shown_address(text))),
        _ if rest.starts_with("headers.") && !text.starts_with("env:") => Some(Toml::String(MASK.to_owned())),
        _ => None,
    }
}

/// As [`mask_passwords`], in every string of a document.
pub fn mask_json(json: &mut Json) {
    match json {
        Json::String(text) => *text = mask_passwords(text),
        Json::Array(items) => items.iter_mut().for_each(mask_json),
        Json::Object(members) => members.values_mut().for_each(mask_json),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn ends_address(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '`' | '\'' | '<' | '>' | ',')
}

fn mask_authorities(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        masked.push_str(before);
        let end = after.find(ends_address).unwrap_or(after.len());
        let address = &after[..end];
        let password = address.rfind('@').and_then(|at| {
            let colon = address[..at].find(':')?;
            Some((colon + 1, at))
        });
        match password {
            Some((from, to)) => {
                masked.push_str(&address[..from]);
                masked.push_str(MASK);
                masked.push_str(&address[to..]);
            }
            None => masked.push_str(address),
        }
        rest = &after[end..];
    }
    masked.push_str(rest);
    masked
}

fn mask_parameters(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['?', '&']) {
        let (before, after) = rest.split_at(at + 1);
        masked.push_str(before);
        rest = after;
        let Some((name, value)) = after.split_once('=') else { continue };
        if !SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let end = value.find(|c: char| ends_address(c) || matches!(c, '&' | '#')).unwrap_or(value.len());
        masked.push_str(name);
        masked.push('=');
        masked.push_str(MASK);
        rest = &value[end..];
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_of_an_address_is_left() {
        for (text, expected) in [
            ("postgres://user1:pw@host/db", "postgres://user1:***@host/db"),
            ("postgres://user1:p@w/x?y@host:5432/db", "postgres://user1:***@host:5432/db"),
            ("mysql://host/db?password=pw&ssl=on", "mysql://host/db?password=***&ssl=on"),
            ("mysql://host/db?ssl=on&PASSWORD=pw", "mysql://host/db?ssl=on&PASSWORD=***"),
            ("see `redis://:pw@h` and \"smtp://u:pw@h\"", "see `redis://:***@h` and \"smtp://u:***@h\""),
            ("https://host:8080/path?page=2", "https://host:8080/path?page=2"),
            ("is it? token=x & more", "is it? token=x & more"),
            ("user1@example.com: nothing", "user1@example.com: nothing"),
        ] {
            assert_eq!(mask_passwords(text), expected);
        }
    }
}
