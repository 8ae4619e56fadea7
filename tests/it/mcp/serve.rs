//! `luaplan serve` as a process, with `/mcp` beside the API.

#![expect(clippy::expect_used, reason = "what did not come in time should be named")]

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::http_support::{Client, PATIENCE};

/// A serving process over a folder of its own.
pub(crate) struct Serving {
    pub(crate) client: Client,
    child: Child,
    _folder: tempfile::TempDir,
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
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
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
        // A full pipe would hold it up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { client: Client::new(&base), child, _folder: folder }
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
