//! `send_email` against servers that refuse, hang, break off or talk nonsense.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use luaplan::base::{ToolFailure, Value};
use luaplan::tools::send_email::SendEmail;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::send_email::{settings, tool};
use crate::support::{TestRun, spec, value};

/// A call's timeout where it is meant to run out; long enough for everything before.
const SHORT: Duration = Duration::from_secs(2);

/// What the server does at one point of the conversation.
#[derive(Clone, Copy)]
enum Do {
    /// Sends this reply.
    Say(&'static str),
    /// Never answers.
    Hang,
    /// Closes the connection.
    Drop,
}

/// A server with one behaviour for each command; what it is not told it accepts.
struct Faulty {
    tool: SendEmail,
    task: JoinHandle<()>,
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn faulty_with(
    behaviour: &'static [(&'static str, Do)],
    mut changes: Json,
    password: Option<&str>,
    timeout: Duration,
) -> Faulty {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let smtp = format!("smtp://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = converse(BufReader::new(stream), behaviour).await;
        }
    });
    changes["smtp"] = json!(smtp);
    let tool = SendEmail::new(spec("send_email", timeout), settings(&changes), password.map(Into::into));
    Faulty { tool: tool.unwrap(), task }
}

async fn converse(
    mut stream: BufReader<tokio::net::TcpStream>,
    behaviour: &'static [(&'static str, Do)],
) -> std::io::Result<()> {
    let mut line = "GREETING".to_owned();
    loop {
        let usual = match line.split(' ').next().unwrap() {
            "GREETING" => "220 faulty ESMTP",
            "DATA" => "354 go on",
            _ => "250 OK",
        };
        let action = behaviour.iter().find(|(start, _)| line.starts_with(start)).map(|(_, action)| *action);
        match action.unwrap_or(Do::Say(usual)) {
            Do::Say(reply) => stream.write_all(format!("{reply}\r\n").as_bytes()).await?,
            Do::Hang => std::future::pending().await,
            Do::Drop => return Ok(()),
        }
        if line.starts_with("DATA") && !matches!(action, Some(Do::Say(_))) {
            loop {
                line.clear();
                if stream.read_line(&mut line).await? == 0 {
                    return Ok(());
                }
                if line == ".\r\n" {
                    break;
                }
            }
            line = "CONTENT".to_owned();
            continue;
        }
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        line = line.trim_end().to_owned();
    }
}

async fn send(behaviour: &'static [(&'static str, Do)]) -> Result<Value, ToolFailure> {
    send_within(behaviour, Duration::from_secs(20)).await
}

async fn send_within(
    behaviour: &'static [(&'static str, Do)],
    timeout: Duration,
) -> Result<Value, ToolFailure> {
    let server = faulty_with(behaviour, json!({}), None, timeout).await;
    let arguments = json!({ "to": "a@company.com, b@company.com", "subject": "x", "body": "x" });
    TestRun::new().call(&server.tool, value(arguments)).await
}

#[tokio::test]
async fn a_server_without_faults_delivers() {
    let receipt = send(&[]).await.unwrap();
    assert_eq!(receipt.get("response").and_then(Value::as_str), Some("250 OK"));
}

#[tokio::test]
async fn a_server_that_hangs_before_the_content_is_a_timeout_that_may_be_retried() {
    let places = [
        ("GREETING", "connecting and greeting"),
        ("EHLO", "connecting and greeting"),
        ("MAIL", "naming sender"),
        ("RCPT", "naming sender"),
        ("DATA", "naming sender"),
    ];
    let checks = places.map(|(place, words)| async move {
        let behaviour: &'static [_] = Box::leak(Box::new([(place, Do::Hang)]));
        let failure = send_within(behaviour, SHORT).await.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.retryable), ("tool_timeout", true), "{place}");
        assert!(failure.message.contains(words), "{place}: {failure:?}");
        assert!(!failure.details.contains_key("in_doubt"), "{place}");
    });
    futures::future::join_all(checks).await;
}

#[tokio::test]
async fn silence_or_a_drop_after_the_content_leaves_the_mail_in_doubt() {
    let checks = [Do::Hang, Do::Drop, Do::Say("gibberish")].map(|action| async move {
        let behaviour: &'static [_] = Box::leak(Box::new([("CONTENT", action)]));
        let failure = send_within(behaviour, SHORT).await.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", false), "{failure:?}");
        assert_eq!(failure.details.get("in_doubt"), Some(&Value::Bool(true)));
        assert!(failure.message.contains("not known whether"), "{failure:?}");
    });
    futures::future::join_all(checks).await;
}

#[tokio::test]
async fn a_server_that_stops_reading_the_content_is_in_doubt_within_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let smtp = format!("smtp://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for reply in ["220 x", "250 x", "250 x", "250 x", "354 x"] {
            stream.write_all(format!("{reply}\r\n").as_bytes()).await.unwrap();
            if reply.starts_with("354") {
                std::future::pending::<()>().await;
            }
            let mut command = [0; 512];
            let _ = stream.read(&mut command).await.unwrap();
        }
    });
    let tool = SendEmail::new(spec("send_email", SHORT), settings(&json!({ "smtp": smtp })), None).unwrap();
    let arguments = json!({ "to": "a@company.com", "subject": "x", "body": "x".repeat(8 << 20) });
    let failure = TestRun::new().call(&tool, value(arguments)).await.unwrap_err();
    assert_eq!(failure.code, "smtp_failed");
    assert_eq!(failure.details.get("in_doubt"), Some(&Value::Bool(true)));
    server.abort();
}

#[tokio::test]
async fn refusals_keep_the_servers_code_and_only_temporary_ones_may_be_retried() {
    for (place, reply, code, retryable) in [
        ("GREETING", "421 busy", 421, true),
        ("GREETING", "554 go away", 554, false),
        ("MAIL", "451 later", 451, true),
        ("MAIL", "550 not you", 550, false),
        ("DATA", "452 full", 452, true),
        ("CONTENT", "451 greylisted", 451, true),
        ("CONTENT", "554-looks\r\n554 like spam", 554, false),
    ] {
        let behaviour: &'static [_] = Box::leak(Box::new([(place, Do::Say(reply))]));
        let failure = send(behaviour).await.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", retryable), "{place} {reply}");
        assert_eq!(failure.details.get("smtp_code"), Some(&Value::Integer(code)), "{failure:?}");
        assert!(!failure.details.contains_key("in_doubt"), "{place} {reply}");
    }
}

#[tokio::test]
async fn one_refused_recipient_stops_the_message_for_all() {
    // DATA would end in an answer that shows up here.
    let failure = send(&[("RCPT TO:<b@", Do::Say("550 no such user")), ("DATA", Do::Say("250 taken"))])
        .await
        .unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", false));
    let refused = failure.details["refused"].to_json();
    assert_eq!(refused, json!([{ "address": "b@company.com", "response": "550 no such user" }]));
    assert!(failure.message.contains("nothing was sent"), "{failure:?}");

    let failure = send(&[("RCPT", Do::Say("450 mailbox busy"))]).await.unwrap_err();
    assert!(failure.retryable);
    assert_eq!(failure.details["refused"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_a_server_says_is_made_harmless() {
    let failure = send(&[("MAIL", Do::Say("550 bad\x1b[31m\x07 news"))]).await.unwrap_err();
    assert_eq!(failure.details["response"].as_str(), Some("550 bad [31m  news"));
    assert!(!failure.message.chars().any(char::is_control));
}

#[tokio::test]
async fn a_server_that_is_not_there_or_is_no_mail_server_is_named_as_such() {
    let failure = TestRun::new()
        .call(&tool(&json!({})), value(json!({ "to": "a@company.com", "subject": "x", "body": "x" })))
        .await
        .unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", true));
    assert!(failure.message.contains("connecting"), "{failure:?}");

    let failure = send(&[("GREETING", Do::Say("HTTP/1.1 400 Bad Request"))]).await.unwrap_err();
    assert_eq!(failure.code, "smtp_failed");
}

#[tokio::test]
async fn an_answer_of_the_wrong_kind_is_no_acceptance() {
    let failure = send(&[("DATA", Do::Say("250 OK"))]).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", false), "{failure:?}");
    assert!(!failure.details.contains_key("in_doubt"));
    let failure = send(&[("CONTENT", Do::Say("354 go on"))]).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("smtp_failed", false), "{failure:?}");
    assert_eq!(failure.details.get("in_doubt"), Some(&Value::Bool(true)));
}

#[tokio::test]
async fn a_server_that_repeats_the_password_does_not_get_it_into_a_message() {
    // The word itself, and both forms in which it travels.
    for said in ["535 wrong: s3cret-word", "535 AG1haWxlcgBzM2NyZXQtd29yZA==", "535 czNjcmV0LXdvcmQ="] {
        let behaviour: &'static [_] = Box::leak(Box::new([
            ("EHLO", Do::Say("250-x\r\n250 AUTH PLAIN LOGIN")),
            ("AUTH", Do::Say(said)),
        ]));
        let login = json!({ "username": "mailer", "password_env": "MAIL_PASSWORD" });
        let server = faulty_with(behaviour, login, Some("s3cret-word"), Duration::from_secs(20)).await;
        let arguments = json!({ "to": "a@company.com", "subject": "x", "body": "x" });
        let failure = TestRun::new().call(&server.tool, value(arguments)).await.unwrap_err();
        assert_eq!(failure.details.get("smtp_code"), Some(&Value::Integer(535)), "{failure:?}");
        let shown = format!("{failure:?} {:?}", server.tool.probe().await.unwrap_err());
        assert!(shown.contains("[password]"), "{shown}");
        assert!(["s3cret", "AG1haW", "czNjcm"].iter().all(|form| !shown.contains(form)), "{shown}");
    }
}
