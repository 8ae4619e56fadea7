//! A PostgreSQL server of a test's own, to be restarted under it.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::Part;

/// Where Debian and Fedora have the programs of a server, beside `PATH`.
const FOLDERS: [&str; 2] = ["/usr/lib/postgresql", "/usr/bin"];

/// A server that is there as long as this, on a port and in a folder of its own.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    user: Option<(u32, u32)>,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stop {
    /// It ends its sessions and writes what it holds.
    Fast,
    /// It is gone as after a crash, and recovers from its log.
    Immediate,
}

impl Cluster {
    /// A new one; `None`, said aloud, where there are no programs for it, or no user who may run them.
    pub(crate) fn start(what: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            Part::PostgresCluster.is_absent(what, "there is no initdb and pg_ctl");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let is_root = folder.path().metadata().unwrap().uid() == 0;
        let user = if is_root { unprivileged() } else { None };
        if is_root && user.is_none() {
            Part::PostgresCluster
                .is_absent(what, "a PostgreSQL server does not run as root, and there is no other user");
            return None;
        }
        if let Some((user, group)) = user {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let cluster = Self { programs, folder, port, user };
        let made = ["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8", "-D"];
        cluster.run("initdb", &[&made[..], &[&cluster.data()]].concat());
        cluster.pg_ctl(&["start"]);
        Some(cluster)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops the server and starts it again. Blocks until it takes connections.
    pub(crate) fn restart(&self, stop: Stop) {
        let mode = match stop {
            Stop::Fast => "fast",
            Stop::Immediate => "immediate",
        };
        self.pg_ctl(&["restart", "-m", mode]);
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn pg_ctl(&self, arguments: &[&str]) {
        let folder = self.folder.path().display().to_string();
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=100",
            self.port
        );
        let (data, log) = (self.data(), format!("{folder}/log"));
        self.run(
            "pg_ctl",
            &[arguments, &["-w", "-t", "60", "-D", &data, "-l", &log, "-o", &options]].concat(),
        );
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).env_clear().env("LC_ALL", "C.UTF-8");
        // A server that inherited a pipe would keep it open.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(command.status().unwrap().success(), "{program} {arguments:?}: {log}");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.pg_ctl(&["stop", "-m", "immediate"]);
            return;
        }
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.args(["stop", "-m", "immediate", "-D", &self.data()]).stdout(Stdio::null());
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        let _ = command.status();
    }
}

/// The folder of the newest server installed.
fn programs() -> Option<PathBuf> {
    let is_there = |folder: &Path| ["initdb", "pg_ctl"].iter().all(|name| folder.join(name).exists());
    let mut found: Vec<PathBuf> = std::fs::read_dir(FOLDERS[0])
        .into_iter()
        .flatten()
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .chain(FOLDERS[1..].iter().map(PathBuf::from))
        .filter(|folder| is_there(folder))
        .collect();
    found.sort();
    found.pop()
}

/// The user and group of `postgres`, or else of `nobody`.
fn unprivileged() -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(*name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}
