//! Real servers on loopback, and `fetch_url` set up to reach them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use luaplan::base::{CallOutcome, Value};
use luaplan::bus::Tool;
use luaplan::catalog::ToolSpec;
use luaplan::tools::fetch_url::{FetchUrl, FetchUrlSettings, HostLookup};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::{self, invocation};

/// A server that answers each connection with a function over the request's head. It speaks raw
/// HTTP so that tests can break the protocol. Stops when dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

type Answer = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Server {
    pub(crate) async fn start<F, A>(answer: F) -> Self
    where
        F: Fn(TcpStream, String) -> A + Send + Sync + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = requests.clone();
        let answer = Arc::new(move |stream, head| -> Answer { Box::pin(answer(stream, head)) });
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, counter) = (answer.clone(), counter.clone());
                connections.spawn(async move {
                    if let Some(head) = read_head(&mut stream).await {
                        counter.fetch_add(1, Ordering::SeqCst);
                        answer(stream, head).await;
                    }
                });
            }
        });
        Self { address, requests, task }
    }

    /// A server that answers every request with the same bytes.
    pub(crate) async fn fixed(response: impl Into<Vec<u8>>) -> Self {
        let response = Arc::new(response.into());
        Self::start(move |mut stream, _| {
            let response = response.clone();
            async move {
                let _ = stream.write_all(&response).await;
                let _ = stream.shutdown().await;
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => head.extend_from_slice(&buffer[..count]),
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// A whole response; the connection closes after it.
pub(crate) fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// The built-in manifest with another timeout.
pub(crate) fn spec(timeout: Duration) -> ToolSpec {
    support::spec("fetch_url", timeout)
}

/// Settings that allow exactly these hosts.
pub(crate) fn allowing<const N: usize>(hosts: [String; N]) -> FetchUrlSettings {
    FetchUrlSettings { allow_hosts: hosts.into(), ..FetchUrlSettings::default() }
}

pub(crate) fn tool(settings: FetchUrlSettings) -> FetchUrl {
    FetchUrl::new(spec(Duration::from_secs(30)), settings).unwrap()
}

/// A tool that may reach exactly this server.
pub(crate) fn tool_for(server: &Server) -> FetchUrl {
    tool(allowing([server.address.to_string()]))
}

/// `fetch_url(url)`
pub(crate) async fn fetch(tool: &FetchUrl, url: &str) -> CallOutcome {
    call(tool, serde_json::json!({ "urls": url })).await
}

pub(crate) async fn call(tool: &FetchUrl, arguments: serde_json::Value) -> CallOutcome {
    tool.call(invocation(Value::from_json(arguments).unwrap())).await
}

/// Names that lead where a test says.
pub(crate) struct Names(pub(crate) Vec<(&'static str, IpAddr)>);

#[async_trait]
impl HostLookup for Names {
    async fn lookup(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        let found: Vec<IpAddr> =
            self.0.iter().filter(|(name, _)| *name == host).map(|(_, address)| *address).collect();
        if found.is_empty() { Err(std::io::Error::other("no such name")) } else { Ok(found) }
    }
}
