use std::net::IpAddr;
use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};

use luaplan_base::{ErrorCode, ToolFailure, Value};

use super::arguments::FetchArguments;
use super::settings::FetchUrlSettings;
use crate::net::allow_list::AllowList;
use crate::net::failure::retry_after;
use crate::net::guard::{BlockedAddress, admit, parse_url, permitted};

/// What the guard says to a URL whose name leads to `addresses`, as the case file spells it.
fn verdict(allow_hosts: &str, url: &str, addresses: &str) -> String {
    let entries: Vec<String> = list(allow_hosts).map(str::to_owned).collect();
    let allow = AllowList::parse("fetch_url", &entries).unwrap();
    let admitted = parse_url(url).and_then(|url| admit(&allow, &url));
    match admitted {
        Err(failure) => spell(&failure),
        Ok(_) if addresses.is_empty() => "ok".to_owned(),
        Ok(permission) => {
            let found: Vec<IpAddr> = list(addresses).map(|address| address.parse().unwrap()).collect();
            match permitted("host", &found, permission) {
                Ok(_) => "ok".to_owned(),
                Err(error) => {
                    format!("url_blocked {}", error.downcast_ref::<BlockedAddress>().unwrap().rule)
                }
            }
        }
    }
}

fn spell(failure: &ToolFailure) -> String {
    match failure.details.get("rule").and_then(Value::as_str) {
        Some(rule) => format!("{} {rule}", failure.code),
        None => failure.code.clone(),
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[test]
fn the_guard_says_what_the_case_file_says() {
    let mut rows = 0;
    for line in include_str!("guard_cases.txt").lines() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [allow_hosts, url, addresses, expected] = columns[..] else { panic!("not four columns: {line}") };
        let url = url.replace("\\r", "\r").replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0");
        assert_eq!(verdict(allow_hosts, &url, addresses), expected, "{line}");
        rows += 1;
    }
    assert!(rows > 140, "the case file lost rows: {rows}");
}

#[test]
fn only_public_addresses_of_a_mixed_name_are_connected_to() {
    let found: Vec<IpAddr> = ["10.0.0.7", "1.1.1.1", "::1"].map(|address| address.parse().unwrap()).into();
    let allow = AllowList::parse("fetch_url", &[]).unwrap();
    let permission = admit(&allow, &parse_url("http://mixed.example/").unwrap()).unwrap();
    assert_eq!(permitted("mixed.example", &found, permission).unwrap(), [found[1]]);
}

#[test]
fn entries_that_are_not_hosts_are_refused_when_configuration_is_read() {
    for entry in [
        "",
        "http://example.com",
        "example.com/path",
        "user@example.com",
        "*.",
        "**.example.com",
        "a.*.com",
        "*example.com",
        "example.com:0",
        "example.com:70000",
        "example.com:",
        "::1",
        "*.127.0.0.1",
        "exa mple.com",
    ] {
        let error = AllowList::parse("fetch_url", &[entry.to_owned()]).expect_err(entry);
        assert_eq!(error.code(), ErrorCode::ConfigInvalid, "{entry}");
        assert!(error.message().contains(entry), "{error}");
    }
}

#[test]
fn settings_read_sizes_and_durations_as_text_and_refuse_unknown_keys() {
    let settings: FetchUrlSettings = toml::from_str(
        "allow_hosts = [\"example.com\"]\nbytes_max_per_url = \"1MiB\"\nbytes_max_total = 4096\nurl_timeout = \"1m\"",
    )
    .unwrap();
    assert_eq!(settings.bytes_max_per_url, 1024 * 1024);
    assert_eq!(settings.bytes_max_total, 4096);
    assert_eq!(settings.url_timeout, Duration::from_secs(60));
    assert_eq!(settings.redirects_max, 5);
    assert!(toml::from_str::<FetchUrlSettings>("allow_host = []").is_err());
    assert!(toml::from_str::<FetchUrlSettings>("url_timeout = \"soon\"").is_err());
    let zero = FetchUrlSettings { batch_concurrency: 0, ..FetchUrlSettings::default() };
    assert!(zero.check().unwrap_err().message().contains("batch_concurrency"));
}

fn read(members: &[(&str, Value)]) -> Result<FetchArguments, ToolFailure> {
    let members: IndexMap<String, Value> =
        members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    FetchArguments::read(&Value::Object(members), 3)
}

fn text_list(items: &[&str]) -> Value {
    Value::Array(items.iter().map(|item| Value::from(*item)).collect())
}

#[test]
fn a_list_gives_a_map_and_repeated_urls_are_asked_once() {
    let arguments = read(&[("urls", text_list(&["http://a/", "http://b/", "http://a/"]))]).unwrap();
    assert_eq!(arguments.urls, ["http://a/", "http://b/"]);
    assert!(arguments.as_map);
    assert!(!read(&[("urls", "http://a/".into())]).unwrap().as_map);
    assert!(read(&[("urls", "http://a/".into()), ("batch", true.into())]).unwrap().as_map);
    assert!(read(&[("urls", Value::Object(IndexMap::new()))]).unwrap().urls.is_empty());
}

#[test]
fn too_many_urls_are_refused_with_both_numbers() {
    let failure =
        read(&[("urls", text_list(&["http://a/", "http://b/", "http://c/", "http://d/"]))]).unwrap_err();
    assert_eq!(failure.code, "bad_arguments");
    assert_eq!(failure.details["limit"], Value::Integer(3));
    assert_eq!(failure.details["observed"], Value::Integer(4));
}

#[test]
fn headers_of_the_connection_and_broken_ones_are_refused_without_repeating_their_value() {
    let with_header = |name: &str, value: &str| {
        read(&[("urls", "http://a/".into()), ("headers", [(name, value)].into_iter().collect())])
    };
    for (name, value) in [
        ("Host", "evil.example"),
        ("connection", "close"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", "3"),
        ("Upgrade", "websocket"),
        ("Accept-Encoding", "br"),
        ("Proxy-Authorization", "x"),
        ("X Y", "1"),
        ("", "1"),
        ("X-Y\r\nHost", "1"),
        ("X-Y", "secret\r\nHost: evil"),
        ("X-Y", "secret\0"),
    ] {
        let failure = with_header(name, value).expect_err(name);
        assert_eq!(failure.code, "bad_arguments", "{name}");
        assert!(!failure.message.contains("secret"), "{}", failure.message);
    }
    let arguments = with_header("Authorization", "Bearer token").unwrap();
    assert_eq!(arguments.headers["authorization"], "Bearer token");
}

#[test]
fn other_kinds_and_methods_are_refused() {
    for members in [
        vec![],
        vec![("urls", Value::Null)],
        vec![("urls", Value::Integer(1))],
        vec![("urls", Value::Array(vec![Value::Null]))],
        vec![("urls", "http://a/".into()), ("batch", "yes".into())],
        vec![("urls", "http://a/".into()), ("method", "POST".into())],
        vec![("urls", "http://a/".into()), ("headers", "X: 1".into())],
    ] {
        assert_eq!(read(&members).unwrap_err().code, "bad_arguments", "{members:?}");
    }
}

#[test]
fn retry_after_is_read_as_seconds_and_as_a_date() {
    let now: Timestamp = "1994-11-06T08:49:30Z".parse().unwrap();
    let wait = |text: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(text).unwrap());
        retry_after(&headers, now)
    };
    assert_eq!(wait("120"), Some(Duration::from_secs(120)));
    assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(7)));
    assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
    assert_eq!(wait("99999999999"), Some(Duration::from_secs(86_400)));
    assert_eq!(wait("soon"), None);
}
