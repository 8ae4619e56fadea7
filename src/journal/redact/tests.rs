//! Redaction: what is found, in which disguise, and what stays.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::json;

use super::keys::looks_secret;
use super::*;
use crate::base::{CallId, ContentHash, Effect};
use crate::journal::EventBody;

const SECRET: &str = "s3cr&t/päss word\"+";

fn redactor() -> Redactor {
    Redactor::new(vec![SECRET.into(), "ab".into(), String::new()])
}

#[test]
fn a_known_secret_is_found_inside_text_in_every_disguise() {
    let percent: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let forms = [
        SECRET.to_owned(),
        percent.clone(),
        percent.replace('+', "%20"),
        percent.to_lowercase().replace('+', "%20"),
        json!(SECRET).to_string().trim_matches('"').to_owned(),
    ];
    for form in forms {
        assert_eq!(redactor().text(&format!("a {form} z")), format!("a {REDACTED} z"), "{form}");
    }
}

#[test]
fn what_other_languages_make_of_a_secret_is_found_too() {
    let secret = "k9/Zq+7L&w<\"d\u{fc}'";
    let redactor = Redactor::new(vec![secret.to_owned()]);
    for form in [
        // PHP's JSON, JavaScript's and Python's.
        r#"k9\/Zq+7L&w<\"d\u00fc'"#,
        r#"k9/Zq+7L&w<\"d\u00FC'"#,
        // JavaScript's encodeURIComponent and encodeURI, Python's quote.
        "k9%2FZq%2B7L%26w%3C%22d%C3%BC'",
        "k9/Zq+7L&w%3C%22d%C3%BC'",
        "k9/Zq%2B7L%26w%3C%22d%C3%BC%27",
        // HTML.
        "k9/Zq+7L&amp;w&lt;&quot;d\u{fc}&#39;",
        "k9/Zq+7L&amp;w&lt;&quot;d\u{fc}&#x27;",
    ] {
        assert_eq!(redactor.text(&format!("a {form} z")), format!("a {REDACTED} z"), "{form}");
    }
}

/// As .NET and others write JSON: which characters are escaped is theirs to choose.
#[test]
fn a_secret_whose_characters_are_escaped_is_found() {
    let secret = "k9/Zq+7L&w<\"d\u{fc}'";
    let redactor = Redactor::new(vec![secret.to_owned()]);
    let all: String = secret.chars().map(|c| format!("\\u{:04X}", u32::from(c))).collect();
    let packed = all.replace('\\', "\\\\");
    let twice = packed.replace('\\', "\\\\");
    for form in [
        r#"k9/Zq\u002B7L\u0026w\u003C\u0022d\u00FC\u0027"#,
        r#"k9\/Zq\u002b7L&w\u003c\"dü'"#,
        all.as_str(),
        packed.as_str(),
        twice.as_str(),
    ] {
        assert_eq!(
            redactor.text(&format!("a \\u0041 {form} z")),
            format!("a \\u0041 {REDACTED} z"),
            "{form}"
        );
    }
    let both = format!("{secret} and {all}, not \\u0041");
    assert_eq!(redactor.text(&both), format!("{REDACTED} and {REDACTED}, not \\u0041"));
    // Percent encoding and base64 may be escaped in turn.
    assert_eq!(redactor.text("k9%2FZq%2B7L\\u002526w%3C%22d%C3%BC%27"), REDACTED);
}

#[test]
fn a_known_secret_is_found_in_base64_at_every_offset() {
    for before in ["", "u", "us", "user:", "user1:"] {
        for after in ["", "!", "!!", "!!!"] {
            for engine in [STANDARD, URL_SAFE] {
                let encoded = engine.encode(format!("{before}{SECRET}{after}"));
                let safe = redactor().text(&format!("Basic {encoded}"));
                assert!(safe.contains(REDACTED), "{before}|{after}: {safe}");
                let left: String = safe.replace(REDACTED, "").replace("Basic ", "");
                assert!(left.len() <= before.len() * 4 / 3 + after.len() * 4 / 3 + 4, "{safe}");
            }
        }
    }
}

#[test]
fn a_very_short_secret_is_replaced_only_where_it_stands_alone() {
    assert_eq!(redactor().text("ab"), REDACTED);
    assert_eq!(redactor().text("about"), "about");
}

#[test]
fn passwords_in_urls_go_and_the_rest_of_the_url_stays() {
    let redactor = Redactor::without_secrets();
    assert_eq!(
        redactor.text("see postgres://u:p@ss@h:5432/d?x=1 and https://u:x@b, http://host:80/a@b"),
        "see postgres://u:[redacted]@h:5432/d?x=1 and https://u:[redacted]@b, http://host:80/a@b"
    );
}

#[test]
fn keys_that_look_secret_are_told_from_keys_that_do_not() {
    for name in ["password", "X-Auth-Token", "dbPassword", "api_key", "APIKEY", "Set-Cookie", "privateKey"] {
        assert!(looks_secret(name), "{name}");
    }
    for name in ["max_tokens", "primary_key", "key", "author", "cookiecutter", "secretary", "apikeys_url"] {
        assert!(!looks_secret(name), "{name}");
    }
}

#[test]
fn arguments_lose_values_under_secret_keys_and_results_do_not() {
    let document = || json!({"headers": {"Authorization": "Bearer abc"}, "url": "ftp://u:p@h", "n": 1});
    let mut started = EventBody::ToolCallStarted {
        call_id: CallId::single(1),
        tool: "fetch_url".into(),
        effect: Effect::Read,
        arguments: document(),
        arguments_hash: ContentHash::of(b""),
        line: None,
        idempotency_key: String::new(),
        rule: None,
        allowed_by: None,
        planned_arguments_hash: None,
    };
    redactor().event(&mut started);
    let EventBody::ToolCallStarted { arguments, .. } = started else { unreachable!() };
    assert_eq!(
        arguments,
        json!({"headers": {"Authorization": "[redacted]"}, "url": "ftp://u:[redacted]@h", "n": 1})
    );

    let mut result = json!({"body": document(), SECRET: [SECRET], format!("x{SECRET}"): 2});
    redactor().document(&mut result);
    assert_eq!(result, json!({"body": document(), "[redacted]": ["[redacted]"], "x[redacted]": 2}));
}

#[test]
fn keys_that_differ_only_in_a_secret_stay_apart() {
    let redactor = Redactor::new(vec!["secret-one".into(), "secret-two".into()]);
    let mut document = json!({"?k=secret-one": 1, "?k=secret-two": 2});
    redactor.document(&mut document);
    assert_eq!(document, json!({"?k=[redacted]": 1, "?k=[redacted]'": 2}));
}
