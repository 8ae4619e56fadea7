//! The message itself: headers and parts, the same bytes for the same call.

use std::time::SystemTime;

use jiff::Timestamp;
use lettre::message::header::{ContentDisposition, ContentTransferEncoding, ContentType};
use lettre::message::{Mailbox, Message, MultiPart, MultiPartKind, SinglePart};

use luaplan_base::{ContentHash, Error, ErrorCode, Result};

use super::attachments::Attachment;

/// The checked content of a message.
pub(super) struct MessageDraft {
    pub(super) to: Vec<Mailbox>,
    pub(super) cc: Vec<Mailbox>,
    pub(super) bcc: Vec<Mailbox>,
    pub(super) reply_to: Vec<Mailbox>,
    pub(super) subject: String,
    pub(super) body: String,
    pub(super) is_html: bool,
    pub(super) attachments: Vec<Attachment>,
}

/// A message in its final form.
pub(super) struct Composed {
    pub(super) message_id: String,
    pub(super) content: Vec<u8>,
}

impl MessageDraft {
    /// Writes the message. Its id comes from the idempotency key, so that a repeated message can
    /// be recognised; boundaries come from the content, which therefore cannot hold them.
    ///
    /// # Errors
    /// `internal` where the library refuses what the checks let pass.
    pub(super) fn compose(&self, from: &Mailbox, idempotency_key: &str, now: Timestamp) -> Result<Composed> {
        let message_id = format!("<{}@{}>", id_part(idempotency_key), from.email.domain());
        let mut builder = Message::builder()
            .from(from.clone())
            .message_id(Some(message_id.clone()))
            .date(SystemTime::from(now))
            .subject(self.subject.clone());
        for mailbox in &self.to {
            builder = builder.to(mailbox.clone());
        }
        for mailbox in &self.cc {
            builder = builder.cc(mailbox.clone());
        }
        // The envelope is made from these; the header itself is dropped from the message.
        for mailbox in &self.bcc {
            builder = builder.bcc(mailbox.clone());
        }
        for mailbox in &self.reply_to {
            builder = builder.reply_to(mailbox.clone());
        }
        let text_type = if self.is_html { ContentType::TEXT_HTML } else { ContentType::TEXT_PLAIN };
        let text = SinglePart::builder().header(text_type).body(with_crlf(&self.body));
        let message = if self.attachments.is_empty() {
            builder.singlepart(text)
        } else {
            let mut mixed = MultiPart::builder()
                .kind(MultiPartKind::Mixed)
                .boundary(self.boundary(&message_id))
                .singlepart(text);
            for attachment in &self.attachments {
                mixed = mixed.singlepart(part(attachment));
            }
            builder.multipart(mixed)
        };
        let message = message.map_err(|error| {
            Error::new(ErrorCode::Internal, format!("the message cannot be written: {error}"))
        })?;
        Ok(Composed { message_id, content: message.formatted() })
    }

    /// A boundary that the parts would have to hold their own hash to contain.
    fn boundary(&self, message_id: &str) -> String {
        let mut all = blake3::Hasher::new();
        all.update(message_id.as_bytes()).update(self.body.as_bytes());
        for attachment in &self.attachments {
            all.update(&attachment.content);
        }
        all.finalize().to_hex().as_str().chars().take(40).collect()
    }
}

/// Base64 for any content, so that every byte arrives unchanged.
fn part(attachment: &Attachment) -> SinglePart {
    SinglePart::builder()
        .header(attachment.content_type.clone())
        .header(ContentDisposition::attachment(&attachment.name))
        .header(ContentTransferEncoding::Base64)
        .body(attachment.content.clone())
}

/// Every line end as CRLF: a lone CR or LF is read differently from server to server.
fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

/// The key as the left side of a message id: itself where it fits, else its hash.
fn id_part(key: &str) -> String {
    const KEY_BYTES_MAX: usize = 100;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let dotted = key.split('.').all(|part| !part.is_empty() && part.bytes().all(fits));
    if dotted && key.len() <= KEY_BYTES_MAX {
        key.to_owned()
    } else {
        ContentHash::of(key.as_bytes()).to_string()
    }
}

/// Whether a body is HTML: it starts like a document or a known element, or it closes one.
pub(super) fn looks_like_html(body: &str) -> bool {
    const ELEMENTS: [&str; 38] = [
        "html",
        "head",
        "body",
        "p",
        "div",
        "span",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "table",
        "thead",
        "tbody",
        "tr",
        "td",
        "th",
        "ul",
        "ol",
        "li",
        "dl",
        "a",
        "b",
        "i",
        "u",
        "strong",
        "em",
        "br",
        "hr",
        "img",
        "style",
        "pre",
        "blockquote",
        "font",
        "center",
        "section",
        "article",
    ];
    const PREFIX_BYTES: usize = 16;
    let starts_element = |rest: &str| {
        let end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        name.len() <= PREFIX_BYTES
            && ELEMENTS.contains(&name.to_ascii_lowercase().as_str())
            && after.starts_with(['>', ' ', '/', '\n', '\r', '\t'])
    };
    let start = body.trim_start();
    if let Some(rest) = start.strip_prefix('<') {
        let is_doctype = rest.get(..8).is_some_and(|head| head.eq_ignore_ascii_case("!doctype"));
        if is_doctype || rest.starts_with("!--") || starts_element(rest) {
            return true;
        }
    }
    body.match_indices("</").any(|(at, mark)| starts_element(&body[at + mark.len()..]))
}
