//! Exit codes: one number for each way a run can end.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Folder;

/// How long a test waits for something that must happen; hit only by a fault.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn one_where_the_plan_raises_and_the_message_names_the_line() {
    let folder = Folder::new();
    let ended = folder.plan("function run(context)\n  error('out of luck')\nend", &[]).fails(1, "plan_error");
    assert!(ended.err.contains("line 2: out of luck"), "{ended}");
    assert_eq!(ended.err.matches("line 2").count(), 1, "said twice: {ended}");
    let data = folder.run(&["run", "plan.lua", "--json"]).exits(1).json();
    assert_eq!((&data["status"], &data["error"]["line"]), (&json!("failed"), &json!(2)));
}

#[test]
fn one_where_a_failed_call_is_ignored_or_used_as_if_it_had_not_failed() {
    let folder = Folder::new();
    let ignored = "function run() fetch_url('http://127.0.0.1:1/') return 1 end";
    folder.plan(ignored, &[]).fails(1, "tool_error_ignored");
    let used = "function run()\n  local rows = query_db{table = 'users'}\n  return rows[1].name\nend";
    let ended = folder.plan(used, &["--json"]).exits(1).json();
    assert_eq!(ended["error"]["code"], json!("tool_error_used"), "{ended}");
    let looked = "function run() local r = query_db{table = 'users'} return r.code end";
    assert_eq!(folder.plan(looked, &["--json"]).exits(0).json()["result"], json!("tool_not_configured"));
}

#[test]
fn three_where_the_check_refuses_with_the_place_in_the_source() {
    let folder = Folder::new();
    let plan = "function run(context)\n  local rows = query_dbb{table = \"users\"}\n  return os.time()\nend";
    let ended = folder.plan(plan, &[]).fails(3, "check_refused");
    for part in ["plan.lua:2:16", "local rows = query_dbb{table", "did you mean `query_db`?", "plan.lua:3:10"]
    {
        assert!(ended.out.contains(part), "{part}: {ended}");
    }
    assert!(
        ended.out.contains("─────┬────") || ended.out.contains("────┬────"),
        "the name is marked: {ended}"
    );
    let data = folder.run(&["run", "plan.lua", "--json"]).exits(3).json();
    let findings = data["error"]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2, "{data}");
    assert_eq!((&findings[0]["line"], &findings[0]["column"]), (&json!(2), &json!(16)));
    assert_eq!((&findings[0]["end_line"], &findings[0]["end_column"]), (&json!(2), &json!(25)));
    let check = folder.run(&["check", "plan.lua"]).exits(3);
    let marks = |out: &str| -> Vec<String> {
        out.lines().filter(|line| line.contains('┬') || line.contains('▲')).map(str::to_owned).collect()
    };
    assert_eq!(marks(&ended.out), marks(&check.out), "{ended}\n{check}");
    assert!(check.out.contains("plan.lua: 2 errors, 0 warnings"), "{check}");
    let data = folder.run(&["check", "plan.lua", "--json"]).exits(3).json();
    assert_eq!((&data["ok"], &data["findings"]), (&json!(false), &json!(findings)));
    folder.plan("function run( end", &[]).exits(3);
    folder.plan("x = 1", &[]).exits(3);
    folder.plan("", &[]).exits(3);
}

#[test]
fn a_task_without_a_model_is_a_matter_of_configuration() {
    let folder = Folder::new();
    folder.run(&["task", "do something"]).fails(2, "llm_not_configured");
    folder.run(&["plan", "do something"]).fails(2, "llm_not_configured");
    let model = ["--set", "llm.provider=openai", "--set", "llm.model=m", "task", "do something"];
    let ended = folder.run(&model).fails(2, "llm_key_missing");
    assert!(ended.err.contains("OPENAI_API_KEY"), "{ended}");
}

/// Ends the process it holds, should the test fail before it has ended.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Reaped {
    #[expect(clippy::disallowed_methods, reason = "waits for another process, without a runtime")]
    fn wait(&mut self) -> i32 {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the program did not end");
    }

    #[cfg(unix)]
    fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill").args([name, &self.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

/// A plan under way: its call has reached a server that never answers.
fn run_that_hangs(folder: &Folder, words: &[&str]) -> (Reaped, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    folder.write("plan.lua", format!("function run() return pcall(fetch_url, 'http://{address}/') end"));
    let hosts = format!("tools.fetch_url.allow_hosts=[\"{address}\"]");
    let mut command = folder.command(&[&["run", "plan.lua", "--set", &hosts], words].concat());
    let child = Reaped(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.read(&mut [0; 512]).unwrap();
    (child, stream)
}

#[cfg(unix)]
#[test]
fn one_hundred_and_thirty_where_somebody_interrupts_a_call_under_way() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new();
        let (mut child, _stream) = run_that_hangs(&folder, &["--json"]);
        child.signal(signal);
        assert_eq!(child.wait(), 130, "{signal}");
        let mut text = String::new();
        child.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let outcome: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(outcome["status"], json!("cancelled"), "{outcome}");
        assert_eq!(outcome["error"]["code"], json!("cancelled"), "{outcome}");
        let records = folder.run(&["audit"]).exits(0).json_lines();
        let events: Vec<&str> = records.iter().map(|record| record["event"].as_str().unwrap()).collect();
        assert_eq!(events.last(), Some(&"run_cancelled"), "{events:?}");
        let cut = records.iter().find(|record| record["event"] == "tool_call_finished").unwrap();
        assert_eq!(cut["code"], json!("call_cut"), "{cut}");
        assert_eq!(folder.run(&["runs", "--json"]).json()[0]["status"], json!("cancelled"));
        folder.run(&["audit", "verify"]).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn the_journal_can_be_read_and_written_while_a_run_is_under_way() {
    let folder = Folder::new();
    let (mut child, _stream) = run_that_hangs(&folder, &[]);
    assert_eq!(folder.run(&["runs", "--json"]).exits(0).json()[0]["status"], json!("running"));
    assert!(folder.run(&["show", "last"]).exits(0).out.contains("fetch_url"));
    folder.run(&["audit", "verify"]).exits(0);
    folder.write("other.lua", "function run() return 1 end");
    folder.run(&["run", "other.lua"]).exits(0);
    child.signal("-INT");
    assert_eq!(child.wait(), 130);
    folder.run(&["audit", "verify"]).exits(0);
}

#[cfg(unix)]
#[test]
fn looking_back_works_beside_a_server_and_the_server_stops_when_asked() {
    let folder = Folder::with(&[("one.lua", "function run() return 1 end")]);
    folder.run(&["run", "one.lua"]).exits(0);
    let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut server = Reaped(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = told["listening"].as_str().unwrap().strip_prefix("http://127.0.0.1:").unwrap().to_owned();
    assert_ne!(address, "0");
    for words in [&["runs"][..], &["show", "last"], &["audit"], &["audit", "verify"], &["run", "one.lua"]] {
        folder.run(words).exits(0);
    }
    let taken = folder.run(&["serve", "--listen", &format!("127.0.0.1:{address}")]).fails(2, "listen_failed");
    assert!(taken.err.contains(&address), "{taken}");
    server.signal("-TERM");
    assert_eq!(server.wait(), 0);
    folder.run(&["serve", "--listen", "0.0.0.0:0"]).fails(2, "listen_refused");
    folder.run(&["serve", "--listen", "here"]).fails(2, "config_invalid");
}
