//! What remains of workers whose host was killed, and of those whose host continues.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use luaplan::base::Value;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Wanted, eventually, pool};

/// A `luaplan run` whose plan is in a worker and does not end by itself.
struct Host {
    process: Child,
    worker: i32,
    _folder: tempfile::TempDir,
}

impl Host {
    async fn start(plan: &str, configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.lua"), plan).unwrap();
        std::fs::write(folder.path().join("luaplan.toml"), configuration).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_luaplan"))
            .args(["run", "plan.lua", "--isolation", "process", "--limit", "wall=100s"])
            .args(["--limit", "instructions=1000000000000000"])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut host = Self { process, worker: 0, _folder: folder };
        eventually("the run has its worker", || {
            host.worker = only_child(host.process.id()).unwrap_or(0);
            host.worker != 0
        })
        .await;
        host
    }

    fn state(&self) -> Option<char> {
        state(self.worker)
    }

    async fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        eventually("the worker is gone", || matches!(self.state(), None | Some('Z' | 'X'))).await;
    }
}

impl Drop for Host {
    /// A test that fails leaves nothing behind either.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if self.worker != 0 && !matches!(self.state(), None | Some('Z' | 'X')) {
            let _ = kill(Pid::from_raw(self.worker), Signal::SIGKILL);
        }
    }
}

fn only_child(host: u32) -> Option<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{host}/task")).ok()?;
    let lists = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).next()?.parse().ok()
}

/// The letter of a process's state, where there is one.
fn state(process: i32) -> Option<char> {
    stat(process)?.first()?.chars().next()
}

/// What `/proc` tells of a process after its name.
fn stat(process: i32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    Some(text.rsplit(") ").next()?.split(' ').map(str::to_owned).collect())
}

fn user_ticks(process: i32) -> u64 {
    stat(process).and_then(|words| words.get(11)?.parse().ok()).unwrap_or(0)
}

const LOOPS: &str = "function run() while true do end end";

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_computes_ends_with_a_host_that_is_killed() {
    let mut host = Host::start(LOOPS, "").await;
    let worker = host.worker;
    eventually("the plan computes", || user_ticks(worker) >= 5).await;
    host.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_held_still_ends_with_a_host_that_is_killed() {
    let mut host = Host::start(LOOPS, "").await;
    let worker = host.worker;
    eventually("the plan computes", || user_ticks(worker) >= 5).await;
    // As at the end of a turn.
    kill(Pid::from_raw(worker), Signal::SIGSTOP).unwrap();
    eventually("the worker stands still", || state(worker) == Some('T')).await;
    host.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_waits_for_an_answer_ends_with_a_host_that_is_killed() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let plan = format!("function run() return fetch_url{{ urls = 'http://{address}/' }} end");
    let configuration = format!("[tools.fetch_url]\nallow_hosts = [\"{address}\"]\ntimeout = \"60s\"\n");
    let mut host = Host::start(&plan, &configuration).await;
    // The call is pending: the test does not answer it.
    let called = tokio::time::timeout(Duration::from_secs(20), silent.accept()).await;
    let _unanswered = called.unwrap().unwrap();
    assert_eq!(host.state(), Some('S'));
    host.kill().await;
}

/// The tie is to a thread: it must be one that lives as long as the process.
#[test]
fn a_worker_outlives_the_runtime_threads_that_asked_for_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_keep_alive(Duration::from_millis(1))
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let pool = pool();
        pool.keep_ready();
        eventually("one is ready", || pool.ready() == 1).await;
        // Blocking threads without work have ended by now.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let outcome = Wanted::new("function run() return 42 end", Some(pool.clone())).run().await;
        assert_eq!(outcome.result.unwrap(), Value::Integer(42));
        pool.close();
    });
}
