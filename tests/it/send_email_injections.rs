//! Each hostile text in each field of a mail: refused with nothing sent, or delivered as the one message that
//! was meant, to the recipients that were meant.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use luaplan::demo::{SmtpSink, SmtpSinkOptions};
use mail_parser::{MessageParser, MimeHeaders as _};
use serde_json::{Value as Json, json};

use crate::send_email::tool;
use crate::support::{TestRun, value};

const FIELDS: [&str; 9] =
    ["subject", "body", "html", "to", "cc", "bcc", "reply_to", "attachment name", "attachment type"];

/// A mail with the text in one field, the rest as it should be.
fn mail(field: &str, text: &str) -> Json {
    let mut mail = json!({ "to": "admin@company.com", "subject": "Hello", "body": "text" });
    let attachment = json!({ "name": "a.txt", "content": "x", "content_type": "text/plain" });
    match field {
        "subject" | "body" => mail[field] = json!(text),
        "html" => (mail["body"], mail["html"]) = (json!(text), json!(true)),
        "to" => mail["to"] = json!(format!("admin@company.com{text}")),
        "cc" | "bcc" | "reply_to" => mail[field] = json!(format!("second@company.com{text}")),
        "attachment name" => {
            mail["attachments"] = json!([attachment]);
            mail["attachments"][0]["name"] = json!(format!("a{text}.txt"));
        }
        _ => {
            mail["attachments"] = json!([attachment]);
            mail["attachments"][0]["content_type"] = json!(format!("text/plain{text}"));
        }
    }
    mail
}

#[tokio::test]
async fn no_text_in_any_field_adds_a_header_a_part_or_a_recipient() {
    let texts: Vec<String> = include_str!("../cases/send_email/injections.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect();
    assert!(texts.len() * FIELDS.len() >= 117, "the case file lost texts: {}", texts.len());
    let folder = tempfile::tempdir().unwrap();
    let sink = SmtpSink::start(SmtpSinkOptions::new(folder.path())).await.unwrap();
    let tool = tool(&json!({ "smtp": format!("smtp://{}", sink.addr()) }));
    let (mut faults, mut sent) = (Vec::new(), 0);
    for (field, text) in FIELDS.iter().flat_map(|field| texts.iter().map(move |text| (*field, text))) {
        let before = sink.messages().len();
        let outcome = TestRun::new().call(&tool, value(mail(field, text))).await;
        let arrived = sink.messages()[before..].to_vec();
        let fault = match (&outcome, &arrived[..]) {
            (Err(failure), []) => {
                failure.message.chars().any(char::is_control).then(|| format!("{failure:?}"))
            }
            (Ok(_), [message]) => {
                sent += 1;
                harm(field, &std::fs::read(&message.path).unwrap(), &message.to)
            }
            _ => Some(format!("{outcome:?}, {} arrived", arrived.len())),
        };
        faults.extend(fault.map(|fault| format!("{field} with {text:?}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Bodies may hold nearly anything, so some of them go out.
    assert!(sent >= texts.len(), "only {sent} were sent");
}

/// What is wrong with a message that arrived.
fn harm(field: &str, bytes: &[u8], to: &[String]) -> Option<String> {
    let mut meant = vec!["admin@company.com".to_owned()];
    meant.extend(matches!(field, "cc" | "bcc").then(|| "second@company.com".to_owned()));
    if to != meant {
        return Some(format!("it went to {to:?}"));
    }
    let text = String::from_utf8_lossy(bytes);
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let names: Vec<String> = head
        .split("\r\n")
        .filter(|line| !line.starts_with([' ', '\t']))
        .map(|line| line.split(':').next().unwrap_or_default().to_ascii_lowercase())
        .collect();
    let known = [
        "from",
        "to",
        "cc",
        "reply-to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
    ];
    let mut seen = std::collections::BTreeSet::new();
    for name in &names {
        if !known.contains(&name.as_str()) || !seen.insert(name) {
            return Some(format!("the header `{name}` is too much: {head}"));
        }
    }
    let parsed = MessageParser::default().parse(bytes).unwrap();
    let attachments = usize::from(field.starts_with("attachment"));
    if parsed.attachment_count() != attachments {
        return Some(format!("{} attachments: {text}", parsed.attachment_count()));
    }
    let name = parsed.attachments().next().and_then(|part| part.attachment_name());
    let is_plain = name.is_none_or(|name| !name.contains(['/', '\\', '\r', '\n', '\0']) && name != "..");
    (!is_plain).then(|| format!("the attachment is called {name:?}"))
}
