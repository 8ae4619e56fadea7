//! `luaplan test from-run`: tests made of runs on real parts.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use luaplan::base::LimitProfile;
use serde_json::{Value as Json, json};

use crate::app_parts::Bench;
use crate::support::value;

const SUMMARY_EMAIL: &str = include_str!("../../examples/summary_email/plan.lua");

fn luaplan(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
    command.env_clear().current_dir(folder).args(arguments);
    command
}

/// Makes a test of a run and gives the fixture.
fn make(folder: &Path, run: &str, name: &str) -> Json {
    let done =
        luaplan(folder, &["test", "from-run", run, "--output", "made", "--name", name, "--json"]).assert();
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    done.code(0);
    let report: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(report["passes"], json!(true), "{text}{said}");
    let fixture = std::fs::read_to_string(folder.join(format!("made/{name}.fixture.json"))).unwrap();
    luaplan(folder, &["test", &format!("made/{name}_test.lua")]).assert().code(0);
    serde_json::from_str(&fixture).unwrap()
}

/// Why no test can be made of a run.
fn refusal(folder: &Path, run: &str) -> String {
    let done = luaplan(folder, &["test", "from-run", run, "--json"]).assert().code(2);
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    let report: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(report["error"]["code"], "run_not_replayable", "{text}");
    assert!(!folder.join("plan.fixture.json").exists());
    report["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_on_real_parts_becomes_a_test_with_every_byte() {
    let bench = Bench::new().await;
    let outcome = bench.run(SUMMARY_EMAIL).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    let fixture = make(bench.folder(), outcome.run_id.as_str(), "summary");
    assert_eq!(fixture["status"], "succeeded");
    assert_eq!(fixture["result"]["receipt"]["delivered"], true);
    assert_eq!(fixture["source"], SUMMARY_EMAIL);
    let tools: Vec<&str> =
        fixture["calls"].as_array().unwrap().iter().map(|call| call["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["query_db", "fetch_url", "transform_data", "send_email"]);
    assert!(fixture["calls"][1]["result"].to_string().contains("$bytes"), "pictures are bytes");
    assert_eq!(std::fs::read_to_string(bench.folder().join("made/summary.lua")).unwrap(), SUMMARY_EMAIL);
    // Nothing was sent again.
    assert_eq!(bench.parts.received().len(), 1);

    // The test can fail: for another answer, for a call no more made, for another call.
    let plan = bench.folder().join("made/summary.lua");
    for (from, to, said) in [
        ("context[\"receipt\"] = receipt", "context[\"receipt\"] = receipt.response", "result.receipt is "),
        ("\"User Summary\"", "\"Users\"", "the recorded run made no such call"),
        (
            "local receipt = send_email(\"admin@company.com\", \"User Summary\", body, images)",
            "local receipt = { b = body, i = images }",
            "the recorded call ",
        ),
    ] {
        std::fs::write(&plan, SUMMARY_EMAIL.replace(from, to)).unwrap();
        let failed = luaplan(bench.folder(), &["test", "made", "--json"]).assert().code(1);
        let text = String::from_utf8_lossy(&failed.get_output().stdout).into_owned();
        assert!(text.contains(said), "{to}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_run_becomes_a_test_that_expects_its_code_and_line() {
    let bench = Bench::with(&[("tools.query_db.databases", "{ main = \"sqlite:absent.db\" }")], None).await;
    let outcome = bench.run(SUMMARY_EMAIL).await;
    let fixture = make(bench.folder(), outcome.run_id.as_str(), "broken");
    assert_eq!((&fixture["status"], &fixture["code"]), (&json!("failed"), &json!("tool_error_used")));
    assert_eq!(fixture["line"], 4);
    let plan = bench.folder().join("made/broken.lua");
    std::fs::write(&plan, format!("\n{SUMMARY_EMAIL}")).unwrap();
    let failed = luaplan(bench.folder(), &["test", "made"]).assert().code(1);
    let text = String::from_utf8_lossy(&failed.get_output().stdout).into_owned();
    assert!(text.contains("the run failed at line 5, the recorded one at line 4"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_calls_parallel_calls_and_limits_are_replayed() {
    let bench = Bench::with(&[("tools.send_email.allow_recipients", "[\"nobody@company.com\"]")], None).await;
    let refused = r#"function run(context)
  local sent = send_email("admin@company.com", "s", "b")
  local odd = query_db { tabel = "users" }
  context.codes = { sent.code, odd.code }
  return context
end"#;
    let parallel = r#"function run(context)
  local both = parallel {
    function() return query_db { table = "users", where = "age > 30", limit = 2 } end,
    function() return query_db { table = "users", where = "age > 30", limit = 2 } end,
    function() return query_db { table = "absent" } end,
  }
  context.counts = { #both[1], #both[2] }
  context.code = both[3].code
  return context
end"#;
    let limited = "function run(context)\n  local n = 0\n  while true do\n    n = n + 1\n  end\nend";
    let outcome = bench.run(parallel).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    let fixture = make(bench.folder(), outcome.run_id.as_str(), "side_by_side");
    assert_eq!(fixture["calls"].as_array().unwrap().len(), 3);
    assert_eq!(fixture["result"]["counts"], json!([2, 2]));

    let mut limits = LimitProfile::Standard.limits();
    limits.instructions = 50_000;
    let outcome = bench.run_with(limited, None, limits).await;
    let fixture = make(bench.folder(), outcome.run_id.as_str(), "limited");
    assert_eq!(fixture["code"], "limit_instructions");
    assert_eq!(fixture["limits"]["instructions"], 50_000);

    let outcome = bench.run(refused).await;
    if outcome.result.is_ok() {
        let fixture = make(bench.folder(), outcome.run_id.as_str(), "refused");
        assert_eq!(fixture["calls"][0]["error"]["code"], fixture["result"]["codes"][0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_out_of_the_record_is_marked_and_fits_anything() {
    let bench = Bench::new().await;
    let plan = r#"function run(context)
  local rows = query_db { table = "users", limit = 1 }
  local page = fetch_url { urls = rows[1].profile_image_url, headers = { authorization = "Bearer " .. context.word } }
  context.size = #page
  return context
end"#;
    let context = value(json!({"word": "sesame"}));
    let outcome = bench.run_with(plan, Some(context), bench.limits()).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    let fixture = make(bench.folder(), outcome.run_id.as_str(), "marked");
    assert_eq!(fixture["calls"][1]["arguments"]["headers"]["authorization"], "[redacted]");
    let places = fixture["redacted"].as_array().unwrap();
    assert_eq!(places.len(), 1, "{places:?}");
    let test = std::fs::read_to_string(bench.folder().join("made/marked_test.lua")).unwrap();
    assert!(test.contains("Secrets were taken out of the record"), "{test}");
    assert!(test.contains("of fetch_url: arguments.headers.authorization"), "{test}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_there_is_overwritten() {
    let bench = Bench::new().await;
    let outcome = bench.run("function run(context) return { n = 1 } end").await;
    let run = outcome.run_id.as_str();
    make(bench.folder(), run, "one");
    // The same again is no harm.
    make(bench.folder(), run, "one");
    std::fs::write(bench.folder().join("made/one.lua"), "function run() end").unwrap();
    let arguments = ["test", "from-run", run, "--output", "made", "--name", "one"];
    let refused = luaplan(bench.folder(), &arguments).assert().code(2);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(said.contains("file_exists") && said.contains("one.lua"), "{said}");
    luaplan(bench.folder(), &[&arguments[..], &["--force"]].concat()).assert().code(0);
    luaplan(bench.folder(), &["test", "from-run", run, "--name", "../up"]).assert().code(2);
    luaplan(bench.folder(), &["test", "from-run", "last"]).assert().code(0);
    assert!(bench.folder().join("plan_test.lua").exists());
}

#[test]
fn a_run_that_was_killed_or_mocked_is_refused() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = format!(
        "function run(context)\n  local page = fetch_url(\"http://{address}/\")\n  return #page\nend\n"
    );
    std::fs::write(folder.path().join("slow.lua"), plan).unwrap();
    let allow = format!("tools.fetch_url.allow_hosts=[\"{address}\"]");
    let mut run = Process::new(env!("CARGO_BIN_EXE_luaplan"))
        .args(["run", "slow.lua", "--set", &allow])
        .current_dir(folder.path())
        .env_clear()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Once the request is here, the call is under way and on record.
    let (mut request, _) = server.accept().unwrap();
    let _ = request.read(&mut [0; 64]).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    let why = refusal(folder.path(), "last");
    assert!(why.contains("its process was ended"), "{why}");

    luaplan(folder.path(), &["run", "slow.lua", "--mock", "default"]).assert().code(0);
    let why = refusal(folder.path(), "last");
    assert!(why.contains("answered by mocks"), "{why}");

    // The wall limit cuts a call: its answer is nowhere.
    std::thread::spawn(move || {
        let mut open = Vec::new();
        while let Ok((connection, _)) = server.accept() {
            open.push(connection);
        }
    });
    luaplan(folder.path(), &["run", "slow.lua", "--set", &allow, "--limit", "wall=300ms"]).assert().code(4);
    let why = refusal(folder.path(), "last");
    assert!(why.contains("limit_wall"), "{why}");
}

#[test]
fn a_run_that_is_not_there_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    luaplan(folder.path(), &["test", "from-run", "last"]).assert().code(2);
}
