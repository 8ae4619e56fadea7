//! `send_email` against aiosmtpd, a mail server from elsewhere, in its own process.
//!
//! Needs `LUAPLAN_TEST_AIOSMTPD`: the path of a Python that has the package.

use std::process::Stdio;

use luaplan::base::Value;
use mail_parser::{MessageParser, MimeHeaders};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::send_email::{awkward_bytes, tool};
use crate::support::{Part, TestRun};

/// Listens on a free port, says which, writes each message and its envelope, and ends with its
/// standard input.
const SERVER: &str = r#"
import asyncio, json, pathlib, sys
from aiosmtpd.smtp import SMTP
folder = pathlib.Path(sys.argv[1])
class Keep:
    async def handle_DATA(self, server, session, envelope):
        (folder / "message.eml").write_bytes(envelope.original_content)
        (folder / "envelope.json").write_text(json.dumps([envelope.mail_from, envelope.rcpt_tos]))
        return "250 kept by aiosmtpd"
async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Keep(), loop=loop), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
asyncio.run(main())
"#;

#[tokio::test]
async fn an_independent_server_receives_the_same_message() {
    let Some(python) = Part::Aiosmtpd.place("an independent server") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(python)
        .args(["-c", SERVER])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).await.unwrap();

    let tool = tool(&json!({ "smtp": format!("smtp://127.0.0.1:{}", port.trim()) }));
    let attachments: Value = [("https://pictures.example/user1.png", Value::from_lua_bytes(awkward_bytes()))]
        .into_iter()
        .collect();
    let arguments: Value = [
        ("to", Value::from("Administrator <admin@company.com>")),
        ("bcc", "hidden@company.com".into()),
        ("subject", "Grüße ✓".into()),
        ("body", "<p>dots</p>\n.\n..\n<p>ä</p>".into()),
        ("attachments", attachments),
    ]
    .into_iter()
    .collect();
    let receipt = TestRun::new().call(&tool, arguments).await.unwrap();
    assert_eq!(receipt.get("response").and_then(Value::as_str), Some("250 kept by aiosmtpd"));

    let envelope = std::fs::read_to_string(folder.path().join("envelope.json")).unwrap();
    assert_eq!(envelope, r#"["reports@company.com", ["admin@company.com", "hidden@company.com"]]"#);
    let bytes = std::fs::read(folder.path().join("message.eml")).unwrap();
    let message = MessageParser::default().parse(&bytes).unwrap();
    assert_eq!(message.subject(), Some("Grüße ✓"));
    assert_eq!(
        message.body_html(0).unwrap().replace("\r\n", "\n").trim_end(),
        "<p>dots</p>\n.\n..\n<p>ä</p>"
    );
    let picture = message.attachment(0).unwrap();
    assert_eq!(picture.attachment_name(), Some("user1.png"));
    assert_eq!(picture.contents(), awkward_bytes());
    drop(server.stdin.take());
    server.wait().await.unwrap();
}
