//! Redaction: what is found, in which disguise, and what stays.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::json;

use luaplan_base::{CallId, ContentHash, Effect};

use super::keys::looks_secret;
use super::*;
use crate::EventBody;

const SECRET: &str = "s3cr&t/päss word\"+";

fn redactor() -> Redactor {
    Redactor::new(vec![SECRET.into(), "ab".into(), String::new()])
}

#[test]
fn a_known_secret_is_found_inside_text_in_every_disguise() {
    let percent: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let forms = [
        SECRET.to_owned(),
        SECRET.to_ascii_uppercase(),
        SECRET.to_ascii_lowercase(),
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

/// JSON in JSON escapes the escapes, and a line break is an escape there.
#[test]
fn a_secret_is_found_however_deep_its_json_is_packed() {
    let (secret, lines) = ("s3cr&t/pass word\"+\\", "hush-hush\n-9f3a");
    let redactor = Redactor::new(vec![secret.to_owned(), lines.replace('\n', "")]);
    let packed = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
    for text in [secret, lines] {
        let mut form = text.to_owned();
        for depth in 0..=DEPTH_MAX {
            assert_eq!(redactor.text(&format!("a {form} z")), "a [redacted] z", "{depth}: {form}");
            form = packed(&form);
        }
    }
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

/// As mail (76 and CRLF), PEM (64 and LF), YAML and folded headers break it, as it is and inside JSON.
#[test]
fn base64_of_a_secret_that_is_broken_into_lines_is_found() {
    let secret = "k9/Zq+7L".repeat(20);
    let redactor = Redactor::new(vec![secret.clone(), SECRET.to_owned()]);
    let packed = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
    for engine in [STANDARD, URL_SAFE] {
        for before in 0..80 {
            let digits = engine.encode(format!("{}{secret}and after", "u".repeat(before)));
            for (width, line_end) in [(76, "\r\n"), (64, "\n"), (60, "\n    "), (72, "\r\n\t"), (5, "\n")] {
                let lines: Vec<&str> =
                    digits.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
                let once = lines.join(line_end);
                let slashes = packed(&once).replace('/', "\\/");
                let coded = once.replace('\n', "\\u000a").replace('\r', "\\u000d");
                for text in [once.clone(), packed(&once), packed(&packed(&once)), slashes, coded] {
                    let safe = redactor.text(&format!("to: you\n\n{text}\n.\nbye"));
                    let rest = safe.replace("\\u000a", "").replace("\\u000d", "");
                    let left = rest.bytes().filter(u8::is_ascii_alphanumeric).count();
                    // What is left: the words around, what was encoded before and after, its line ends.
                    assert!(safe.contains(REDACTED) && left <= 40 + before * 2, "{before} {text}: {safe}");
                    assert!(safe.starts_with("to: you\n\n") && safe.ends_with("\n.\nbye"), "{safe}");
                }
            }
        }
    }
    let digits = STANDARD.encode(SECRET);
    let (first, second) = digits.split_at(10);
    assert_eq!(redactor.text(&format!("a\n{first}\n{second}\nz")), "a\n[redacted]==\nz");
    assert_eq!(
        redactor.text(&format!("{first}\n{digits}\n{second}")),
        format!("{first}\n[redacted]==\n{second}")
    );
    // Words on lines of their own are no base64 of it; the secret itself, broken in two, is it.
    let apart = format!("one\ntwo\n{}\n{}\nthree", &SECRET[..6], &SECRET[6..]);
    assert_eq!(redactor.text(&apart), "one\ntwo\n[redacted]\nthree");
    let mut result =
        json!({"body": format!("{first}\r\n{second}"), "rows": [[format!("x{first}\n{second}")]]});
    redactor.document(&mut result);
    assert!(!result.to_string().contains(&first[..6]), "{result}");
}

#[test]
fn a_very_short_secret_takes_nothing_out() {
    assert_eq!(redactor().text("ab about ab"), "ab about ab");
}

#[test]
fn a_secret_in_hexadecimal_in_two_lines_or_as_a_number_is_found() {
    let redactor = Redactor::new(vec![SECRET.into(), "4711081547".into()]);
    let hexadecimal: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let shown: String = SECRET
        .bytes()
        .map(|byte| if byte.is_ascii() { format!("\\x{byte:02x}") } else { String::new() })
        .collect();
    assert_eq!(redactor.text(&format!("a {hexadecimal} z")), "a [redacted] z");
    assert_eq!(redactor.text(&hexadecimal.to_uppercase()), REDACTED);
    assert!(shown.len() > 40, "{shown}");
    let ascii = Redactor::new(vec!["hush-hush-9f3a".into()]);
    let shown: String = "hush-hush-9f3a".bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    let every: String = "hush-hush-9f3a".bytes().map(|byte| format!("%{byte:02x}")).collect();
    for form in [shown, every, "hush%2Dhush-9f3a".into(), "hu\r\n  sh-hush-\n9f3a".into()] {
        assert_eq!(ascii.text(&format!("a {form} z")), "a [redacted] z", "{form}");
    }
    let mut document = json!({"n": 4_711_081_547_u64, "m": 4_711_081_548_u64, "t": "4711081547"});
    redactor.document(&mut document);
    assert_eq!(document, json!({"n": "[redacted]", "m": 4_711_081_548_u64, "t": "[redacted]"}));
}

#[test]
fn keys_are_known_by_their_form_where_a_redactor_has_forms() {
    let forms = SecretForms::new("redact.patterns", &[]).unwrap();
    let with = Redactor::new(vec![SECRET.into()]).with_forms(forms);
    let key = "sk-abcdefghijklmnopqrstuvwx12345678";
    let mut document = json!({"a": format!("x {key}"), key: "\\u0073k-abcdefghijklmnopqrstuvwx12345678"});
    with.document(&mut document);
    assert_eq!(document, json!({"a": "x [redacted]", "[redacted]": "[redacted]"}));
    assert_eq!(redactor().text(key), key);
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
        untrusted_ways: Vec::new(),
        waited_ms: None,
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
