//! Several `luaplan serve` on one PostgreSQL: runs are shared, nodes die and stall, nothing is lost or
//! repeated.

mod at_rest;
mod history;
mod load;
mod restarts;
mod shared;
mod stalled;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::routing::post;
use luaplan::journal::{JournalRead as _, PostgresJournal, PostgresSettings, Record, RecordFilter};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};

use crate::http_support::Client;
use crate::manifest_tools::manifest;
use crate::postgres_support::Database;

/// What a server was asked to do.
#[derive(Default)]
pub(crate) struct Book {
    /// How often each idempotency key came with a request; what it names is done once.
    pub(crate) keys: BTreeMap<String, u32>,
    /// How often each mark came; each time counts.
    pub(crate) marks: BTreeMap<String, u32>,
}

#[derive(Clone)]
struct Desk {
    book: Arc<Mutex<Book>>,
    came: Arc<Notify>,
    /// The text whose first request is not answered until this says so.
    held: watch::Receiver<Option<String>>,
}

/// A server with effects: `/book` does each idempotency key once, `/mark` whatever comes.
pub(crate) struct Ledger {
    pub(crate) address: String,
    desk: Desk,
    hold: watch::Sender<Option<String>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Ledger {
    pub(crate) async fn start() -> Self {
        let (hold, held) = watch::channel(None);
        let desk = Desk { book: Arc::default(), came: Arc::default(), held };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router =
            Router::new().route("/book", post(book)).route("/mark", post(mark)).with_state(desk.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, desk, hold, task }
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.desk.book.lock().unwrap()
    }

    /// From now on the first request about `what` is not answered.
    pub(crate) fn hold(&self, what: &str) {
        self.hold.send(Some(what.to_owned())).unwrap();
    }

    pub(crate) fn let_go(&self) {
        self.hold.send(None).unwrap();
    }

    /// Waits until so many keys and marks have come.
    pub(crate) async fn asked(&self, keys: usize, marks: usize) {
        loop {
            let came = self.desk.came.notified();
            tokio::pin!(came);
            came.as_mut().enable();
            {
                let book = self.book();
                if book.keys.len() >= keys && book.marks.len() >= marks {
                    return;
                }
            }
            came.await;
        }
    }
}

async fn book(State(desk): State<Desk>, headers: HeaderMap, body: String) -> axum::Json<Json> {
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    let times = {
        let mut book = desk.book.lock().unwrap();
        let times = book.keys.entry(key.clone()).or_default();
        *times += 1;
        *times
    };
    desk.came.notify_waiters();
    let what: Json = serde_json::from_str(&body).unwrap();
    let mut held = desk.held.clone();
    if times == 1 && held.borrow().as_deref() == what["what"].as_str() {
        let _ = held.wait_for(Option::is_none).await;
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    axum::Json(json!({ "key": key }))
}

async fn mark(State(desk): State<Desk>, RawQuery(query): RawQuery) -> axum::Json<Json> {
    *desk.book.lock().unwrap().marks.entry(query.unwrap_or_default()).or_default() += 1;
    desk.came.notify_waiters();
    tokio::time::sleep(Duration::from_millis(40)).await;
    axum::Json(json!({ "marked": true }))
}

/// Makes `folder` a node's: its tools, its configuration.
pub(crate) fn furnish(folder: &Path, database: &Database, ledger: &Ledger, settings: &str) {
    let tools = folder.join("luaplan-tools");
    std::fs::create_dir_all(&tools).unwrap();
    let site = &ledger.address;
    let booking = format!(
        "required = [\"what\"]\n[settings]\nmethod = \"POST\"\nurl = \"http://{site}/book\"\n\
         idempotency_header = \"Idempotency-Key\"\n[settings.body]\njson = {{ what = \"{{what}}\" }}"
    );
    let marking = format!(
        "required = [\"what\"]\n[settings]\nmethod = \"POST\"\nurl = \"http://{site}/mark?{{what}}\""
    );
    let what = "{ what = { type = \"string\" } }";
    let book = manifest("book", "http", "write", what, &booking);
    std::fs::write(tools.join("book.toml"), format!("idempotent = true\n{book}")).unwrap();
    std::fs::write(tools.join("mark.toml"), manifest("mark", "http", "send", what, &marking)).unwrap();
    // However busy the machine is, no call fails for it.
    let granted = format!(
        "allow_hosts = [\"{site}\"]\nrate = \"5000/s\"\nburst = 5000\nconcurrency = 64\ntimeout = \"60s\""
    );
    let configuration = format!(
        "store = \"postgres\"\n[journal]\nurl = \"{}\"\nlease = \"2s\"\n[server]\nlisten = \"127.0.0.1:0\"\n\
         {settings}\n[sandbox]\nisolation = \"in-process\"\n[rates]\nrun = \"1000/s\"\nrun_burst = 1000\n\
         wait_max = \"20s\"\n\
         [tools.book]\n{granted}\n[tools.mark]\n{granted}\n",
        database.url()
    );
    std::fs::write(folder.join("luaplan.toml"), configuration).unwrap();
}

/// One `luaplan serve`.
pub(crate) struct Node {
    child: Child,
    pub(crate) client: Client,
    log: Arc<Mutex<String>>,
    folder: tempfile::TempDir,
}

impl Node {
    /// A database that is busy with what others cut may not answer in time; who runs a node starts it again.
    pub(crate) async fn start(database: &Database, ledger: &Ledger, settings: &str) -> Self {
        const TRIES: usize = 5;
        let mut said = String::new();
        for _ in 0..TRIES {
            match Self::try_start(database, ledger, settings).await {
                Ok(node) => return node,
                Err(log) if log.contains("did not answer in time") => said = log,
                Err(log) => panic!("it did not start: {log}"),
            }
        }
        panic!("it did not start {TRIES} times: {said}");
    }

    /// The node, or what it said before it ended.
    async fn try_start(database: &Database, ledger: &Ledger, settings: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        furnish(folder.path(), database, ledger, settings);
        let mut child = Command::new(env!("CARGO_BIN_EXE_luaplan"))
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .args(["serve", "--set", "log.filter=info"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log: Arc<Mutex<String>> = Arc::default();
        let base = loop {
            let line = lines.next_line().await.unwrap();
            let Some(line) = line else { return Err(log.lock().unwrap().clone()) };
            log.lock().unwrap().push_str(&format!("{line}\n"));
            if let Some(base) = line.strip_prefix("listening on ") {
                break base.to_owned();
            }
        };
        let kept = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                kept.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Ok(Self { child, client: Client::new(&base).with_fresh_connections(), log, folder })
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().unwrap().cast_signed()), signal).unwrap();
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks it to stop and waits until it has; the exit code.
    pub(crate) async fn stop(mut self) -> Option<i32> {
        self.signal(Signal::SIGTERM);
        self.child.wait().await.unwrap().code()
    }

    /// `luaplan` on the same configuration.
    pub(crate) async fn luaplan(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_luaplan"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .output()
            .await
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

/// The journal, to look at.
pub(crate) async fn journal(database: &Database) -> PostgresJournal {
    let url = secrecy::SecretString::from(database.url());
    let settings = PostgresSettings { url, lease: Duration::from_secs(60), anchors: None };
    PostgresJournal::open_read_only(&settings).await.unwrap().unwrap()
}

pub(crate) async fn records(journal: &PostgresJournal, run_id: &str) -> Vec<Record> {
    let filter = RecordFilter { run_id: Some(run_id.parse().unwrap()), ..RecordFilter::default() };
    journal.records(filter).await.unwrap()
}
