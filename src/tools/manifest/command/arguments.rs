//! Makes the words of the command from settings and arguments.

use luaplan_base::{ToolFailure, Value};

use super::settings::CommandSettings;
use crate::manifest::{Arguments, bad_arguments};

/// The most bytes of all words together; well below what systems take.
const WORDS_BYTES_MAX: usize = 64 * 1024;

/// The words after filling in. A word that is only a placeholder is omitted where its argument is
/// absent, and becomes several words where that is a list.
///
/// # Errors
/// `bad_arguments` for an argument that would become an option: one that starts a word with `-`
/// without a `--` of the manifest before it.
pub(super) fn words(settings: &CommandSettings, arguments: &Arguments) -> Result<Vec<String>, ToolFailure> {
    let mut words = Vec::new();
    let mut options_ended = false;
    for template in &settings.argv {
        options_ended |= template.literal() == Some("--");
        for word in template.fill_each(arguments)? {
            if word.contains('\0') {
                return Err(bad_arguments(format!("{} holds a NUL byte", named(template.names()))));
            }
            if template.begins_with_argument() && word.starts_with('-') && !options_ended {
                return Err(bad_arguments(format!(
                    "{} begins with `-` and would be read as an option; no command was run",
                    named(template.names())
                )));
            }
            words.push(word);
        }
    }
    let observed: usize = words.iter().map(String::len).sum();
    if observed > WORDS_BYTES_MAX {
        return Err(bad_arguments(format!("the command's arguments have more than {WORDS_BYTES_MAX} bytes"))
            .with_detail("limit", WORDS_BYTES_MAX as i64)
            .with_detail("observed", observed as i64));
    }
    Ok(words)
}

fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What goes to standard input: text as it is, anything else as JSON.
pub(super) fn input(settings: &CommandSettings, arguments: &Arguments) -> Vec<u8> {
    match settings.stdin.as_ref().and_then(|name| arguments.get(name)) {
        None => Vec::new(),
        Some(value) => match value.as_bytes() {
            Some(bytes) => bytes.to_vec(),
            None => Value::to_json_text(value).into_bytes(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(argv: &[&str], arguments: serde_json::Value) -> Result<Vec<String>, ToolFailure> {
        let settings = toml::Table::from_iter([("argv".to_owned(), argv.to_vec().into())]);
        let settings: CommandSettings = settings.try_into().unwrap();
        let Value::Object(arguments) = Value::from_json(arguments).unwrap() else { panic!("not an object") };
        words(&settings, &arguments)
    }

    #[test]
    fn an_argument_never_becomes_an_option() {
        for hostile in ["-rf", "--output=/etc/passwd", "-"] {
            let refused = filled(&["grep", "{x}"], json!({"x": hostile})).unwrap_err();
            assert_eq!(refused.code, "bad_arguments");
            assert!(refused.message.contains("`x`"), "{}", refused.message);
            let listed = filled(&["cat", "{x}"], json!({"x": ["fine", hostile]})).unwrap_err();
            assert_eq!(listed.code, "bad_arguments");
            assert_eq!(
                filled(&["grep", "--", "{x}"], json!({"x": hostile})).unwrap(),
                ["grep", "--", hostile]
            );
            let part = filled(&["grep", "--regexp={x}"], json!({"x": hostile})).unwrap();
            assert_eq!(part, ["grep", &format!("--regexp={hostile}")]);
        }
        // A `--` that comes from an argument ends nothing.
        assert!(filled(&["cat", "{x}", "{y}"], json!({"x": "--", "y": "-n"})).is_err());
        assert!(filled(&["cat", "{x}"], json!({"x": "a\u{0}b"})).is_err());
    }

    #[test]
    fn words_stay_words() {
        let argv = ["p", "{list}", "{absent}", "a{n}b", "{text}"];
        let given = json!({"list": ["x y", "$(id)"], "n": -1, "text": "; rm -rf / # '\""});
        assert_eq!(filled(&argv, given).unwrap(), ["p", "x y", "$(id)", "a-1b", "; rm -rf / # '\""]);
        assert_eq!(filled(&["p", "{n}"], json!({"n": -1})).unwrap_err().code, "bad_arguments");
    }
}
