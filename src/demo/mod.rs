//! Rank 8: the real parts the demo runs against, all on loopback.
//!
//! An SMTP server that stores the messages it receives, and an HTTP server with a few pictures. They are
//! real servers of their protocols, so the tools run as they do elsewhere; tests use them for the same
//! reason.
//!
//! **Never here:** tools, plans, planners, a listener outside loopback, faults for tests.

mod parts;
mod picture_server;
mod received;
mod smtp_sink;

pub use parts::{DemoParts, RECIPIENT};
pub use picture_server::PictureServer;
pub use received::{AttachmentSummary, MailSummary};
pub use smtp_sink::{ReceivedMail, SinkCredentials, SinkTls, SmtpSink, SmtpSinkOptions};

/// A model's recorded answers to the demo's task, for machines without a model: a JSON list of replies.
pub const RECORDED_REPLY: &str = include_str!("recorded_reply.json");

#[cfg(test)]
mod tests;
