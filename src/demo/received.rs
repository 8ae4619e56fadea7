//! A received message, read back for people.

use std::path::PathBuf;

use mail_parser::{MessageParser, MimeHeaders as _};
use serde::Serialize;

use luaplan_base::{Error, ErrorCode, Result};

use super::ReceivedMail;

/// What arrived, in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MailSummary {
    /// The `.eml` file.
    pub path: PathBuf,
    /// Envelope recipients.
    pub to: Vec<String>,
    /// The subject line.
    pub subject: String,
    /// Every attachment.
    pub attachments: Vec<AttachmentSummary>,
}

/// One attachment, in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttachmentSummary {
    /// File name.
    pub name: String,
    /// Media type.
    pub content_type: String,
    /// Bytes once decoded.
    pub size_bytes: usize,
}

impl ReceivedMail {
    /// Reads the file and takes it apart.
    ///
    /// # Errors
    /// `file_unreadable` where the file cannot be read or is no message.
    pub fn summary(&self) -> Result<MailSummary> {
        let unreadable = |reason: String| {
            Error::new(ErrorCode::FileUnreadable, format!("cannot read {}: {reason}", self.path.display()))
        };
        let bytes = std::fs::read(&self.path).map_err(|error| unreadable(error.to_string()))?;
        let message =
            MessageParser::default().parse(&bytes).ok_or_else(|| unreadable("not a message".to_owned()))?;
        let attachments = message
            .attachments()
            .map(|part| AttachmentSummary {
                name: part.attachment_name().unwrap_or("(no name)").to_owned(),
                content_type: part.content_type().map_or_else(String::new, |kind| {
                    kind.subtype()
                        .map_or_else(|| kind.ctype().to_owned(), |sub| format!("{}/{sub}", kind.ctype()))
                }),
                size_bytes: part.contents().len(),
            })
            .collect();
        Ok(MailSummary {
            path: self.path.clone(),
            to: self.to.clone(),
            subject: message.subject().unwrap_or_default().to_owned(),
            attachments,
        })
    }
}
