//! Several processes write one journal, and one of them is killed.

use std::process::Stdio;

use luaplan::journal::{Durability, JournalRead, JournalWrite, RecordFilter, SqliteJournal};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::*;

const PATH_VARIABLE: &str = "LUAPLAN_TEST_JOURNAL";
const RUN_VARIABLE: &str = "LUAPLAN_TEST_JOURNAL_RUN";

#[expect(clippy::disallowed_methods, reason = "how a test tells the process it starts what to do")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Not a test of its own: what the processes below run. Appends forever or a fixed number of
/// times and prints each sequence number it was given.
#[tokio::test]
async fn as_a_writing_process() {
    let (Some(path), Some(run)) = (variable(PATH_VARIABLE), variable(RUN_VARIABLE)) else { return };
    let (run, times) = run.split_once(' ').unwrap();
    let journal = SqliteJournal::open(path.as_ref()).await.unwrap();
    for second in 0..times.parse().unwrap() {
        let durability = if second % 3 == 0 { Durability::Forced } else { Durability::Ordered };
        let body = EventBody::Printed { text: format!("{second}") };
        let record = journal.append(event(run.parse().unwrap(), second, body), durability).await.unwrap();
        eprintln!("appended {} {durability:?}", record.sequence);
    }
}

fn start(dir: &Dir, run: u8, times: i64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::processes::as_a_writing_process", "--nocapture"])
        .env(PATH_VARIABLE, dir.path())
        .env(RUN_VARIABLE, format!("{run} {times}"))
        .stdout(Stdio::null())
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
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
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
