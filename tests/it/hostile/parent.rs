//! The parent: hands jobs to child processes and collects what came of them.
//!
//! A child that dies or hangs costs its job only; another child continues with the rest.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::job::{EXIT_GIVEN_UP, End, Job, Report};

/// A child counts processor time and gives up by itself; this is for one that does not even that.
const SILENCE_MAX: Duration = Duration::from_secs(240);

/// The variable that names a file to log to.
const LOG: &str = "LUAPLAN_TEST_HOSTILE_LOG";

/// Runs every job, in order, `children` at a time.
pub(crate) fn run_all(jobs: &[Job], children: usize) -> Vec<Report> {
    let share = jobs.len().div_ceil(children.max(1)).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            jobs.chunks(share).map(|chunk| scope.spawn(move || run_in_turn(chunk))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn run_in_turn(jobs: &[Job]) -> Vec<Report> {
    let mut reports = Vec::with_capacity(jobs.len());
    while reports.len() < jobs.len() {
        let before = reports.len();
        if let Some(end) = run_child(&jobs[before..], &mut reports)
            && reports.len() < jobs.len()
        {
            reports.push(lost(end));
        }
        if let (Some(job), Some(report)) = (jobs.get(reports.len() - 1), reports.last())
            && matches!(report.end, End::NotStopped | End::Crashed(_))
        {
            log(job, report);
        }
        assert!(reports.len() > before, "a child did nothing at all");
    }
    reports
}

/// Adds a line to the file named by [`LOG`], if any: a long run can be looked at
/// while it goes.
fn log(job: &Job, report: &Report) {
    #[expect(clippy::disallowed_methods, reason = "a switch of this test, not of the program")]
    let Ok(path) = std::env::var(LOG) else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    let Report { end, cpu_ms, late_ms, instructions, peak_kib, kept_kib, .. } = report;
    let late = late_ms.map_or_else(|| "-".to_owned(), |late| late.to_string());
    let (place, name) = (job.place, &job.name);
    let line = format!(
        "{place:?} {name}\t{cpu_ms} ms\tlate {late}\t{instructions}\tpeak {peak_kib}\tkept {kept_kib}\t{end}\n"
    );
    file.write_all(line.as_bytes()).unwrap();
}

fn lost(end: End) -> Report {
    Report {
        end,
        cpu_ms: 0,
        late_ms: None,
        instructions: 0,
        peak_kib: 0,
        kept_kib: 0,
        next_run: String::new(),
    }
}

/// Runs one child until it is done or lost; says how the job it was lost with ended.
fn run_child(jobs: &[Job], reports: &mut Vec<Report>) -> Option<End> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for job in jobs {
        writeln!(file, "{}", serde_json::to_string(job).unwrap()).unwrap();
    }
    file.flush().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_luaplan-test-child"))
        .arg("hostile")
        .args([file.path(), env!("CARGO_BIN_EXE_luaplan").as_ref()])
        // Gives freed memory back at once, so that what is still held is held by someone.
        .envs([
            ("MALLOC_ARENA_MAX", "1"),
            ("MALLOC_MMAP_THRESHOLD_", "65536"),
            ("MALLOC_TRIM_THRESHOLD_", "65536"),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let stderr = child.stderr.take().unwrap();
    let (sender, lines) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in stdout.split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    let complaints = std::thread::spawn(move || {
        let lines = BufReader::new(stderr).split(b'\n').map_while(Result::ok);
        lines.map(|line| String::from_utf8_lossy(&line).into_owned()).take(40).collect::<Vec<_>>().join(" / ")
    });
    let done_before = reports.len();
    let mut is_silent = false;
    let is_done = loop {
        match lines.recv_timeout(SILENCE_MAX).as_deref() {
            Ok("begin") => {}
            Ok("done") => break true,
            Ok(report) => {
                let report = serde_json::from_str(report).unwrap();
                log(&jobs[reports.len() - done_before], &report);
                reports.push(report);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                is_silent = true;
                break false;
            }
        }
    };
    let end = how_it_ended(&mut child, is_silent);
    reader.join().unwrap();
    let complaints = complaints.join().unwrap();
    if is_done {
        return None;
    }
    Some(match end {
        End::Crashed(how) => End::Crashed(format!("{how}; {complaints}")),
        other => other,
    })
}

fn how_it_ended(child: &mut Child, is_silent: bool) -> End {
    if is_silent {
        let _ = child.kill();
    }
    let status = child.wait().unwrap();
    if is_silent || status.code() == Some(EXIT_GIVEN_UP) {
        End::NotStopped
    } else {
        End::Crashed(status.to_string())
    }
}

impl End {
    /// The code of the error, or a word for the other ends.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Result(_) => "result",
            Self::Error(code, _) => code,
            Self::NotStopped => "not stopped",
            Self::Crashed(_) => "crashed",
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = |text: &str| text.chars().take(160).collect::<String>();
        match self {
            Self::Result(text) => write!(f, "result: {}", short(text)),
            Self::Error(code, message) => write!(f, "{code} {}", short(message)),
            Self::NotStopped => f.write_str("NOT STOPPED"),
            Self::Crashed(how) => write!(f, "CRASHED: {}", short(how)),
        }
    }
}
