//! Looking back: `audit` and its filters, `audit verify`, `runs`, `show`.

use serde_json::{Value as Json, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Executor as _};

use super::Folder;

const MIXED: &str = "function run()\n  print('a line')\n  transform_data({1}, '{{ input }}', 'text')\n  local page = fetch_url('http://127.0.0.1:1/')\n  return page.code\nend";

/// Two runs that went well, one that failed.
fn history() -> Folder {
    let folder = Folder::with(&[("mixed.lua", MIXED), ("fail.lua", "function run() error('no') end")]);
    folder.run(&["run", "mixed.lua"]).exits(0);
    folder.run(&["run", "fail.lua"]).exits(1);
    folder.run(&["run", "mixed.lua"]).exits(0);
    folder
}

fn audit(folder: &Folder, words: &[&str]) -> Vec<Json> {
    folder.run(&[&["audit"], words].concat()).exits(0).json_lines()
}

#[test]
fn the_audit_is_filtered_by_run_tool_event_and_outcome() {
    let folder = history();
    let all = audit(&folder, &[]);
    assert!(all.windows(2).all(|pair| pair[0]["sequence"].as_u64() < pair[1]["sequence"].as_u64()));
    let runs = folder.run(&["runs", "--json"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 3);
    let id = runs[1]["run_id"].as_str().unwrap();
    let of_run = audit(&folder, &["--run", id]);
    assert!(!of_run.is_empty() && of_run.iter().all(|record| record["run_id"] == *id));
    assert_eq!(of_run.last().unwrap()["event"], json!("run_failed"));
    let of_tool = audit(&folder, &["--tool", "fetch_url"]);
    assert!(!of_tool.is_empty() && of_tool.iter().all(|record| record["tool"] == "fetch_url"));
    let events = audit(&folder, &["--event", "printed", "--event", "run_failed"]);
    assert_eq!(events.len(), 3);
    let failed = audit(&folder, &["--outcome", "failed", "--tool", "fetch_url"]);
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert_eq!(failed[0]["code"], json!("url_blocked"));
    let well = audit(&folder, &["--outcome", "ok", "--event", "run_finished"]);
    assert_eq!(well.len(), 2);
    let newest = audit(&folder, &["--limit", "2"]);
    assert_eq!(newest, all[all.len() - 2..]);
    // Of tools that are not there any more the log knows; a mistyped name is none of them.
    let cut = folder.run(&["audit", "--limit", "2"]).exits(0);
    assert!(cut.err.contains("only the newest 2 records"), "{cut}");
    let count = all.len().to_string();
    assert!(folder.run(&["audit", "--limit", &count]).exits(0).err.is_empty());
    let tool = folder.run(&["audit", "--tool", "fetch_ulr"]).fails(2, "bad_request");
    assert!(tool.err.contains("did you mean `fetch_url`?") && tool.err.contains("send_email"), "{tool}");
    let event = folder.run(&["audit", "--event", "run_ended"]).fails(2, "bad_request");
    assert!(event.err.contains("run_finished") && event.err.contains("tool_call_started"), "{event}");
    for command in ["show", "resume", "cancel"] {
        let odd = folder.run(&[command, "1234"]).fails(2, "bad_request");
        assert!(odd.err.contains("`luaplan runs` lists the runs with their ids; `last` is"), "{odd}");
    }
    for command in ["audit", "runs"] {
        folder.run(&[command, "--limit", "0"]).exits(2);
    }
    let listed = folder.run(&["runs", "--limit", "2"]).exits(0);
    assert!(listed.err.contains("only the newest 2"), "{listed}");
    assert!(folder.run(&["runs", "--limit", "3"]).exits(0).err.is_empty());
    folder.run(&["audit", "--run", "../../etc"]).exits(2);
}

#[test]
fn the_audit_is_filtered_by_time_in_each_spelling() {
    let folder = history();
    let all = audit(&folder, &[]);
    for since in
        ["2020-01-01", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00+02:00", "2h", "3d", "90m", "1h30m"]
    {
        assert_eq!(audit(&folder, &["--since", since]).len(), all.len(), "{since}");
        assert!(audit(&folder, &["--until", since]).is_empty(), "{since}");
    }
    assert!(audit(&folder, &["--since", "2200-01-01"]).is_empty());
    let middle = all[all.len() / 2]["at"].as_str().unwrap();
    let later = audit(&folder, &["--since", middle]);
    let earlier = audit(&folder, &["--until", middle]);
    assert_eq!(later.len() + earlier.len(), all.len());
    assert_eq!(later[0]["at"], json!(middle));
    for wrong in ["yesterday", "2026-13-01", "2026-02-30T00:00:00Z", "3x", "-2h", "999999999d", ""] {
        let ended = folder.run(&["audit", &format!("--since={wrong}")]).fails(2, "usage");
        assert!(ended.err.contains("--since"), "{ended}");
    }
}

#[test]
fn the_audit_comes_as_csv_with_one_row_a_record() {
    let folder = history();
    let ended = folder.run(&["audit", "--csv", "--event", "run_started"]).exits(0);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 4, "{ended}");
    assert!(lines[0].starts_with("sequence,") && lines[0].contains("run_id"), "{ended}");
    assert!(lines[0].ends_with(",by,tenant,plan_name,reason"), "{ended}");
    assert!(lines[1].ends_with(",local,local,mixed.lua,"), "{ended}");
    let both = folder.run(&["audit", "--csv", "--json"]).exits(2).json();
    assert_eq!(both["error"]["code"], json!("usage"));
}

#[tokio::test]
async fn verify_tells_a_changed_record_a_removed_one_and_a_cut_end() {
    for (what, change) in [
        ("changed", "UPDATE records SET body = replace(body, 'a line', 'a lyne') WHERE event = 'printed'"),
        ("removed", "DELETE FROM records WHERE sequence = 3"),
        ("cut", "DELETE FROM records WHERE sequence > (SELECT max(sequence) - 2 FROM records)"),
    ] {
        let folder = history();
        let sound = folder.run(&["audit", "verify"]).exits(0);
        assert!(sound.out.contains("records, the chain is whole"), "{sound}");
        let file = folder.join(".luaplan/journal.db");
        let mut connection =
            SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(&file)).await.unwrap();
        connection.execute("DROP TRIGGER records_no_update; DROP TRIGGER records_no_delete;").await.unwrap();
        connection.execute(sqlx::raw_sql(change)).await.unwrap();
        connection.close().await.unwrap();
        let broken = folder.run(&["audit", "verify"]).exits(1);
        assert!(broken.out.contains("the chain is broken"), "{what}: {broken}");
        let data = folder.run(&["audit", "verify", "--json"]).exits(1).json();
        assert_eq!(data["ok"], json!(false), "{what}: {data}");
        assert!(!data["problems"].as_array().unwrap().is_empty(), "{what}: {data}");
    }
}

#[test]
fn verify_finds_each_flipped_byte_that_anybody_could_read() {
    let folder = history();
    let file = folder.join(".luaplan/journal.db");
    assert!(!folder.join(".luaplan/journal.db-wal").exists(), "the log was not folded into the file");
    let sound = std::fs::read(&file).unwrap();
    let audit = folder.run(&["audit"]).exits(0).out;
    let places: Vec<usize> = (0..sound.len()).filter(|at| sound[*at..].starts_with(b"a line")).collect();
    let mut found = 0;
    for at in places {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        match folder.run(&["audit", "verify"]).code {
            1 => found += 1,
            // SQLite leaves copies of text in parts of the file that it no longer uses.
            code => assert_eq!((code, folder.run(&["audit"]).exits(0).out), (0, audit.clone())),
        }
    }
    // Twice in what was printed, twice in the source of the plan.
    assert_eq!(found, 4);
}

#[test]
fn a_journal_that_was_taken_away_is_not_an_empty_one() {
    let folder = history();
    std::fs::remove_file(folder.join(".luaplan/journal.db")).unwrap();
    folder.run(&["audit", "verify"]).fails(1, "journal_unavailable");
}

#[test]
fn looking_back_on_a_fresh_folder_finds_nothing_and_leaves_nothing() {
    let folder = Folder::new();
    assert!(folder.run(&["runs"]).exits(0).out.contains("no runs yet"));
    assert!(folder.run(&["audit"]).exits(0).out.is_empty());
    folder.run(&["audit", "verify"]).exits(0);
    folder.run(&["show", "last"]).fails(2, "not_found");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_data_folder_that_cannot_be_used_is_named() {
    let folder = Folder::with(&[("taken", "a file"), ("plan.lua", "function run() end")]);
    for words in [&["run", "plan.lua"][..], &["runs"], &["audit"], &["show", "last"]] {
        let ended =
            folder.run(&[words, &["--set", "data_dir=taken"]].concat()).fails(1, "journal_unavailable");
        assert!(ended.err.contains("taken"), "{ended}");
    }
    if cfg!(target_os = "linux") {
        // A folder in which no user can write, not even root.
        let unwritable = ["run", "plan.lua", "--set", "data_dir=/proc/luaplan"];
        let ended = folder.run(&unwritable).fails(1, "journal_unavailable");
        assert!(ended.err.contains("/proc/luaplan"), "{ended}");
    }
    folder.write("other/journal.db", "this is not a database, but long enough to look at");
    for words in [&["run", "plan.lua"][..], &["runs"]] {
        folder.run(&[words, &["--set", "data_dir=other"]].concat()).fails(1, "journal_corrupt");
    }
}

#[test]
fn runs_are_listed_newest_first_and_by_status() {
    let folder = history();
    let listed = |words: &[&str]| folder.run(&[&["runs", "--json"], words].concat()).exits(0).json();
    let statuses: Vec<Json> =
        listed(&[]).as_array().unwrap().iter().map(|run| run["status"].clone()).collect();
    assert_eq!(statuses, [json!("succeeded"), json!("failed"), json!("succeeded")]);
    assert_eq!(listed(&["--limit", "1"]).as_array().unwrap().len(), 1);
    assert_eq!(listed(&["--status", "failed"])[0]["code"], json!("plan_error"));
    assert_eq!(listed(&["--status", "cancelled"]), json!([]));
    let human = folder.run(&["runs"]).exits(0);
    assert_eq!(human.out.lines().count(), 4);
    assert!(human.out.contains("failed (plan_error)") && human.out.contains("mixed.lua"), "{human}");
    assert!(folder.run(&["runs", "--status", "running"]).exits(0).out.contains("no runs that are running"));
}

#[test]
fn a_run_is_shown_with_plan_calls_and_end() {
    let folder = history();
    let shown = folder.run(&["show", "last"]).exits(0);
    for part in [
        "plan: mixed.lua",
        "\n   4    local page = fetch_url",
        "│ a line",
        "transform_data",
        "url_blocked",
        "result",
    ] {
        assert!(shown.out.contains(part), "{part}: {shown}");
    }
    let runs = folder.run(&["runs", "--json"]).json();
    let id = runs[1]["run_id"].as_str().unwrap();
    assert!(folder.run(&["show", id]).exits(0).out.contains("plan_error: line 1: no"));
    assert_eq!(folder.run(&["show", "last", "--plan"]).exits(0).out, format!("{MIXED}\n"));
    let data = folder.run(&["show", id, "--json"]).exits(0).json();
    assert_eq!((&data["run"]["run_id"], &data["run"]["status"]), (&json!(id), &json!("failed")));
    folder.run(&["show", "01234567-89ab-7def-8123-456789abcdef"]).fails(2, "not_found");
    folder.run(&["show", "what?"]).exits(2);
}

#[test]
fn two_programs_at_once_write_one_whole_chain() {
    let folder = Folder::with(&[("plan.lua", MIXED)]);
    let children: Vec<_> = (0..4)
        .map(|_| folder.command(&["run", "plan.lua"]).stdout(std::process::Stdio::null()).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(folder.run(&["runs", "--json"]).json().as_array().unwrap().len(), 4);
    folder.run(&["audit", "verify"]).exits(0);
}

/// What is shown of an agent's run leads to its caller's, and says why its plan was refused.
#[test]
fn the_run_of_an_agent_names_its_caller_whole_and_what_the_check_found() {
    let folder = Folder::with(&[
        ("plan.lua", "function run() return call_agent('broken') end"),
        ("broken.lua", "function run()\n  return nothere()\nend"),
        ("luaplan.toml", "[agents.broken]\nplan = \"broken.lua\"\n"),
    ]);
    folder.run(&["run", "plan.lua"]).exits(1);
    let runs = folder.run(&["runs", "--json"]).exits(0).json();
    let id = |is_agent: bool| {
        let run = runs.as_array().unwrap().iter().find(|run| run["parent"].is_object() == is_agent).unwrap();
        run["run_id"].as_str().unwrap().to_owned()
    };
    let listed = folder.run(&["runs"]).exits(0);
    assert!(listed.out.contains(&format!("agent broken of {}", id(false))), "{listed}");
    let shown = folder.run(&["show", &id(true)]).exits(0);
    for part in [
        "check_refused: the check found 1 error",
        "plan_unknown_tool",
        "`nothere` is called",
        "2 │   return nothere()",
    ] {
        assert!(shown.out.contains(part), "{part}: {shown}");
    }
    // Where the check passed there is nothing of it.
    let fine = folder.run(&["show", &id(false)]).exits(0);
    assert!(!fine.out.contains("plan_unknown_tool"), "{fine}");
    folder.write("refused.lua", "function run() return other() end");
    folder.run(&["run", "refused.lua"]).exits(3);
    assert!(folder.run(&["show", "last"]).exits(0).out.contains("`other` is called"));
}

#[test]
fn policy_explain_without_a_call_says_what_to_write() {
    let folder = Folder::new();
    let refused = folder.run(&["policy", "explain"]).fails(2, "usage");
    for part in ["no call to explain", "luaplan policy explain last", "--tool NAME --arguments JSON"] {
        assert!(refused.err.contains(part), "{part}: {refused}");
    }
}
