//! Hostile input to `send_email`, case by case from a file: refused with nothing sent, or
//! delivered with exactly the headers and recipients that were meant.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use luaplan::demo::{SmtpSink, SmtpSinkOptions};
use mail_parser::MessageParser;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::send_email::tool;
use crate::support::{TestRun, value};

#[derive(Deserialize)]
struct Case {
    name: String,
    arguments: Json,
    refused: Option<String>,
    subject: Option<String>,
    body: Option<String>,
    recipients: Option<Vec<String>>,
}

/// The header names of a message, in order, and the text of all headers.
fn headers(message: &[u8]) -> (Vec<String>, String) {
    let text = String::from_utf8(message.to_vec()).unwrap();
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    let names = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    (names.map(|line| line.split(':').next().unwrap().to_owned()).collect(), head.to_owned())
}

#[tokio::test]
async fn hostile_input_is_refused_or_arrives_as_exactly_one_harmless_message() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../cases/send_email/hostile.json")).unwrap();
    assert!(cases.len() >= 30);
    let folder = tempfile::tempdir().unwrap();
    let sink = SmtpSink::start(SmtpSinkOptions::new(folder.path())).await.unwrap();
    let tool = tool(&json!({ "smtp": format!("smtp://{}", sink.addr()) }));
    let mut faults = Vec::new();
    for case in cases {
        let before = sink.messages().len();
        let outcome = TestRun::new().call(&tool, value(case.arguments)).await;
        let arrived = sink.messages()[before..].to_vec();
        let fault = match (outcome, case.refused) {
            (Err(failure), Some(code)) => {
                let shown = failure.message.chars().any(char::is_control);
                (failure.code != code || failure.retryable || shown || !arrived.is_empty())
                    .then(|| format!("expected {code}, got {failure:?}, {} arrived", arrived.len()))
            }
            (Ok(_), None) if arrived.len() == 1 => {
                let bytes = std::fs::read(&arrived[0].path).unwrap();
                let (mut names, head) = headers(&bytes);
                names.retain(|name| name != "Cc");
                let parsed = MessageParser::default().parse(&bytes).unwrap();
                let body = parsed.body_text(0).unwrap().replace("\r\n", "\n");
                let wanted = case.body.unwrap().replace("\r\n", "\n").replace('\r', "\n");
                let expected = [
                    "From",
                    "Message-ID",
                    "Date",
                    "Subject",
                    "To",
                    "MIME-Version",
                    "Content-Type",
                    "Content-Transfer-Encoding",
                ];
                let same = names == expected
                    && parsed.subject() == case.subject.as_deref()
                    && body.trim_end() == wanted.trim_end()
                    && arrived[0].to == case.recipients.unwrap()
                    && arrived[0].from == "reports@company.com";
                (!same).then(|| format!("{head}\n---\n{body:?}\n{arrived:?}"))
            }
            (outcome, refused) => {
                Some(format!("expected {refused:?}, got {outcome:?}, {} arrived", arrived.len()))
            }
        };
        faults.extend(fault.map(|fault| format!("{}: {fault}", case.name)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
