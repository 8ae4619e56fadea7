//! The command line: the real program in a process of its own, in an empty folder, with an
//! environment that holds nothing but what the test gives.

mod commands;
mod exits;
mod explain;
mod journal;
mod limits;
mod replay;
mod run;
mod setup;
mod terminal;

pub(crate) use replay::{plan as model_answer, said as model_said};

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// A folder with files, and the program in it.
pub(crate) struct Folder(tempfile::TempDir);

/// How the program ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With files by name.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.join(name)).unwrap()
    }

    /// The names of everything in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        finish(&mut self.command(arguments))
    }

    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
        finish(self.command(arguments).envs(variables.iter().copied()))
    }

    pub(crate) fn run_fed(&self, input: &str, arguments: &[&str]) -> Ended {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ended::of(child.wait_with_output().unwrap())
    }

    /// Runs a one-off plan and gives its end.
    pub(crate) fn plan(&self, source: &str, arguments: &[&str]) -> Ended {
        self.write("plan.lua", source);
        self.run(&[&["run", "plan.lua"], arguments].concat())
    }
}

pub(crate) fn finish(command: &mut Command) -> Ended {
    Ended::of(command.output().unwrap())
}

impl Ended {
    fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output as one JSON document.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Standard output as JSON lines.
    pub(crate) fn json_lines(&self) -> Vec<Json> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Fails the test unless the program ended with `code`.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Fails the test unless it ended with `code` and an error of code `error` on standard error.
    pub(crate) fn fails(self, code: i32, error: &str) -> Self {
        let ended = self.exits(code);
        assert!(ended.err.contains(&format!("error[{error}]")), "{ended}");
        assert!(ended.err.contains("help: "), "{ended}");
        ended
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- out\n{}--- err\n{}", self.code, self.out, self.err)
    }
}

/// The keys of a JSON object, in order.
pub(crate) fn keys(json: &Json) -> Vec<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}
