//! What every section of the configuration is read with: durations, and refusals that name the key.

use std::time::Duration;

use luaplan_base::{Error, ErrorCode, Result, nearest, parse_duration};
use luaplan_catalog::toml_error::{plainly, unknown_field};

use super::mask::mask_passwords;

/// `rates.wait_max` where calls wait as long as their run may last.
pub(super) const AS_LONG_AS_THE_RUN: &str = "run";

pub(super) fn duration(key: &str, text: &str) -> Result<Duration> {
    parse_duration(text).map_err(|error| keyed(key, &error))
}

/// A time after which something ends; none would end it before it begins.
pub(super) fn timeout(key: &str, text: &str) -> Result<Duration> {
    match duration(key, text)? {
        Duration::ZERO => Err(invalid(key, text, "a time above zero")),
        above => Ok(above),
    }
}

pub(crate) fn keyed(key: &str, error: &Error) -> Error {
    Error::new(error.code(), format!("{key}: {}", error.message()))
        .with_help(error.help().to_owned())
        .with_detail("key", key)
}

pub(super) fn invalid(key: &str, seen: &str, expected: &str) -> Error {
    let seen = mask_passwords(seen);
    Error::new(ErrorCode::ConfigInvalid, format!("{key} is `{seen}`, expected {expected}"))
        .with_detail("key", key)
}

/// As [`refused`], for a file of which `text` is at hand: a key that stands twice is named.
pub(super) fn refused_in(error: &toml::de::Error, place: &str, text: &str) -> Error {
    match error.span().and_then(|span| text.get(span)) {
        Some(key) if error.message() == "duplicate key" => {
            Error::new(ErrorCode::ConfigInvalid, format!("{place}: duplicate key `{key}`"))
                .with_help("its table has it already: keep one of the two")
        }
        _ => refused(error, place),
    }
}

/// What TOML says, as an error of ours: `config_unknown_key` or `config_invalid`, with the nearest
/// known key and without the passwords of values it repeats.
pub(crate) fn refused(error: &toml::de::Error, place: &str) -> Error {
    let message = mask_passwords(&plainly(error.message().trim_end()));
    let unknown = unknown_field(&message);
    let code = if unknown.is_some() { ErrorCode::ConfigUnknownKey } else { ErrorCode::ConfigInvalid };
    let refused = Error::new(code, format!("{place}: {message}"));
    let Some((field, known)) = unknown else { return refused };
    match nearest(field, known) {
        Some(near) => refused.with_help(format!("did you mean `{near}`?")),
        None => refused.with_help("remove it, or use one of the keys named in the message"),
    }
}
