#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::*;

const MAX: u64 = 1000;
const SECRET: &str = "SECRET";

struct World {
    _all: tempfile::TempDir,
    inside: PathBuf,
    outside: PathBuf,
    _socket: UnixListener,
}

impl World {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let top = all.path().canonicalize().unwrap();
        let (inside, outside) = (top.join("inside"), top.join("outside"));
        for folder in ["sub", ".ssh", ".gnupg", ".aws", "sub/.ssh", "home/.ssh"] {
            fs::create_dir_all(inside.join(folder)).unwrap();
        }
        fs::create_dir(&outside).unwrap();
        let secrets = [
            ".env",
            "sub/.env",
            ".ssh/id_ed25519",
            "sub/.ssh/id_ed25519",
            "home/.ssh/id_ed25519",
            ".gnupg/secring.gpg",
            ".aws/credentials",
            "sub/inner.txt",
        ];
        secrets.iter().for_each(|name| fs::write(inside.join(name), SECRET).unwrap());
        fs::write(inside.join("good.txt"), "good").unwrap();
        fs::write(outside.join("secret.txt"), SECRET).unwrap();
        fs::write(top.join("secret.txt"), SECRET).unwrap();
        fs::write(outside.join("second.txt"), SECRET).unwrap();
        let links = [
            ("link_file", "../outside/secret.txt"),
            ("link_folder", "../outside"),
            ("link_to_link", "link_file"),
            ("link_up", ".."),
            ("link_inside", "good.txt"),
            ("link_env", ".env"),
            ("link_folder_inside", "sub"),
            ("link_loop", "link_loop"),
            ("link_dangling", "../outside/new.txt"),
            ("link_root", "/"),
            ("link_proc", "/proc/self"),
            ("link_dev", "/dev"),
            ("sub/link_up", ".."),
            ("sub/link_file", "../../outside/secret.txt"),
        ];
        links.iter().for_each(|(name, to)| symlink(to, inside.join(name)).unwrap());
        symlink(outside.join("secret.txt"), inside.join("link_absolute")).unwrap();
        for hard in ["hard.txt", "sub/hard.txt"] {
            fs::hard_link(outside.join("second.txt"), inside.join(hard)).unwrap();
        }
        let pipe = inside.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let socket = UnixListener::bind(inside.join("socket")).unwrap();
        Self { _all: all, inside, outside, _socket: socket }
    }

    fn grounds(&self) -> Grounds {
        self.allowing(vec![self.inside.clone()])
    }

    fn allowing(&self, allow: Vec<PathBuf>) -> Grounds {
        let block = BLOCKED_BY_DEFAULT.map(str::to_owned).to_vec();
        Grounds::new(&GroundRules { allow, allow_write: true, block }).unwrap()
    }

    fn tricks(&self) -> Vec<String> {
        let lines = include_str!("tricks.txt").lines().filter(|line| !line.starts_with('#'));
        let paths = lines.map(|line| {
            let line = line.replace("OUTNAME", "outside").replace("INNAME", "inside");
            let line = line.replace("OUT", self.outside.to_str().unwrap());
            unescaped(&line.replace("IN", self.inside.to_str().unwrap()))
        });
        paths.collect()
    }
}

fn unescaped(line: &str) -> String {
    let mut text =
        line.replace("\\\\", "\u{e000}").replace("\\0", "\0").replace("\\n", "\n").replace("\\r", "\r");
    while let Some((before, rest)) = text.split_once("\\u{") {
        let (digits, after) = rest.split_once('}').unwrap();
        let c = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
        text = format!("{before}{c}{after}");
    }
    text.replace('\u{e000}', "\\")
}

#[test]
fn no_trick_reads_what_is_not_allowed() {
    let world = World::new();
    let tricks = world.tricks();
    assert!(tricks.len() >= 100, "only {} tricks", tricks.len());
    // The wider grounds hold the narrow ones, so what is blocked must be blocked there as well.
    for grounds in [world.grounds(), world.allowing(vec![world.inside.clone(), PathBuf::from("/proc")])] {
        for trick in &tricks {
            let read = grounds.read(trick, MAX);
            assert!(read.is_err(), "{trick:?} was read: {read:?}");
        }
    }
}

#[test]
fn no_trick_writes_outside_or_through_a_link() {
    let world = World::new();
    let grounds = world.grounds();
    for trick in world.tricks() {
        let _ = grounds.create(&trick, b"PLANTED", MAX);
        let _ = grounds.replace(&trick, b"PLANTED", &blake3::hash(SECRET.as_bytes()), MAX);
    }
    for file in [
        "outside/secret.txt",
        "outside/second.txt",
        "secret.txt",
        "inside/.env",
        "inside/.ssh/id_ed25519",
        "inside/sub/.env",
    ] {
        let text = fs::read_to_string(world.inside.parent().unwrap().join(file)).unwrap();
        assert_eq!(text, SECRET, "{file}");
    }
    assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(world.inside.join("good.txt")).unwrap(), "good");
}

#[test]
fn both_ways_to_open_refuse_links_and_find_files() {
    let world = World::new();
    let top = open::folder(&world.inside).unwrap();
    let top = std::os::fd::AsFd::as_fd(&top);
    for way in [open::below, open::part_by_part] {
        let opens = |path: &str| {
            let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            way(top, &parts, OFlags::RDONLY).is_ok()
        };
        assert!(opens("good.txt") && opens("sub/inner.txt"));
        for link in [
            "link_file",
            "link_folder/secret.txt",
            "link_inside",
            "sub/link_up/good.txt",
            "link_root/etc/passwd",
        ] {
            assert!(!opens(link), "{link}");
        }
    }
}

#[test]
fn nothing_is_allowed_unless_named_and_a_block_outweighs_it() {
    let none = Grounds::new(&GroundRules::default()).unwrap();
    assert!(none.place("a.txt", Purpose::Read).is_err());
    let world = World::new();
    let all = world.allowing(vec![PathBuf::from("/")]);
    for blocked in
        ["/etc/passwd", "/ETC/passwd", "/var/log/x", "/usr/bin/env", "/proc/self/environ", "/home/x/.ssh/id"]
    {
        assert!(all.place(blocked, Purpose::Read).is_err(), "{blocked}");
    }
    let path = world.inside.join("good.txt");
    assert_eq!(all.read(path.to_str().unwrap(), MAX).unwrap(), b"good");
    let read_only = GroundRules { allow: vec![world.inside.clone()], ..GroundRules::default() };
    let read_only = Grounds::new(&read_only).unwrap();
    assert!(read_only.read("good.txt", MAX).is_ok() && read_only.create("new.txt", b"x", MAX).is_err());
}

#[test]
fn files_are_read_created_and_replaced_whole() {
    let world = World::new();
    let grounds = world.grounds();
    assert_eq!(grounds.read("./good.txt", MAX).unwrap(), b"good");
    assert!(matches!(grounds.read("absent.txt", MAX), Err(FileFault::NotFound { .. })));
    let too_large = FileFault::TooLarge { path: "good.txt".into(), limit: 3, observed: 4 };
    assert_eq!(grounds.read("good.txt", 3), Err(too_large));
    grounds.create("sub/new.txt", b"one", MAX).unwrap();
    assert!(matches!(grounds.create("sub/new.txt", b"two", MAX), Err(FileFault::Exists { .. })));
    let path = world.inside.join("sub/new.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    let other = grounds.replace("sub/new.txt", b"two", &blake3::hash(b"zero"), MAX);
    assert!(matches!(other, Err(FileFault::Changed { .. })), "{other:?}");
    grounds.replace("sub/new.txt", b"two", &blake3::hash(b"one"), MAX).unwrap();
    assert_eq!(grounds.read("sub/new.txt", MAX).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
    assert!(grounds.create(".git/hooks/pre-commit", b"x", MAX).is_err());
    let left = fs::read_dir(world.inside.join("sub")).unwrap();
    let parts = left.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "part"));
    assert_eq!(parts.count(), 0, "no part of a write is left behind");
}

// Linux exchanges two names in one step.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_turns_into_a_link_and_back_never_leads_out() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags};

    let world = World::new();
    let grounds = world.grounds();
    let (turn, aside) = (world.inside.join("turn"), world.inside.join("aside"));
    fs::create_dir(&turn).unwrap();
    fs::write(turn.join("secret.txt"), "good").unwrap();
    symlink(&world.outside, &aside).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_over);
    let turns = std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            rustix::fs::renameat_with(CWD, &turn, CWD, &aside, RenameFlags::EXCHANGE).unwrap();
        }
    });
    // Until it was met in both states often enough.
    let (mut reads, mut refusals) = (0, 0);
    while reads < 500 || refusals < 500 {
        match grounds.read("turn/secret.txt", MAX) {
            Ok(read) if read == b"good" => reads += 1,
            Ok(_) => break,
            Err(_) => refusals += 1,
        }
    }
    is_over.store(true, Ordering::Relaxed);
    turns.join().unwrap();
    assert!(reads >= 500 && refusals >= 500, "a read left the folder after {reads} reads");
}
