//! The HTTP service on a real socket, a client for it, and a server whose answers can be held back.

#![expect(clippy::expect_used, reason = "what did not come in time should be named")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use luaplan::app::config::{LoadOptions, load};
use luaplan::app::{App, AppParts};
use luaplan::http::Server;
use luaplan::journal::{JournalRead as _, Record, RecordFilter};
use luaplan::llm::LlmClient;
use reqwest::Response;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;

use crate::app_parts::{environment, setting};
pub(crate) use crate::support::until;

/// Long enough for anything that is going to happen at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A port where connections are refused. The socket keeps others from listening there, and does not itself.
pub(crate) fn refusing() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    let bound = socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).and_then(|()| socket.local_addr());
    (socket, bound.unwrap())
}

/// A running service over its own data folder.
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) client: Client,
    pub(crate) task: JoinHandle<()>,
    pub(crate) folder: tempfile::TempDir,
    signals: mpsc::UnboundedSender<&'static str>,
}

impl Service {
    pub(crate) async fn new() -> Self {
        Self::with(&[], None).await
    }

    /// With configuration, `key.path` and TOML text, and a model.
    pub(crate) async fn with(settings: &[(&str, &str)], llm: Option<Arc<dyn LlmClient>>) -> Self {
        Self::of_parts(settings, AppParts { llm, ..AppParts::default() }).await
    }

    pub(crate) async fn of_parts(settings: &[(&str, &str)], parts: AppParts) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = Arc::new(open_with(folder.path(), settings, parts).await);
        Self { folder, ..Self::over(app).await }
    }

    /// Over an application whose folder is the caller's.
    pub(crate) async fn over(app: Arc<App>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::bind(app.clone()).await.unwrap();
        let client = Client::new(&format!("http://{}", server.address()));
        let (signals, waiting) = mpsc::unbounded_channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let task = tokio::spawn(server.run(move || {
            let waiting = waiting.clone();
            async move {
                match waiting.lock().await.recv().await {
                    Some(name) => name,
                    None => std::future::pending().await,
                }
            }
        }));
        Self { app, client, task, folder, signals }
    }

    /// A service whose plans may fetch from `gate`.
    pub(crate) async fn beside(gate: &Gate, settings: &[(&str, &str)]) -> Self {
        let hosts = format!("[\"{}\"]", gate.host);
        let allowed = [("tools.fetch_url.allow_hosts", hosts.as_str())];
        Self::with(&[&allowed, settings].concat(), None).await
    }

    /// Tells the server to stop, as a signal would.
    pub(crate) fn signal(&self, name: &'static str) {
        self.signals.send(name).unwrap();
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(self) -> (Arc<App>, tempfile::TempDir) {
        tokio::time::timeout(PATIENCE, self.task).await.expect("the server did not end").unwrap();
        (self.app, self.folder)
    }

    pub(crate) async fn records(&self, run_id: &str) -> Vec<Record> {
        records(&self.app, run_id).await
    }
}

pub(crate) async fn open(folder: &Path, settings: &[(&str, &str)], llm: Option<Arc<dyn LlmClient>>) -> App {
    open_with(folder, settings, AppParts { llm, ..AppParts::default() }).await
}

async fn open_with(folder: &Path, settings: &[(&str, &str)], parts: AppParts) -> App {
    let mut flags = vec![("server.listen".to_owned(), toml::Value::String("127.0.0.1:0".to_owned()))];
    flags.extend(settings.iter().map(|(key, text)| setting(key, text)));
    let environment = environment(folder);
    let loaded = load(&environment, &LoadOptions { file: None, flags }).unwrap();
    App::open_with(&loaded, &environment, parts).await.unwrap()
}

pub(crate) async fn records(app: &App, run_id: &str) -> Vec<Record> {
    let filter = RecordFilter { run_id: Some(run_id.parse().unwrap()), ..RecordFilter::default() };
    app.journal().records(filter).await.unwrap()
}

/// Talks to a service.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) key: Option<String>,
}

impl Client {
    pub(crate) fn new(base: &str) -> Self {
        // Another test may have installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { http, base: base.to_owned(), key: None }
    }

    /// A connection for each request: no kept one can be closed just when it is used again.
    pub(crate) fn with_fresh_connections(&self) -> Self {
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).pool_max_idle_per_host(0);
        Self { http: http.build().unwrap(), ..self.clone() }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request("GET", path).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Json) -> Answer {
        Answer::of(self.request("POST", path).body(body.to_string()).send().await.unwrap()).await
    }

    /// Posts a plan and waits for its outcome.
    pub(crate) async fn run(&self, plan: &str) -> Json {
        let answer = self.post("/v1/runs?wait=25s", &json!({ "plan": plan })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// Posts a plan and returns its id.
    pub(crate) async fn begin(&self, plan: &str) -> String {
        let answer = self.post("/v1/runs", &json!({ "plan": plan })).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.json()["run_id"].as_str().unwrap().to_owned()
    }

    /// Polls a run until it has ended.
    pub(crate) async fn until_ended(&self, run_id: &str) -> Json {
        let polled = async {
            loop {
                let run = self.get(&format!("/v1/runs/{run_id}")).await.json();
                if run["status"] != "running" {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, polled).await.expect("the run did not end")
    }

    /// Opens a run's events.
    pub(crate) async fn events(&self, run_id: &str, after: Option<u64>) -> EventStream {
        let mut request = self.request("GET", &format!("/v1/runs/{run_id}/events"));
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        EventStream::of(request.send().await.unwrap())
    }

    /// Sends bytes as they are, and returns all that comes back until the server closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.host()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        read.expect("the server did not close").unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Holds for every error: the form, and that the parts agree.
    pub(crate) fn problem(&self, status: u16, code: &str) -> Json {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("urn:luaplan:error:{code}"));
        assert_eq!(problem["detail"], problem["message"]);
        for member in ["title", "message", "help"] {
            assert!(!problem[member].as_str().unwrap().is_empty(), "{member} of {problem}");
        }
        problem
    }
}

/// One server-sent event.
#[derive(Debug, Clone)]
pub(crate) struct SentEvent {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Json,
}

/// Server-sent events as they come.
pub(crate) struct EventStream {
    pub(crate) response: Response,
    unread: String,
}

impl EventStream {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, unread: String::new() }
    }

    /// The next event; `None` where the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<SentEvent> {
        loop {
            while let Some((block, rest)) = self.unread.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.unread = rest;
                if let Some(event) = parse(&block) {
                    return Some(event);
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.expect("no event came").unwrap()?;
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Reads up to the first event of this name, which is the last returned.
    pub(crate) async fn until(&mut self, name: &str) -> Vec<SentEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
            if events.last().is_some_and(|event| event.name == name) {
                return events;
            }
        }
        panic!("the stream ended before {name}: {events:?}");
    }

    /// Reads to the end of the stream.
    pub(crate) async fn all(mut self) -> Vec<SentEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn parse(block: &str) -> Option<SentEvent> {
    let (mut id, mut name, mut data) = (None, None, None);
    for line in block.lines() {
        match line.split_once(": ").unwrap_or_else(|| line.split_once(':').unwrap_or((line, ""))) {
            ("id", text) => id = Some(text.parse().unwrap()),
            ("event", text) => name = Some(text.to_owned()),
            ("data", text) => data = Some(serde_json::from_str(text).unwrap()),
            // A comment keeps the connection awake.
            ("", _) => {}
            (field, _) => panic!("unexpected field {field:?} in {block:?}"),
        }
    }
    Some(SentEvent { id, name: name?, data: data? })
}

/// An HTTP server that answers `/now…` at once and everything else once it is opened.
pub(crate) struct Gate {
    pub(crate) host: String,
    asked: watch::Receiver<usize>,
    open: watch::Sender<bool>,
}

impl Gate {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (count, asked) = watch::channel(0);
        let (open, opened) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, count.clone(), opened.clone()));
            }
        });
        Self { host, asked, open }
    }

    /// A plan that fetches this path and returns the body.
    pub(crate) fn plan(&self, path: &str) -> String {
        format!(
            "function run(context)\n  local body = fetch_url(\"http://{}{path}\")\n  \
             if body.error then return {{ failed = body.code }} end\n  return body\nend",
            self.host
        )
    }

    /// A plan that fetches at once `count` times, one after another, and then what is held back.
    pub(crate) fn long_plan(&self, count: usize) -> String {
        format!(
            "function run(context)\n  for index = 1, {count} do\n    local body = \
             fetch_url(\"http://{host}/now\" .. index)\n    if body.error then error(body.error) end\n  end\n  \
             local body = fetch_url(\"http://{host}/hold\")\n  if body.error then error(body.error) end\n  \
             return body\nend",
            host = self.host
        )
    }

    /// Waits until so many requests have come.
    pub(crate) async fn asked(&self, count: usize) {
        let mut asked = self.asked.clone();
        let waited = tokio::time::timeout(PATIENCE, asked.wait_for(|asked| *asked >= count)).await;
        waited.expect("nobody asked").unwrap();
    }

    /// How many requests have come.
    pub(crate) fn count(&self) -> usize {
        *self.asked.borrow()
    }

    /// Answers what is waiting, and everything after it.
    pub(crate) fn open(&self) {
        self.open.send(true).unwrap();
    }
}

async fn answer(mut stream: TcpStream, count: watch::Sender<usize>, mut opened: watch::Receiver<bool>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    count.send_modify(|count| *count += 1);
    if !head.starts_with(b"GET /now") && opened.wait_for(|open| *open).await.is_err() {
        return;
    }
    let answer =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody";
    let _ = stream.write_all(answer).await;
}
