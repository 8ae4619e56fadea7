//! `send_email` against a real SMTP server: what arrives is what was asked for.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use luaplan::base::{CallArguments, ErrorCode, ToolFailure, Value};
use luaplan::bus::Tool;
use luaplan::demo::{SmtpSink, SmtpSinkOptions};
use luaplan::tools::send_email::{SendEmail, SendEmailSettings};
use mail_parser::{Message, MessageParser, MimeHeaders};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::support::{TestRun, spec, value};

/// Not UTF-8, with dots at line starts, lone CR and LF, and every byte once.
pub(crate) fn awkward_bytes() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\n.\n\r\n.\r\n..\r".to_vec();
    bytes.extend(0..=255_u8);
    bytes.extend([b'.'; 2_000]);
    bytes
}

pub(crate) fn settings(changes: &Json) -> SendEmailSettings {
    let mut all = json!({
        "smtp": "smtp://127.0.0.1:1",
        "from": "Reports <reports@company.com>",
        "allow_recipients": ["*@company.com"],
        "hello_name": "client.example",
    });
    all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

pub(crate) fn tool(changes: &Json) -> SendEmail {
    SendEmail::new(spec("send_email", Duration::from_secs(20)), settings(changes), None).unwrap()
}

struct Parts {
    sink: SmtpSink,
    tool: SendEmail,
    _folder: TempDir,
}

async fn parts(changes: Json) -> Parts {
    let folder = tempfile::tempdir().unwrap();
    let sink = SmtpSink::start(SmtpSinkOptions::new(folder.path())).await.unwrap();
    let mut all = json!({ "smtp": format!("smtp://{}", sink.addr()) });
    all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    Parts { tool: tool(&all), sink, _folder: folder }
}

/// The one message that arrived.
fn only(sink: &SmtpSink) -> Vec<u8> {
    let messages = sink.messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    std::fs::read(&messages[0].path).unwrap()
}

fn parse(bytes: &[u8]) -> Message<'_> {
    MessageParser::default().parse(bytes).unwrap()
}

fn type_of(part: &mail_parser::MessagePart<'_>) -> String {
    let kind = part.content_type().unwrap();
    format!("{}/{}", kind.ctype(), kind.subtype().unwrap())
}

#[tokio::test]
async fn a_plain_message_arrives_with_its_text_and_headers() {
    let Parts { sink, tool, _folder } = parts(json!({})).await;
    let arguments = json!({
        "to": "Administrator <admin@company.com>, second@Company.COM",
        "subject": "Grüße – Übersicht für 2026 und noch etwas mehr, damit die Zeile gefaltet wird ✓",
        "body": "first line\n.second line begins with a dot\n.\nlast: ✓",
        "cc": ["third@company.com"],
        "bcc": "hidden@company.com",
        "reply_to": "reports@company.com",
    });
    let receipt = TestRun::new().call(&tool, value(arguments.clone())).await.unwrap();

    assert_eq!(receipt.get("delivered"), Some(&Value::Bool(true)));
    assert_eq!(receipt.get("message_id").and_then(Value::as_str), Some("<run-1.call-1@company.com>"));
    assert_eq!(receipt.get("response").and_then(Value::as_str), Some("250 kept"));
    let envelope = ["admin@company.com", "second@company.com", "third@company.com", "hidden@company.com"];
    let recipients = receipt.get("recipients").unwrap().to_json();
    assert_eq!(recipients, json!(envelope));
    assert_eq!(sink.messages()[0].to, envelope);
    assert_eq!(sink.messages()[0].from, "reports@company.com");

    let bytes = only(&sink);
    assert_eq!(receipt.get("size_bytes"), Some(&Value::Integer(i64::try_from(bytes.len()).unwrap())));
    let text = String::from_utf8(bytes.clone()).expect("only ASCII travels");
    assert!(text.is_ascii());
    assert!(!text.contains("hidden@"), "a blind copy shows in {text}");
    let message = parse(&bytes);
    assert_eq!(message.subject(), arguments["subject"].as_str());
    assert_eq!(
        message.body_text(0).unwrap().replace("\r\n", "\n").trim_end(),
        arguments["body"].as_str().unwrap()
    );
    assert_eq!(message.date().unwrap().to_rfc3339(), "2026-01-02T03:04:05Z");
    assert_eq!(message.message_id(), Some("run-1.call-1@company.com"));
    let to = message.to().unwrap().first().unwrap();
    assert_eq!((to.name(), to.address()), (Some("Administrator"), Some("admin@company.com")));
    assert_eq!(message.reply_to().unwrap().first().unwrap().address(), Some("reports@company.com"));
    sink.stop().await;
}

#[tokio::test]
async fn attachments_arrive_byte_for_byte_with_their_types_and_names() {
    let Parts { sink, tool, _folder } = parts(json!({})).await;
    let png = luaplan::demo::PictureServer::bytes_of("user1.png").unwrap();
    let attachments: Value = [
        ("http://127.0.0.1:8080/pictures/user%201.png?size=1", Value::from_lua_bytes(png.to_vec())),
        ("https://other.example/a/user%201.png", Value::from_lua_bytes(awkward_bytes())),
        ("report.csv", Value::from("name;größe\n\"a\";1\n")),
        ("notes", Value::from("plain")),
        ("blob", Value::from_lua_bytes(vec![0xff, 0xfe, 0x00, 0x01])),
        ("übersicht \"2026\".json", Value::from("{}")),
        ("../../etc/passwd", Value::from("root")),
        ("empty.txt", Value::from("")),
        ("really-a-picture.txt", Value::from_lua_bytes(png.to_vec())),
        ("drawing.svg", Value::from("<?xml version=\"1.0\"?><svg/>")),
    ]
    .into_iter()
    .collect();
    let expected: [(&str, &str, &[u8]); 10] = [
        ("user 1.png", "image/png", png),
        ("user 1-2.png", "image/png", &awkward_bytes()),
        ("report.csv", "text/csv", "name;größe\n\"a\";1\n".as_bytes()),
        ("notes", "text/plain", b"plain"),
        ("blob", "application/octet-stream", &[0xff, 0xfe, 0x00, 0x01]),
        ("übersicht _2026_.json", "application/json", b"{}"),
        ("passwd", "text/plain", b"root"),
        ("empty.txt", "text/plain", b""),
        ("really-a-picture.txt", "image/png", png),
        ("drawing.svg", "image/svg+xml", b"<?xml version=\"1.0\"?><svg/>"),
    ];
    let arguments: Value = [
        ("to", Value::from("admin@company.com")),
        ("subject", "Files".into()),
        ("body", "<h1>Files</h1>".into()),
        ("attachments", attachments),
    ]
    .into_iter()
    .collect();
    TestRun::new().call(&tool, arguments).await.unwrap();

    let bytes = only(&sink);
    let message = parse(&bytes);
    assert_eq!(type_of(message.html_part(0).unwrap()), "text/html");
    let got: Vec<_> = message
        .attachments()
        .map(|part| (part.attachment_name().unwrap().to_owned(), type_of(part), part.contents().to_vec()))
        .collect();
    let wanted: Vec<_> = expected.map(|(n, t, c)| (n.to_owned(), t.to_owned(), c.to_vec())).into();
    assert_eq!(got, wanted);
    let csv = message.attachment(2).unwrap();
    assert_eq!(csv.content_type().unwrap().attribute("charset"), Some("utf-8"));
}

#[tokio::test]
async fn a_call_in_positional_form_with_fetched_bytes_fits_the_manifest() {
    let Parts { sink, tool, _folder } = parts(json!({})).await;
    let detailed =
        value(json!({ "status": 200, "headers": {}, "content_type": "image/gif", "url": "http://x/b" }));
    let Value::Object(mut detailed) = detailed else { unreachable!() };
    detailed.insert("body".to_owned(), Value::from_lua_bytes(b"GIF89a\xff".to_vec()));
    let images: Value = [
        ("http://127.0.0.1:9/pictures/user1.png", Value::from_lua_bytes(awkward_bytes())),
        ("http://127.0.0.1:9/b", Value::Object(detailed)),
    ]
    .into_iter()
    .collect();
    let positional =
        CallArguments(vec!["admin@company.com".into(), "User Summary".into(), "<h1>x</h1>".into(), images]);
    let arguments = tool.spec().bind(&positional).unwrap();
    let receipt = TestRun::new().call(&tool, arguments).await.unwrap();
    let schema = jsonschema::validator_for(&tool.spec().result).unwrap();
    assert!(schema.is_valid(&receipt.to_json()), "{receipt:?}");
    let bytes = only(&sink);
    let message = parse(&bytes);
    assert_eq!(message.attachment(0).unwrap().contents(), awkward_bytes());
    assert_eq!(type_of(message.attachment(1).unwrap()), "image/gif");

    let named = CallArguments(vec![value(json!({
        "to": ["admin@company.com"], "subject": "x", "body": "y", "html": false, "attachments": {},
    }))]);
    let arguments = tool.spec().bind(&named).unwrap();
    TestRun::new().call(&tool, arguments).await.unwrap();
    assert_eq!(sink.messages().len(), 2);
    let unknown = CallArguments(vec![value(json!({
        "to": "admin@company.com", "subject": "x", "body": "y", "from": "boss@company.com",
    }))]);
    assert_eq!(tool.spec().bind(&unknown).unwrap_err().code, "bad_arguments");
}

#[tokio::test]
async fn the_failed_part_of_a_batch_is_never_mailed() {
    let Parts { sink, tool, _folder } = parts(json!({})).await;
    let broken =
        ToolFailure::new(ErrorCode::HttpStatus, "the server answered 404").with_detail("status", 404);
    let attachments: Value = [
        ("http://x/a.png", Value::from("fine")),
        ("http://x/b.png", Value::Failure(Box::new(broken.clone()))),
    ]
    .into_iter()
    .collect();
    for attachments in [attachments, Value::Array(vec![Value::Failure(Box::new(broken))])] {
        let mut arguments = hello();
        if let Value::Object(members) = &mut arguments {
            members.insert("attachments".to_owned(), attachments);
        }
        let failure = TestRun::new().call(&tool, arguments).await.unwrap_err();
        assert_eq!(failure.code, "email_invalid");
        assert_eq!(failure.details["cause_code"].as_str(), Some("http_status"));
    }
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn a_list_of_attachments_may_name_its_types() {
    let Parts { sink, tool, _folder } = parts(json!({})).await;
    let arguments = json!({
        "to": "admin@company.com", "subject": "List", "body": "x",
        "attachments": [
            { "name": "a.bin", "content": "one", "content_type": "application/x-thing" },
            { "name": "A.bin", "content": "two" },
        ],
    });
    TestRun::new().call(&tool, value(arguments)).await.unwrap();
    let bytes = only(&sink);
    let message = parse(&bytes);
    let got: Vec<_> =
        message.attachments().map(|part| (part.attachment_name().unwrap(), type_of(part))).collect();
    assert_eq!(
        got,
        [("a.bin", "application/x-thing".to_owned()), ("A-2.bin", "application/octet-stream".to_owned())]
    );
}

pub(crate) fn hello() -> Value {
    value(json!({ "to": "admin@company.com", "subject": "Hello", "body": "text" }))
}

#[tokio::test]
async fn a_recipient_who_is_not_allowed_stops_the_whole_message() {
    let Parts { sink, tool, _folder } = parts(json!({})).await;
    for field in ["to", "cc", "bcc", "reply_to"] {
        let mut arguments = json!({
            "to": ["admin@company.com"], "cc": ["admin@company.com"], "bcc": ["admin@company.com"],
            "reply_to": ["admin@company.com"], "subject": "x", "body": "x",
        });
        arguments[field].as_array_mut().unwrap().push(json!("someone@elsewhere.com"));
        let failure = TestRun::new().call(&tool, value(arguments)).await.unwrap_err();
        assert_eq!(failure.code, "recipient_denied", "{field}");
        assert_eq!(failure.details["recipient"].as_str(), Some("someone@elsewhere.com"));
    }
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn nobody_is_allowed_unless_named() {
    let Parts { sink, tool, _folder } = parts(json!({ "allow_recipients": [] })).await;
    let failure = TestRun::new().call(&tool, hello()).await.unwrap_err();
    assert_eq!(failure.code, "recipient_denied");
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn caps_name_the_limit_and_the_value_seen() {
    let Parts { sink, tool, _folder } =
        parts(json!({ "attachment_bytes_max": "1KiB", "recipients_max": 2 })).await;
    let large = json!({
        "to": "admin@company.com", "subject": "x", "body": "12345678",
        "attachments": { "a.txt": "x".repeat(1017) },
    });
    let many = json!({ "to": "a@company.com, b@company.com, c@company.com", "subject": "x", "body": "x" });
    for (arguments, limit, observed) in [(large, 1024, 1025), (many, 2, 3)] {
        let failure = TestRun::new().call(&tool, value(arguments)).await.unwrap_err();
        assert_eq!(failure.code, "email_invalid");
        assert_eq!(failure.details["limit"], Value::Integer(limit));
        assert_eq!(failure.details["observed"], Value::Integer(observed));
    }
    assert!(sink.messages().is_empty());
}
