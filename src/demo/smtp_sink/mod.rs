//! A small SMTP server on loopback that receives, and keeps each message as an `.eml` file.
//!
//! Written here because no published receiving crate fits: those with PIPELINING, SIZE and SMTPUTF8 are
//! whole mail systems, and the small ones lack them or are no longer maintained.

mod lines;
mod session;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_util::sync::CancellationToken;

use luaplan_base::{ContentHash, Error, ErrorCode, Result};

/// Whether and how connections are encrypted.
#[derive(Debug, Clone, Default)]
pub enum SinkTls {
    /// Never.
    #[default]
    None,
    /// From the client's STARTTLS on.
    StartTls(Arc<ServerConfig>),
    /// From the first byte.
    Implicit(Arc<ServerConfig>),
}

/// Who may send. With TLS, credentials are taken over an encrypted connection only.
#[derive(Debug, Clone)]
pub struct SinkCredentials {
    /// User name.
    pub username: String,
    /// Password.
    pub password: SecretString,
}

/// The options of the sink. It always listens on a free port of 127.0.0.1.
#[derive(Debug, Clone)]
pub struct SmtpSinkOptions {
    /// Where messages are kept; made if absent.
    pub folder: PathBuf,
    /// Encryption.
    pub tls: SinkTls,
    /// If set, clients must authenticate (PLAIN or LOGIN).
    pub credentials: Option<SinkCredentials>,
    /// Bytes of one message.
    pub message_bytes_max: usize,
    /// Recipients of one message.
    pub recipients_max: usize,
    /// Connections at once; a further one gets a temporary refusal.
    pub connections_max: usize,
    /// How long a client may stay silent.
    pub idle: Duration,
}

impl SmtpSinkOptions {
    /// Plain, open, messages up to 64 MiB with up to 100 recipients, 16 connections, 30 s idle.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            tls: SinkTls::None,
            credentials: None,
            message_bytes_max: 64 * 1024 * 1024,
            recipients_max: 100,
            connections_max: 16,
            idle: Duration::from_secs(30),
        }
    }
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMail {
    /// The `.eml` file: the message exactly as it came.
    pub path: PathBuf,
    /// Envelope sender; empty for bounces.
    pub from: String,
    /// Envelope recipients, blind copies included.
    pub to: Vec<String>,
    /// Bytes of the message.
    pub size_bytes: usize,
    /// The user the sender authenticated as.
    pub authenticated_as: Option<String>,
    /// Whether it came over TLS.
    pub encrypted: bool,
}

/// What every session shares.
#[derive(Debug)]
struct Shared {
    options: SmtpSinkOptions,
    received: Mutex<Vec<ReceivedMail>>,
    // Held across the file's write, so that numbers, files and `received` agree in order.
    writing: tokio::sync::Mutex<()>,
}

/// A running sink. Dropping it stops it.
#[derive(Debug)]
pub struct SmtpSink {
    addr: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl SmtpSink {
    /// Starts receiving.
    ///
    /// # Errors
    /// `listen_failed` where no port is free, `file_unreadable` where the folder cannot be made.
    pub async fn start(options: SmtpSinkOptions) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorCode::ListenFailed, format!("the mail sink cannot listen: {error}"))
        };
        tokio::fs::create_dir_all(&options.folder).await.map_err(|error| {
            let folder = options.folder.display();
            Error::new(ErrorCode::FileUnreadable, format!("the mail folder {folder} cannot be made: {error}"))
        })?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared { options, received: Mutex::default(), writing: Default::default() });
        let stop = CancellationToken::new();
        let task = tokio::spawn(accept(listener, Arc::clone(&shared), stop.clone()));
        Ok(Self { addr, shared, stop, task: Some(task) })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Everything received so far, oldest first.
    #[must_use]
    pub fn messages(&self) -> Vec<ReceivedMail> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops, and cuts active sessions.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for SmtpSink {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Shared {
    /// Stores one message, whole or not at all.
    async fn keep(&self, mut mail: ReceivedMail, content: &[u8]) -> std::io::Result<()> {
        let _one_at_a_time = self.writing.lock().await;
        let number = self.received.lock().unwrap_or_else(PoisonError::into_inner).len() + 1;
        let name = format!("{number:04}-{}.eml", ContentHash::of(content).short());
        mail.path = self.options.folder.join(&name);
        let part = self.options.folder.join(format!("{name}.part"));
        tokio::fs::write(&part, content).await?;
        tokio::fs::rename(&part, &mail.path).await?;
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
        Ok(())
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let free = Arc::new(Semaphore::new(shared.options.connections_max));
    let mut sessions = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((mut stream, _)) = accepted else { continue };
        while sessions.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&free).try_acquire_owned() else {
            let _ = stream.write_all(b"421 too many connections, try again later\r\n").await;
            continue;
        };
        let shared = Arc::clone(&shared);
        sessions.spawn(async move {
            if let Err(error) = serve(stream, &shared).await {
                tracing::debug!(%error, "a mail session broke off");
            }
            drop(permit);
        });
    }
}

async fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let idle = shared.options.idle;
    match &shared.options.tls {
        SinkTls::None => session::run(stream, shared, false).await.map(drop),
        SinkTls::Implicit(config) => {
            let stream = encrypt(stream, config, idle).await?;
            session::run(stream, shared, true).await.map(drop)
        }
        SinkTls::StartTls(config) => match session::run(stream, shared, false).await? {
            Some(stream) => {
                let stream = encrypt(stream, config, idle).await?;
                session::run(stream, shared, true).await.map(drop)
            }
            None => Ok(()),
        },
    }
}

async fn encrypt(
    stream: TcpStream,
    config: &Arc<ServerConfig>,
    idle: Duration,
) -> std::io::Result<tokio_rustls::server::TlsStream<TcpStream>> {
    tokio::time::timeout(idle, TlsAcceptor::from(Arc::clone(config)).accept(stream)).await?
}
