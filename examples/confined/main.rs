//! Simulates a worker whose VM was broken: it confines itself exactly as `luaplan worker` does, then
//! tries the attack that its argument names, and reports on standard output what happened.
//! `tests/it/workers/confinement.rs` runs it with each argument.
//!
//! `garbage`, `huge`, `silent` and `gone` talk to a host instead, and each violates the protocol in its
//! own way.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests that prints what it saw")]

use std::io::{Read as _, Write as _};
use std::process::Command;

use luaplan::workers::{ConfineSettings, confined};

fn main() {
    // Started as a worker, `worker --engine …`: the program's name says what to do.
    let word = std::env::args().nth(1).filter(|word| word != "worker");
    let program = std::env::current_exe().unwrap();
    let word = word.unwrap_or_else(|| program.file_name().unwrap().to_str().unwrap().to_owned());
    match word.as_str() {
        "garbage" => speak(&[0x2a; 4_096], true),
        "huge" => speak(&u32::MAX.to_le_bytes(), true),
        "silent" => speak(&[], true),
        "gone" => speak(&[], false),
        _ => confine_and_try(&word),
    }
}

fn speak(bytes: &[u8], stays: bool) {
    std::io::stdout().write_all(bytes).unwrap();
    std::io::stdout().flush().unwrap();
    if stays {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }
}

fn confine_and_try(word: &str) {
    // Read while that is still possible.
    let own = std::process::id();
    let settings = ConfineSettings { memory_bytes: 16 << 20, cpu_seconds: 2 };
    let seen = confined(settings, |confinement| {
        println!("{confinement}");
        std::io::stdout().flush().unwrap();
        attempt(word, own)
    });
    println!("outcome: {:?}", seen.unwrap());
}

/// The result of the attack, where this process survives it.
fn attempt(word: &str, own: u32) -> Result<String, String> {
    fn told<T>(outcome: std::io::Result<T>) -> Result<String, String> {
        outcome.map(|_| "it worked".to_owned()).map_err(|error| error.to_string())
    }
    match word {
        "nothing" => Ok("it worked".to_owned()),
        "open" => told(std::fs::File::open("/etc/passwd")),
        "proc" => told(std::fs::read_to_string("/proc/self/maps")),
        "write" => told(std::fs::write("/tmp/luaplan-escaped", "x")),
        "list" => told(std::fs::read_dir("/")),
        "connect" => told(std::net::TcpStream::connect("127.0.0.1:9")),
        "listen" => told(std::net::TcpListener::bind("127.0.0.1:0")),
        "socket" => told(std::os::unix::net::UnixDatagram::unbound()),
        "pipe" => told(std::io::pipe()),
        "exec" => told(Command::new("/bin/true").status()),
        "replace" => {
            told(Err::<(), _>(std::os::unix::process::CommandExt::exec(&mut Command::new("/bin/true"))))
        }
        "thread" => told(std::thread::Builder::new().spawn(|| {})),
        "kill" => told(
            nix::sys::signal::kill(nix::unistd::getppid(), nix::sys::signal::Signal::SIGCONT)
                .map_err(Into::into),
        ),
        "ptrace" => told(nix::sys::ptrace::traceme().map_err(Into::into)),
        "memory" => told(std::fs::File::open(format!("/proc/{own}/mem"))),
        "dup" => told(std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned()),
        "chdir" => told(std::env::set_current_dir("/tmp")),
        "swell" => {
            let mut held: Vec<Vec<u8>> = Vec::new();
            for _ in 0..4_096 {
                held.push(vec![1; 1 << 20]);
            }
            Ok(format!("it worked: {} MiB", held.len()))
        }
        "spin" => {
            let mut number = 1_u64;
            loop {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
        }
        other => panic!("there is no attempt {other}"),
    }
}
