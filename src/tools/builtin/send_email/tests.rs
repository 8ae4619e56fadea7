use std::time::Duration;

use lettre::Address;
use serde_json::{Value as Json, json};

use luaplan_base::{Error, Result};
use luaplan_catalog::read_manifest;

use super::message::looks_like_html;
use super::recipients::RecipientAllowList;
use super::settings::{Checked, Encryption, SendEmailSettings};

fn read(changes: &Json) -> std::result::Result<SendEmailSettings, serde_json::Error> {
    let mut all = json!({ "smtp": "smtp://127.0.0.1:2525", "from": "reports@company.com" });
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    serde_json::from_value(all)
}

fn check(changes: &Json, password: Option<&str>) -> Result<Checked> {
    Checked::new(read(changes).unwrap(), password.map(Into::into))
}

fn refusal(changes: &Json, password: Option<&str>) -> Error {
    match check(changes, password) {
        Ok(_) => panic!("{changes} was taken"),
        Err(error) => error,
    }
}

#[test]
fn another_machine_is_never_spoken_to_in_plain_unless_that_is_written_down() {
    for (smtp, port, encryption) in [
        ("smtp://127.0.0.1:2525", 2525, "plain"),
        ("smtp://localhost", 25, "plain"),
        ("smtp://[::1]:26", 26, "plain"),
        ("smtp://127.0.0.1?tls=required", 587, "starttls"),
        ("smtp://mail.company.com", 587, "starttls"),
        ("smtp://10.0.0.1", 587, "starttls"),
        ("smtp://localhost.company.com", 587, "starttls"),
        ("smtp://mail.company.com/?tls=required", 587, "starttls"),
        ("smtp://mail.company.com?tls=none", 25, "plain"),
        ("smtp://mail.company.com?tls=opportunistic", 25, "opportunistic"),
        ("smtps://mail.company.com", 465, "implicit"),
        ("smtps://mail.company.com:4650", 4650, "implicit"),
    ] {
        let server = check(&json!({ "smtp": smtp }), None).unwrap().server;
        let found = match server.encryption {
            Encryption::Plain => "plain",
            Encryption::StartTls(_) => "starttls",
            Encryption::Opportunistic(_) => "opportunistic",
            Encryption::Implicit(_) => "implicit",
        };
        assert_eq!((server.port, found), (port, encryption), "{smtp}");
    }
}

#[test]
fn unusable_settings_are_refused_with_the_key_that_is_wrong() {
    for (key, changes) in [
        ("smtp", json!({ "smtp": "mail.company.com" })),
        ("smtp", json!({ "smtp": "http://mail.company.com" })),
        ("smtp", json!({ "smtp": "smtp://" })),
        ("smtp", json!({ "smtp": "smtp://user:hidden-word@mail.company.com" })),
        ("smtp", json!({ "smtp": "smtp://mail.company.com/path" })),
        ("smtp", json!({ "smtp": "smtp://mail.company.com?tls=maybe" })),
        ("smtp", json!({ "smtp": "smtp://mail.company.com?tls=none&tls=required" })),
        ("smtp", json!({ "smtp": "smtp://mail.company.com?verify=no" })),
        ("smtp", json!({ "smtp": "smtps://mail.company.com?tls=none" })),
        ("from", json!({ "from": "nobody" })),
        ("from", json!({ "from": "a@company.com\r\nBcc: b@company.com" })),
        ("allow_recipients", json!({ "allow_recipients": ["company.com"] })),
        ("allow_recipients", json!({ "allow_recipients": ["*"] })),
        ("allow_recipients", json!({ "allow_recipients": ["a@b@c.com"] })),
        ("allow_recipients", json!({ "allow_recipients": [""] })),
        ("username", json!({ "password_env": "MAIL_PASSWORD" })),
        ("password_env", json!({ "username": "mailer" })),
        ("attachment_bytes_max", json!({ "attachment_bytes_max": 0 })),
        ("recipients_max", json!({ "recipients_max": 0 })),
        ("hello_name", json!({ "hello_name": "a b\r\nMAIL FROM:<x@y.z>" })),
        ("ca_file", json!({ "smtp": "smtps://mail.company.com", "ca_file": "/does/not/exist.pem" })),
        ("ca_file", json!({ "smtp": "smtps://mail.company.com", "ca_file": "Cargo.toml" })),
    ] {
        let error = refusal(&changes, None);
        assert_eq!(error.code().as_str(), "config_invalid", "{changes}");
        let expected = format!("tools.send_email.{key} ");
        assert!(error.message().starts_with(&expected), "{changes}: {}", error.message());
        assert!(!error.message().contains("hidden-word"));
        assert!(!error.message().chars().any(char::is_control));
    }
}

#[test]
fn a_password_must_be_there_and_never_crosses_the_network_in_plain() {
    let login = json!({ "username": "mailer", "password_env": "MAIL_PASSWORD" });
    assert!(refusal(&login, None).message().contains("MAIL_PASSWORD"));
    assert!(check(&login, Some("word")).unwrap().server.login.is_some());
    let mut remote = login.clone();
    remote["smtp"] = json!("smtp://mail.company.com?tls=none");
    assert!(refusal(&remote, Some("word")).message().contains("unencrypted"));
    remote["smtp"] = json!("smtp://mail.company.com");
    assert!(check(&remote, Some("word")).is_ok());
}

#[test]
fn unknown_and_missing_settings_are_refused_and_sizes_may_be_written_in_words() {
    assert!(read(&json!({ "alow_recipients": [] })).is_err());
    assert!(read(&json!({ "attachment_bytes_max": "many" })).is_err());
    assert!(serde_json::from_value::<SendEmailSettings>(json!({ "from": "a@company.com" })).is_err());
    assert_eq!(read(&json!({})).unwrap().attachment_bytes_max, 20 << 20);
    assert_eq!(read(&json!({ "attachment_bytes_max": "2MiB" })).unwrap().attachment_bytes_max, 2 << 20);
    assert_eq!(read(&json!({ "attachment_bytes_max": 7 })).unwrap().attachment_bytes_max, 7);
}

#[test]
fn the_allow_list_means_what_it_says() {
    for (pattern, address, allowed) in [
        ("*@company.com", "a@company.com", true),
        ("*@Company.COM", "a@company.com", true),
        ("*@company.com", "a@company.com.evil.example", false),
        ("*@company.com", "a@sub.company.com", false),
        ("*@*.company.com", "a@sub.company.com", true),
        ("*@*.company.com", "a@company.com", false),
        ("*@*company.com", "a@evilcompany.com", true),
        ("a@company.com", "a@company.com", true),
        ("a@company.com", "A@company.com", false),
        ("a@company.com", "aa@company.com", false),
        ("team-*@company.com", "team-1@company.com", true),
        ("team-*@company.com", "steam-1@company.com", false),
        ("*-team-*@company.com", "a-team-b@company.com", true),
        ("a*b*c@company.com", "abc@company.com", true),
        ("a*b*c@company.com", "acb@company.com", false),
        ("ab*ba@company.com", "aba@company.com", false),
        ("*@bücher.example", "a@xn--bcher-kva.example", true),
        ("*@*", "anyone@anywhere.example", true),
    ] {
        let list = RecipientAllowList::parse(&[pattern.to_owned()]).unwrap();
        let address: Address = address.parse().unwrap();
        assert_eq!(list.allows(&address), allowed, "{pattern} {address}");
    }
    assert!(!RecipientAllowList::parse(&[]).unwrap().allows(&"a@company.com".parse().unwrap()));
}

#[test]
fn html_is_told_from_text() {
    for (body, is_html) in [
        ("<p>Hello</p>", true),
        ("  \n<!DOCTYPE html><html></html>", true),
        ("<!doctype html>", true),
        ("<!-- made by hand -->\nhello", true),
        ("<h1 class=\"a\">x", true),
        ("<br/>x", true),
        ("<TABLE>\n<tr>", true),
        ("Hello <b>you</b>", true),
        ("Dear all,\n<ul><li>one</li></ul>", true),
        ("plain", false),
        ("", false),
        ("<", false),
        ("1 < 2 and 3 > 2", false),
        ("<user1@example.com> wrote", false),
        ("<pretty>", false),
        ("a </ b", false),
        ("x </xml>", false),
        ("# Title\n\n- a\n- b", false),
        ("<ü>", false),
    ] {
        assert_eq!(looks_like_html(body), is_html, "{body}");
    }
}

#[test]
fn the_server_gets_less_time_than_the_call() {
    let manifest = include_str!("../../../../tools/send_email.toml");
    for (timeout_ms, server_ms) in [(30_000, 29_000), (1_000, 900), (10, 9)] {
        let settings = read(&json!({})).unwrap();
        let mut spec = read_manifest(manifest, "send_email.toml").unwrap();
        spec.timeout = Duration::from_millis(timeout_ms);
        let tool = super::SendEmail::new(spec, settings, None).unwrap();
        assert_eq!(tool.time_for_server(), Duration::from_millis(server_ms));
    }
}

#[test]
fn the_default_mocks_fit_the_manifests_result() {
    for (manifest, mock) in [
        (
            include_str!("../../../../tools/send_email.toml"),
            include_str!("../../../../tools/send_email.mock.json"),
        ),
        (
            include_str!("../../../../tools/call_llm.toml"),
            include_str!("../../../../tools/call_llm.mock.json"),
        ),
    ] {
        let spec = read_manifest(manifest, "manifest").unwrap();
        let mock: Json = serde_json::from_str(mock).unwrap();
        assert!(jsonschema::is_valid(&spec.result, &mock), "{}", spec.name);
    }
}
