use std::time::Duration;

use serde_json::json;

use luaplan_base::{Effect, ErrorCode};

use super::*;

const LEAST: &str = r#"
name = "look"
description = "Looks."
effect = "read"
kind = "builtin"
params = { type = "object", properties = { b = { type = "string" }, a = { type = "string" } } }
"#;

#[test]
fn a_full_manifest_is_read_whole() {
    let catalog = fixtures();
    let spec = catalog.get("send_note").unwrap();
    assert_eq!(spec.effect, Effect::Send);
    assert!(!spec.idempotent);
    assert_eq!(spec.rate.to_string(), "30/m");
    assert_eq!((spec.burst, spec.concurrency), (5, 2));
    assert_eq!(spec.timeout, Duration::from_secs(10));
    assert_eq!(spec.capability, "note.send");
    assert_eq!(spec.kind, ToolKind::Builtin);
    assert_eq!(spec.price_micro_usd, Some(250));
    assert_eq!(spec.settings["channel"].as_str(), Some("main"));
    assert_eq!(spec.arguments["to"], ArgumentRole::Authority);
    let names: Vec<&str> = spec.parameters().map(|(name, _)| name).collect();
    assert_eq!(names, ["to", "subject", "body", "files", "format", "copies"]);
}

#[test]
fn what_a_manifest_leaves_out_has_a_value() {
    let spec = read_manifest(LEAST, "look.toml").unwrap();
    assert!(spec.idempotent, "a tool that only reads may be repeated");
    assert_eq!(spec.rate.to_string(), "60/m");
    assert_eq!((spec.burst, spec.concurrency), (10, 4));
    assert_eq!(spec.timeout, Duration::from_secs(30));
    assert_eq!(spec.capability, "tool.look");
    assert_eq!(spec.result, json!({}));
    let names: Vec<&str> = spec.parameters().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a"], "the order of the file, not of the alphabet");
}

#[test]
fn a_folder_is_read_in_the_order_of_its_names() {
    let catalog = fixtures();
    let names: Vec<&str> = catalog.names().collect();
    assert_eq!(names, ["desk.search", "find_rows", "list_days", "send_note"]);
    let error = load_folder(std::path::Path::new("/nowhere")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigUnreadable);
}

#[test]
fn a_file_must_be_named_after_its_tool() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("other.toml"), LEAST).unwrap();
    let error = load_folder(folder.path()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigInvalid);
    assert!(
        error.message().ends_with("`name` is `look`; it must be the file's own name, `other`"),
        "{error}"
    );
}

#[test]
fn every_fault_names_file_key_what_was_seen_and_what_is_allowed() {
    let cases = [
        (
            "effect = \"read\"",
            "effect = \"delete\"",
            "`effect` is `delete`; it must be one of read, write, send, spend",
        ),
        (
            "kind = \"builtin\"",
            "kind = \"python\"",
            "`kind` is `python`; it must be one of builtin, http, sql",
        ),
        ("name = \"look\"", "name = \"Look\"", "`name` is `Look`; it must be lower-case"),
        ("name = \"look\"", "name = \"a.b.c\"", "`name` is `a.b.c`"),
        ("name = \"look\"", "name = \"desk.end\"", "`name` is `desk.end`"),
        ("name = \"look\"", "name = \"a.\"", "`name` is `a.`"),
        ("\"Looks.\"", "\" \"", "`description` is empty"),
        ("kind =", "rate = \"0/m\"\nkind =", "`rate`: `0/m` is not a rate"),
        ("kind =", "timeout = \"soon\"\nkind =", "`timeout`: `soon` is not a duration"),
        ("kind =", "timeout = \"0s\"\nkind =", "`timeout` is zero"),
        ("kind =", "burst = 0\nkind =", "`burst` is 0; it must be a whole number from 1"),
        ("kind =", "concurrency = -1\nkind =", "`concurrency` is -1"),
        ("kind =", "price_micro_usd = -1\nkind =", "`price_micro_usd` is -1"),
        ("kind =", "capability = \"\"\nkind =", "`capability` is empty"),
        ("type = \"object\"", "type = \"array\"", "`params.type` is \"array\"; it must be \"object\""),
        (
            "type = \"object\"",
            "required = [\"c\"], type = \"object\"",
            "`params.required` is `c`; it must be a parameter: b, a",
        ),
        ("{ type = \"string\" }, a", "{ type = \"text\" }, a", "`params` is not a JSON Schema"),
        (
            "kind =",
            "arguments = { c = \"id\" }\nkind =",
            "`arguments` is about `c`; it must be a parameter: b, a",
        ),
        (
            "kind =",
            "arguments = { a = \"boss\" }\nkind =",
            "`arguments.a` is `boss`; it must be one of authority, id, content",
        ),
        (
            "kind =",
            "idempotent = \"yes\"\nkind =",
            "line 5: invalid type: string \"yes\", expected a boolean, in `idempotent = \"yes\"`",
        ),
        ("effect = \"read\"\n", "", "missing field `effect`"),
        ("kind =", "kind ==", "line 5: "),
    ];
    for (from, to, expected) in cases {
        let error = read_manifest(&LEAST.replacen(from, to, 1), "look.toml").unwrap_err();
        assert_eq!(error.code(), ErrorCode::ConfigInvalid, "{to}");
        assert!(error.message().starts_with("look.toml"), "{error}");
        assert!(error.message().contains(expected), "expected `{expected}` in: {error}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest() {
    let text = LEAST.replacen("kind =", "rates = \"1/s\"\nkind =", 1);
    let error = read_manifest(&text, "look.toml").unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConfigUnknownKey);
    assert_eq!(error.message(), "look.toml, line 5: unknown key `rates`");
    assert!(error.help().contains("did you mean `rate`?"), "{}", error.help());
}

#[test]
fn configuration_changes_only_what_it_names() {
    let mut spec = read_manifest(LEAST, "look.toml").unwrap();
    let change: ToolOverride = toml::from_str("rate = \"2/s\"\ntimeout = \"1m\"\nenabled = false").unwrap();
    change.apply(&mut spec);
    assert!(!change.is_enabled());
    assert!(ToolOverride::default().is_enabled());
    assert_eq!(spec.rate.to_string(), "2/s");
    assert_eq!(spec.timeout, Duration::from_secs(60));
    assert_eq!((spec.burst, spec.concurrency), (10, 4));
    for refused in ["rate = \"often\"", "burst = 0", "timeout = \"0s\"", "databases = {}", "enabled = 1"] {
        assert!(toml::from_str::<ToolOverride>(refused).is_err(), "{refused}");
    }
}
