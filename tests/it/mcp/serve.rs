//! `luaplan serve` as a process, with `/mcp` beside the API.

#![expect(clippy::expect_used, reason = "what did not come in time should be named")]

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::http_support::{Client, PATIENCE};

/// A serving process over a folder of its own.
pub(crate) struct Serving {
    pub(crate) client: Client,
    /// What it wrote to standard error since it listens.
    pub(crate) log: Arc<Mutex<String>>,
    child: Child,
    _folder: Option<tempfile::TempDir>,
}

impl Serving {
    pub(crate) async fn start(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
        command.current_dir(folder.path()).env_clear().env("HOME", folder.path()).kill_on_drop(true);
        command.args(["serve", "--set", "server.listen=127.0.0.1:0"]);
        for setting in settings {
            command.args(["--set", setting]);
        }
        Self { _folder: Some(folder), ..Self::launch(command).await }
    }

    /// By a command of `serve` on a port of its own choice.
    pub(crate) async fn launch(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let base = loop {
            let line =
                tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it said nothing").unwrap();
            let line = line.expect("it did not start");
            if let Some(base) = line.strip_prefix("listening on ") {
                break base.to_owned();
            }
        };
        let log: Arc<Mutex<String>> = Arc::default();
        let kept = log.clone();
        // A full pipe would hold it up.
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                kept.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self { client: Client::new(&base), log, child, _folder: None }
    }

    /// Tells it to stop, and waits until it has.
    pub(crate) async fn stop(mut self) {
        let id = self.child.id().expect("it has ended already").to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
        let status =
            tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it did not end").unwrap();
        assert!(status.success(), "{status}");
    }
}
