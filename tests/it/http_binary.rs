//! `luaplan serve` as a process of its own: starting, refusing to start, signals, keys, the log.

#![expect(clippy::expect_used, reason = "what did not come in time should be named")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::http_support::{Answer, Client, Gate, PATIENCE, open, records, until};

const KEY: &str = "k-0123456789-abcdefghij";
const PLAN: &str = "function run(context) return 1 end";

pub(crate) fn serve(folder: &Path, settings: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
    command.current_dir(folder).env_clear().env("HOME", folder).kill_on_drop(true);
    command.args(["serve", "--set", "server.listen=127.0.0.1:0"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A serving process, and everything it writes to standard error.
pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) client: Client,
    log: JoinHandle<String>,
}

impl Process {
    async fn start(folder: &Path, settings: &[&str]) -> Self {
        Self::of(serve(folder, settings)).await
    }

    pub(crate) async fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let base = loop {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("it did not start: {log}"));
            log.push_str(&line);
            log.push('\n');
            if let Some(base) = line.strip_prefix("listening on ") {
                break base.to_owned();
            }
        };
        let log = tokio::spawn(async move {
            while let Some(line) = lines.next_line().await.unwrap() {
                log.push_str(&line);
                log.push('\n');
            }
            log
        });
        Self { child, client: Client::new(&base), log }
    }

    async fn beside(gate: &Gate, folder: &Path, settings: &[&str]) -> Self {
        let hosts = format!("tools.fetch_url.allow_hosts=[\"{}\"]", gate.host);
        let mut all = vec![hosts.as_str()];
        all.extend(settings);
        Self::start(folder, &all).await
    }

    async fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().await.unwrap().success());
    }

    /// Waits for the end: the exit code and the log.
    async fn ended(mut self) -> (Option<i32>, String) {
        let status =
            tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it did not end").unwrap();
        (status.code(), self.log.await.unwrap())
    }
}

/// The last event of a run, as the folder's journal has it: name and code.
async fn end_of(folder: &Path, run_id: &str) -> (String, Option<String>) {
    let app = open(folder, &[], None).await;
    assert!(app.journal().verify().await.unwrap().ok);
    let end = records(&app, run_id).await.pop().unwrap().event.body;
    (end.name().to_owned(), end.code().map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_lets_a_running_call_finish_and_exits_with_zero() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let process = Process::beside(&gate, folder.path(), &[]).await;
    let run_id = process.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    process.signal("TERM").await;
    let client = process.client.clone();
    until(async || (client.get("/readyz").await.status == 503).then_some(())).await;
    client.post("/v1/runs", &json!({ "plan": PLAN })).await.problem(503, "shutting_down");
    gate.open();
    assert_eq!(process.ended().await.0, Some(0));
    assert_eq!(end_of(folder.path(), &run_id).await, ("run_finished".to_owned(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_with_a_short_grace_cuts_the_call_and_exits_with_zero() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let process = Process::beside(&gate, folder.path(), &["server.shutdown_grace=50ms"]).await;
    let run_id = process.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0, Some(0));
    let end = ("run_failed".to_owned(), Some("interrupted".to_owned()));
    assert_eq!(end_of(folder.path(), &run_id).await, end);
    let app = open(folder.path(), &[], None).await;
    let codes: Vec<_> = records(&app, &run_id)
        .await
        .iter()
        .map(|record| record.event.body.code().map(str::to_owned))
        .collect();
    assert!(codes.contains(&Some("call_cut".to_owned())), "{codes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_interrupt_ends_the_grace() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let process = Process::beside(&gate, folder.path(), &["server.shutdown_grace=1h"]).await;
    let run_id = process.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    process.signal("INT").await;
    let client = process.client.clone();
    until(async || (client.get("/readyz").await.status == 503).then_some(())).await;
    process.signal("INT").await;
    assert_eq!(process.ended().await.0, Some(0));
    assert_eq!(end_of(folder.path(), &run_id).await.1, Some("interrupted".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_the_journal_holds_and_the_run_goes_on_when_asked() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let process = Process::beside(&gate, folder.path(), &[]).await;
    let ended = process.client.run(PLAN).await["run_id"].as_str().unwrap().to_owned();
    let cut = process.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    process.signal("KILL").await;
    assert_eq!(process.ended().await.0, None);
    let process = Process::beside(&gate, folder.path(), &["server.take_up_runs=false"]).await;
    let client = process.client.clone();
    let run = client.get(&format!("/v1/runs/{cut}")).await.json();
    assert_eq!((&run["status"], &run["under_way_here"]), (&json!("running"), &json!(false)));
    assert_eq!(client.get(&format!("/v1/runs/{ended}")).await.json()["status"], "succeeded");

    // It resumes where it was, once; the call that reads is made again.
    let resume = format!("/v1/runs/{cut}/resume");
    client.post(&resume, &json!({ "resolve": { "1": {} } })).await.problem(400, "bad_request");
    let accepted = client.post(&resume, &json!({})).await;
    assert_eq!((accepted.status, &accepted.json()["status"]), (202, &json!("running")), "{}", accepted.text);
    gate.asked(2).await;
    client.post(&resume, &json!({})).await.problem(409, "run_active");
    gate.open();
    assert_eq!(client.until_ended(&cut).await["status"], "succeeded");
    client.post(&resume, &json!({})).await.problem(409, "run_not_resumable");
    client.post(&format!("/v1/runs/{ended}/resume"), &json!({})).await.problem(409, "run_not_resumable");
    let replayed = client.post(&format!("/v1/runs/{cut}/replay"), &json!({})).await.json();
    assert_eq!((&replayed["same"], &replayed["calls_answered"]), (&json!(true), &json!(1)), "{replayed}");
    let bodiless = client.request("POST", &format!("/v1/runs/{cut}/replay")).send().await.unwrap();
    assert_eq!(bodiless.status(), 200, "no body is an empty object");
    let other = json!({ "plan": "function run() return 2 end" });
    let replayed = client.post(&format!("/v1/runs/{cut}/replay"), &other).await.json();
    assert_eq!(
        (&replayed["same"], &replayed["replayed"]["result"]),
        (&json!(false), &json!(2)),
        "{replayed}"
    );
    assert_eq!(client.run(&gate.plan("/hold")).await["result"], "body");
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0, Some(0));
    assert_eq!(end_of(folder.path(), &cut).await, ("run_finished".to_owned(), None));
}

fn key_file(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("keys");
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn with_keys_every_route_but_health_and_the_description_wants_one() {
    let folder = tempfile::tempdir().unwrap();
    key_file(folder.path(), &format!("# the keys\n\nfirst {KEY}\n  second\tother-{KEY}  \n"));
    let process = Process::start(folder.path(), &["server.api_keys_file=keys"]).await;
    let mut client = process.client.clone();
    for path in ["/v1/runs", "/v1/tools", "/v1/audit", "/v1/runs/x", "/v1/runs/x/plan", "/v1/runs/x/events"] {
        let refused = client.get(path).await;
        refused.problem(401, "unauthorized");
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"luaplan\"");
    }
    for path in ["/v1/runs", "/v1/tasks", "/v1/runs/x/cancel", "/v1/runs/x/resume", "/v1/runs/x/replay"] {
        client.post(path, &json!({ "plan": PLAN })).await.problem(401, "unauthorized");
    }
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(client.get(path).await.status, 200);
    }
    for wrong in [
        format!("Bearer {KEY}x"),
        format!("Bearer {}", &KEY[1..]),
        format!("Basic {KEY}"),
        KEY.to_owned(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer first".to_owned(),
        format!("Bearer first {KEY}"),
    ] {
        let request = client.request("GET", "/v1/runs").header("authorization", &wrong);
        Answer::of(request.send().await.unwrap()).await.problem(401, "unauthorized");
    }
    for right in [format!("Bearer {KEY}"), format!("bearer  other-{KEY} ")] {
        // A key is proof enough; where the request comes from does not matter then.
        let request =
            client.request("GET", "/v1/runs").header("authorization", &right).header("host", "example.com");
        assert_eq!(request.send().await.unwrap().status(), 200, "{right}");
    }
    client.key = Some(KEY.to_owned());
    assert_eq!(client.run(PLAN).await["result"], 1);
    process.signal("TERM").await;
    process.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_names_runs_and_key_names_and_never_a_key() {
    for format in ["text", "json"] {
        let folder = tempfile::tempdir().unwrap();
        key_file(folder.path(), &format!("first {KEY}\n"));
        let settings = ["server.api_keys_file=keys", "log.filter=trace", &format!("log.format={format}")];
        let process = Process::start(folder.path(), &settings).await;
        let mut client = process.client.clone();
        client.key = Some(KEY.to_owned());
        let run_id = client.run(PLAN).await["run_id"].as_str().unwrap().to_owned();
        client.get(&format!("/v1/runs/{run_id}?key={KEY}")).await;
        client.get("/v1/%0A2030-01-01T00:00:00Z%20ERROR%20forged").await.problem(404, "not_found");
        client.post("/v1/runs", &json!({ "plan": PLAN, "name": "a\nforged line" })).await;
        client.key = Some(format!("{KEY}-wrong"));
        client.get("/v1/runs").await.problem(401, "unauthorized");
        process.signal("TERM").await;
        let log = process.ended().await.1;
        assert!(!log.contains(KEY), "{}", log.lines().find(|line| line.contains(KEY)).unwrap());
        let answered: Vec<&str> = log.lines().filter(|line| line.contains("answered")).collect();
        assert_eq!(answered.iter().filter(|line| line.contains(&run_id)).count(), 2, "{answered:#?}");
        assert!(
            answered.iter().any(|line| line.contains("first") && line.contains("/v1/runs")),
            "{answered:#?}"
        );
        let ended = log.lines().find(|line| line.contains("the run ended") && line.contains(&run_id));
        assert!(ended.is_some_and(|line| line.contains("succeeded")), "{log}");
        assert!(!log.lines().any(|line| line.starts_with("forged") || line.starts_with("2030")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut accepted = Vec::new();
    for _ in 0..3 {
        let process = Process::start(folder.path(), &[]).await;
        accepted.push(process.client.begin(PLAN).await);
        process.signal("KILL").await;
        process.ended().await;
    }
    let process = Process::start(folder.path(), &[]).await;
    for run_id in &accepted {
        assert_eq!(process.client.until_ended(run_id).await["result"], 1, "{run_id}");
    }
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0, Some(0));
}

/// Starts it, and returns how it refused: the exit code and what it said.
async fn refusal(folder: &Path, settings: &[&str]) -> (Option<i32>, String) {
    let output = serve(folder, settings).output();
    let output = tokio::time::timeout(PATIENCE, output).await.expect("it started after all").unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_to_start_where_it_could_not_be_safe() {
    let folder = tempfile::tempdir().unwrap();
    let with_keys = "server.api_keys_file=keys";
    for (keys, settings, code, says) in [
        ("", vec!["server.listen=0.0.0.0:0"], "listen_refused", "0.0.0.0"),
        ("", vec!["server.listen=[::]:0"], "listen_refused", "not loopback"),
        ("", vec!["server.api_keys_file=absent"], "config_unreadable", "absent"),
        ("", vec![with_keys], "config_invalid", "holds no key"),
        ("# none\n\n", vec![with_keys], "config_invalid", "holds no key"),
        ("", vec![with_keys, "server.listen=0.0.0.0:0"], "config_invalid", "holds no key"),
        ("first\n", vec![with_keys], "config_invalid", "line 1"),
        (
            "a 0123456789-0123456789\nsecond short\n",
            vec![with_keys],
            "config_invalid",
            "line 2: the key is too short",
        ),
        ("a 01\n", vec![with_keys], "config_invalid", "a key has at least 20 characters"),
        (
            "a 0123456789-0123456789 scope=runs:read\n",
            vec![with_keys],
            "config_invalid",
            "a line is `NAME KEY tenant=NAME scopes=A,B`",
        ),
        ("", vec!["server.listen=here"], "config_invalid", "server.listen"),
        ("", vec!["server.listen=localhost:1"], "config_invalid", "server.listen"),
        ("", vec!["server.max_concurrent_runs=0"], "config_invalid", "server.max_concurrent_runs"),
        ("", vec!["server.body_limit=big"], "config_invalid", "server.body_limit"),
        ("", vec!["server.request_timeout=soon"], "config_invalid", "server.request_timeout"),
        ("", vec!["server.lisen=x"], "config_unknown_key", "lisen"),
    ] {
        key_file(folder.path(), keys);
        let (exit, log) = refusal(folder.path(), &settings).await;
        assert_eq!(exit, Some(2), "{settings:?}: {log}");
        assert!(log.contains(&format!("error[{code}]")) && log.contains(says), "{settings:?}: {log}");
        assert!(!log.contains("short\n") || !log.contains("second short"), "{log}");
    }
    std::fs::write(folder.path().join("keys"), b"first \xff\xfe0123456789012345678901234567").unwrap();
    let (exit, log) = refusal(folder.path(), &[with_keys]).await;
    assert!(exit == Some(2) && log.contains("config_unreadable"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let (exit, log) = refusal(folder.path(), &[&format!("server.listen={address}")]).await;
    assert_eq!(exit, Some(2));
    assert!(log.contains("error[listen_failed]") && log.contains(&address.to_string()), "{log}");
}
