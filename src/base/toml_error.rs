//! What the library that reads TOML tells of a fault in words alone: this file, and no other, reads those words.

/// The key inside the value that TOML does not like, where it says so: it does in the last line of
/// the long form, "in `a.b`".
pub(crate) fn faulty_key(error: &toml::de::Error) -> Option<String> {
    let text = error.to_string();
    let last = text.trim_end().lines().last()?;
    Some(last.strip_prefix("in `")?.strip_suffix('`')?.to_owned())
}

/// The key and the known keys of "unknown field `a`, expected one of `b`, `c`".
pub(crate) fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let mut quoted = message.strip_prefix("unknown field `")?.split('`');
    let field = quoted.next()?;
    Some((field, quoted.skip(1).step_by(2).collect()))
}
