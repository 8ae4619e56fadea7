//! Lines in, replies out.

use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

/// Longest command line taken (RFC 5321 asks for 512, extensions and AUTH for more).
const COMMAND_BYTES_MAX: u64 = 4_096;
/// Longest piece of message content read at once; longer lines come in pieces.
const PIECE_BYTES_MAX: u64 = 65_536;

/// A connection read by line. What the client sends ahead (PIPELINING) waits in the buffer.
pub(super) struct Lines<S> {
    stream: BufReader<S>,
    idle: Duration,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    pub(super) fn new(stream: S, idle: Duration) -> Self {
        Self { stream: BufReader::new(stream), idle }
    }

    /// The bare connection, unless the client has already sent more: plaintext must not pass for data sent
    /// under TLS.
    pub(super) fn into_inner(self) -> Option<S> {
        self.stream.buffer().is_empty().then(|| self.stream.into_inner())
    }

    /// Sends reply lines that already carry their codes.
    pub(super) async fn reply(&mut self, text: &str) -> Result<()> {
        let line = format!("{text}\r\n");
        let stream = self.stream.get_mut();
        tokio::time::timeout(self.idle, async {
            // One write: two small ones would wait for the client's acknowledgement in between.
            stream.write_all(line.as_bytes()).await?;
            stream.flush().await
        })
        .await?
    }

    /// The next command without its CRLF, or nothing at the end of the connection.
    pub(super) async fn command(&mut self) -> Result<Option<String>> {
        let line = self.read(COMMAND_BYTES_MAX).await?;
        if line.is_empty() {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\r\n") else {
            return Err(Error::new(ErrorKind::InvalidData, "a command line without CRLF, or too long"));
        };
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err(Error::new(ErrorKind::InvalidData, "a command line that is not UTF-8")),
        }
    }

    /// Message content up to the lone dot, dots unstuffed; nothing where it is longer than
    /// `bytes_max`. Only CRLF ends a line: `LF . LF` is content, so it cannot end the message.
    pub(super) async fn content(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let mut too_long = false;
        let mut at_line_start = true;
        loop {
            let piece = self.read(PIECE_BYTES_MAX).await?;
            if piece.is_empty() {
                return Err(Error::new(ErrorKind::UnexpectedEof, "the client left inside a message"));
            }
            if at_line_start && piece == b".\r\n" {
                return Ok((!too_long).then_some(content));
            }
            let unstuffed = if at_line_start { piece.strip_prefix(b".").unwrap_or(&piece) } else { &piece };
            too_long = too_long || content.len() + unstuffed.len() > bytes_max;
            if !too_long {
                content.extend_from_slice(unstuffed);
            }
            at_line_start = piece.ends_with(b"\r\n");
        }
    }

    async fn read(&mut self, bytes_max: u64) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut limited = (&mut self.stream).take(bytes_max);
        tokio::time::timeout(self.idle, limited.read_until(b'\n', &mut line)).await??;
        Ok(line)
    }
}
