//! Several processes write one journal, and one of them is killed.

use std::process::Stdio;

use luaplan::journal::{JournalRead, RecordFilter, SqliteJournal};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::*;

fn start(dir: &Dir, run: u8, times: i64) -> Child {
    Command::new(env!("CARGO_BIN_EXE_luaplan-test-child"))
        .arg("journal")
        .arg(dir.path())
        .args([run_id(run).to_string(), times.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn processes_that_start_and_write_together_make_one_chain() {
    let dir = Dir::new();
    let children: Vec<Child> = (1..=3).map(|run| start(&dir, run, 60)).collect();
    for child in children {
        let output = child.wait_with_output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let journal = SqliteJournal::open_read_only(&dir.path()).await.unwrap();
    let report = journal.verify().await.unwrap();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.records, 180);
    for run in 1..=3 {
        let filter = RecordFilter { run_id: Some(run_id(run)), ..RecordFilter::default() };
        assert_eq!(journal.records(filter).await.unwrap().len(), 60);
    }
}

#[tokio::test]
async fn a_process_killed_while_writing_leaves_every_answered_append_and_a_whole_chain() {
    let dir = Dir::new();
    for round in 1..=3 {
        let mut child = start(&dir, round, 1_000_000);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answered = 0;
        while answered < 40 {
            let line = lines.next_line().await.unwrap().expect("the process goes on until it is killed");
            if line.starts_with("appended ") {
                answered += 1;
            }
        }
        child.kill().await.unwrap();
        let mut last = 0;
        while let Some(line) = lines.next_line().await.unwrap() {
            last = line.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(last);
        }
        let journal = dir.open().await;
        let report = journal.verify().await.unwrap();
        assert!(report.ok, "{report:?}");
        assert!(report.records >= last, "{} of {last}", report.records);
        journal.close().await;
    }
}
