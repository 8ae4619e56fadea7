//! Standard input and output as a transport that answers lines that are no message.
//!
//! The SDK drops lines that are not JSON, and lines that are too long; a client that sent one by mistake
//! would wait for an answer for ever. Here it gets one, without an id, as the line has none to read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// The most answers in the queue: the input of a client that does not read them is not read either.
const ANSWERS_MAX: usize = 16;

/// The fault of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    NotJson,
    TooLong { limit_bytes: usize },
}

impl Fault {
    fn answer(self) -> TxJsonRpcMessage<RoleServer> {
        let error = match self {
            Self::NotJson => ErrorData::parse_error("the line is not JSON", None),
            Self::TooLong { limit_bytes } => ErrorData::invalid_request(
                format!("the line is longer than {limit_bytes} bytes, `server.body_limit`"),
                Some(json!({ "limit": limit_bytes })),
            ),
        };
        TxJsonRpcMessage::<RoleServer>::error(error, None)
    }
}

/// Messages, one per line, over `R` and `W`.
pub(super) struct MessageLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    inner: AsyncRwTransport<RoleServer, Sieve<BufReader<R>>, W>,
    faults: mpsc::UnboundedReceiver<Fault>,
    answers: JoinSet<io::Result<()>>,
    /// Requests received, less answers written.
    unanswered: watch::Sender<usize>,
    /// Cancelled when the client is gone, before the SDK drops its requests.
    at_end: Box<dyn Fn() + Send>,
}

impl<R, W> MessageLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Lines of at most `line_bytes`, their end included. `at_end` is cancelled at the end of the input.
    pub(super) fn new(read: R, write: W, line_bytes: usize, at_end: impl Fn() + Send + 'static) -> Self {
        // It never holds more than one: the filter stops after each.
        let (sender, faults) = mpsc::unbounded_channel();
        let sieve = Sieve {
            from: BufReader::new(read),
            line: Vec::new(),
            passed: 0,
            skips: false,
            line_bytes,
            sender,
        };
        let inner = AsyncRwTransport::new(sieve, write).with_max_line_length(usize::MAX);
        Self {
            inner,
            faults,
            answers: JoinSet::new(),
            unanswered: watch::Sender::new(0),
            at_end: Box::new(at_end),
        }
    }

    /// The number of unanswered requests. One that its client cancelled may stay unanswered.
    pub(super) fn unanswered(&self) -> watch::Receiver<usize> {
        self.unanswered.subscribe()
    }
}

impl<R, W> Transport<RoleServer> for MessageLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = matches!(item, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let (sending, unanswered) = (self.inner.send(item), self.unanswered.clone());
        async move {
            let sent = sending.await;
            if answers {
                unanswered.send_modify(|count| *count = count.saturating_sub(1));
            }
            sent
        }
    }

    // May be dropped while it waits; all state is in `self`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while self.answers.len() >= ANSWERS_MAX {
                self.answers.join_next().await;
            }
            let message = tokio::select! {
                biased;
                Some(fault) = self.faults.recv() => {
                    tracing::warn!(?fault, "a line on standard input is no message");
                    let sending = self.inner.send(fault.answer());
                    self.answers.spawn(sending);
                    continue;
                }
                message = self.inner.receive() => message,
            };
            if message.is_none() {
                // The end: earlier faults are answered first.
                while let Ok(fault) = self.faults.try_recv() {
                    let sending = self.inner.send(fault.answer());
                    self.answers.spawn(sending);
                }
                while self.answers.join_next().await.is_some() {}
                (self.at_end)();
            }
            if matches!(message, Some(JsonRpcMessage::Request(_))) {
                self.unanswered.send_modify(|count| *count += 1);
            }
            return message;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await
    }
}

/// Passes complete lines of JSON.
struct Sieve<R> {
    from: R,
    /// The line being read, or the one being passed on.
    line: Vec<u8>,
    /// How much of a checked line was passed on; 0 while it is being read.
    passed: usize,
    /// Whether the input is inside a line that is too long.
    skips: bool,
    line_bytes: usize,
    sender: mpsc::UnboundedSender<Fault>,
}

impl<R: AsyncBufRead + Unpin> Sieve<R> {
    /// Reads until a line is complete and JSON (`true`), or the end.
    fn fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let from = Pin::new(&mut self.from);
            let seen = std::task::ready!(from.poll_fill_buf(context))?;
            if seen.is_empty() {
                return Poll::Ready(Ok(false));
            }
            let end = seen.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(seen.len(), |end| end + 1);
            let fits = self.line.len() + count <= self.line_bytes;
            if !self.skips && fits {
                self.line.extend_from_slice(seen.get(..count).unwrap_or_default());
            }
            Pin::new(&mut self.from).consume(count);
            let fault = if self.skips {
                self.skips = end.is_none();
                continue;
            } else if !fits {
                self.skips = end.is_none();
                Fault::TooLong { limit_bytes: self.line_bytes }
            } else if end.is_none() {
                continue;
            } else if is_blank(&self.line) || is_json(&self.line) {
                return Poll::Ready(Ok(true));
            } else {
                Fault::NotJson
            };
            self.line = Vec::new();
            // The task that answers is polled before the next line is read.
            let _ = self.sender.send(fault);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
    }
}

/// As the SDK does, ignores a leading byte order mark.
fn is_json(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    serde_json::from_slice::<Json>(line).is_ok()
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

impl<R: AsyncBufRead + Unpin> AsyncRead for Sieve<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let sieve = self.get_mut();
        if sieve.passed == 0 && !std::task::ready!(sieve.fill(context))? {
            return Poll::Ready(Ok(()));
        }
        let rest = sieve.line.get(sieve.passed..).unwrap_or_default();
        let count = rest.len().min(into.remaining());
        into.put_slice(rest.get(..count).unwrap_or_default());
        sieve.passed += count;
        if sieve.passed == sieve.line.len() {
            sieve.line.clear();
            sieve.passed = 0;
        }
        Poll::Ready(Ok(()))
    }
}
