//! Reads the TOML library's error messages, as it reports some facts only there. No other file does.

/// The key inside the value that the error is about, where the message names it: in the last line of
/// its long form, "in `a.b`".
#[must_use]
pub fn faulty_key(error: &toml::de::Error) -> Option<String> {
    let text = error.to_string();
    let last = text.trim_end().lines().last()?;
    Some(last.strip_prefix("in `")?.strip_suffix('`')?.to_owned())
}

/// The key and the known keys of "unknown field `a`, expected one of `b`, `c`".
#[must_use]
pub fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let mut quoted = message.strip_prefix("unknown field `")?.split('`');
    let field = quoted.next()?;
    Some((field, quoted.skip(1).step_by(2).collect()))
}

/// The library's words for kinds of values, and those of TOML's users.
const KINDS: [(&str, &str); 12] = [
    ("a nonzero u32", "a whole number from 1 to 4294967295"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number of 0 or more"),
    ("usize", "a whole number of 0 or more"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a boolean", "`true` or `false`"),
    ("a string", "text"),
    ("path string", "text"),
    ("a sequence", "a list"),
    ("a map", "a table"),
];

/// How much of a value a message repeats.
const SEEN_CHARACTERS_MAX: usize = 60;

/// The library's message in TOML's words, with only as much of the value as identifies it.
#[must_use]
pub fn plainly(message: &str) -> String {
    if message.starts_with("data did not match any variant") {
        return "expected a number or text".to_owned();
    }
    let typed = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let Some((seen, expected)) = typed.and_then(|typed| typed.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let kind = &message[..message.len() - seen.len() - expected.len() - ", expected ".len()];
    let expected = KINDS.iter().find(|(library, _)| *library == expected).map_or(expected, |(_, ours)| ours);
    let seen = match seen {
        "sequence" => "a list",
        "map" => "a table",
        seen => seen,
    };
    let shown: String = seen.chars().take(SEEN_CHARACTERS_MAX).collect();
    let rest = if shown.len() < seen.len() { "…" } else { "" };
    format!("{kind}{shown}{rest}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::plainly;

    #[test]
    fn a_fault_is_told_in_words_of_toml() {
        for (library, ours) in [
            ("invalid type: integer `7`, expected a string", "invalid type: integer `7`, expected text"),
            ("invalid type: map, expected a sequence", "invalid type: a table, expected a list"),
            (
                "invalid value: integer `-1`, expected u32",
                "invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
            ),
            ("data did not match any variant of untagged enum NumberOrText", "expected a number or text"),
            ("duplicate key", "duplicate key"),
        ] {
            assert_eq!(plainly(library), ours);
        }
        let long = plainly(&format!("invalid type: string \"{}\", expected u16", "x".repeat(5_000)));
        assert!(long.len() < 160 && long.ends_with("…, expected a whole number from 0 to 65535"), "{long}");
    }
}
