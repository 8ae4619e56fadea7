//! The rules of the tree, as tests: ranks, file length, what each room says of itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the tree should stop")]

use std::fs;
use std::path::{Path, PathBuf};

const RANKS: &[(&str, u32)] = &[
    ("base", 0),
    ("catalog", 1),
    ("journal", 1),
    ("llm", 1),
    ("syntax", 1),
    ("plan", 2),
    ("bus", 2),
    ("sandbox", 3),
    ("tools", 3),
    ("planner", 4),
    ("workers", 4),
    ("engine", 5),
    ("testkit", 6),
    ("app", 7),
    ("http", 8),
    ("mcp", 8),
    ("demo", 8),
    ("cli", 9),
];

const LINES_MAX: usize = 400;

fn rank(room: &str) -> Option<u32> {
    RANKS.iter().find(|(name, _)| *name == room).map(|(_, rank)| *rank)
}

/// What is wrong with one source file of `room`.
fn faults(path: &str, room: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        faults.push(format!("{path}: {lines} lines, at most {LINES_MAX}: does it hold one idea?"));
    }
    let own_rank = rank(room);
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for (position, _) in code.match_indices("crate::") {
            let rest = &code[position + "crate::".len()..];
            let other: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if other == room || other.is_empty() {
                continue;
            }
            let place = format!("{path}:{}", index + 1);
            match (own_rank, rank(&other)) {
                (_, None) => faults.push(format!("{place}: `crate::{other}` has no rank")),
                (Some(own), Some(imported)) if imported >= own => {
                    faults.push(format!("{place}: {room} (rank {own}) imports {other} (rank {imported})"));
                }
                _ => {}
            }
        }
        if code.contains("use crate::{") {
            faults.push(format!("{path}:{}: name each room in a line of its own", index + 1));
        }
    }
    faults
}

fn source_files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn tree() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn modules_import_only_lower_ranks_and_files_stay_short() {
    let root = tree().join("src");
    let mut files = Vec::new();
    source_files(&root, "rs", &mut files);
    assert!(files.len() > 20, "the walk found only {} files", files.len());
    let mut all = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let room = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        if relative.components().count() == 1 {
            continue;
        }
        all.extend(faults(&relative.display().to_string(), &room, &fs::read_to_string(&file).unwrap()));
        assert!(rank(&room).is_some(), "the room `{room}` has no rank");
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn tests_benches_and_lua_files_stay_short() {
    let mut files = Vec::new();
    for (folder, extension) in [("tests", "rs"), ("bench", "rs"), ("lua", "lua"), ("examples", "lua")] {
        source_files(&tree().join(folder), extension, &mut files);
    }
    let long: Vec<String> = files
        .iter()
        .map(|file| (file, fs::read_to_string(file).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(file, lines)| format!("{}: {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn each_room_says_what_is_never_there() {
    for (room, rank) in RANKS {
        let text = fs::read_to_string(tree().join("src").join(room).join("mod.rs")).unwrap();
        assert!(text.starts_with(&format!("//! Rank {rank}:")), "src/{room}/mod.rs must open with its rank");
        assert!(text.contains("**Never here:**"), "src/{room}/mod.rs must say what is never there");
    }
}

#[test]
fn only_the_sandbox_knows_lua_and_only_the_edges_know_http_servers() {
    let root = tree().join("src");
    let rules: &[(&str, &[&str])] = &[
        ("mlua", &["sandbox"]),
        ("piccolo", &["sandbox"]),
        ("axum", &["http", "mcp", "demo"]),
        ("clap", &["cli", "main.rs"]),
        ("rmcp", &["mcp", "tools"]),
    ];
    let mut files = Vec::new();
    source_files(&root, "rs", &mut files);
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        for (library, rooms) in rules {
            let uses = text.lines().any(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains(&format!("{library}::")) || code.trim() == format!("use {library};")
            });
            let allowed = rooms.iter().any(|room| relative.starts_with(room));
            assert!(!uses || allowed, "src/{relative} uses {library}, which belongs to {rooms:?}");
        }
    }
}

#[test]
fn the_sandbox_does_no_io_and_is_not_async() {
    let mut files = Vec::new();
    source_files(&tree().join("src/sandbox"), "rs", &mut files);
    for file in files {
        if file.components().any(|part| part.as_os_str() == "tests") || file.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for word in
            ["tokio", "async fn", "std::fs", "std::net", "std::process", "crate::bus", "crate::journal"]
        {
            let found = text.lines().any(|line| line.split("//").next().unwrap_or_default().contains(word));
            assert!(!found, "{} has `{word}`", file.display());
        }
    }
}

#[test]
fn unsafe_code_stays_in_the_layer_under_the_meter() {
    let root = tree().join("src");
    let mut files = Vec::new();
    source_files(&root, "rs", &mut files);
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let uses = text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or_default();
            code.contains("unsafe ") || code.contains("unsafe_code")
        });
        let allowed = relative.starts_with("sandbox/engine_mlua/raw/");
        assert!(!uses || allowed, "src/{relative} has `unsafe`");
    }
}

/// Lines that decide by the words of an error's message: what an error is stands in its code and details.
fn decided_by_words(text: &str) -> Vec<String> {
    const WAYS: [&str; 5] = ["contains(", "starts_with(", "ends_with(", "strip_prefix(", "split"];
    let decides = |line: &&str| {
        let mut parts = line.split("message().").skip(1);
        let told = line.contains("assert") || line.contains("// a plan's own text");
        !told && parts.any(|rest| WAYS.iter().any(|way| rest.starts_with(way)))
    };
    text.lines().filter(decides).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn no_control_flow_goes_by_the_text_of_a_message() {
    let mut files = Vec::new();
    source_files(&tree().join("src"), "rs", &mut files);
    files.retain(|file| {
        !file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
    });
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let lines = decided_by_words(&fs::read_to_string(file).unwrap());
            lines.into_iter().map(move |line| format!("{}: {line}", file.display()))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let planted = "if error.message().contains(\"denied\") {\nerror.message().split(' ')";
    assert_eq!(decided_by_words(planted).len(), 2);
}

#[test]
fn a_planted_fault_is_found() {
    let upward = faults("bus/x.rs", "bus", "use crate::engine::drive;\n");
    assert_eq!(upward, ["bus/x.rs:1: bus (rank 2) imports engine (rank 5)"]);
    let sideways = faults("journal/x.rs", "journal", "fn f(x: crate::llm::ChatReply) {}\n");
    assert_eq!(sideways, ["journal/x.rs:1: journal (rank 1) imports llm (rank 1)"]);
    let unranked = faults("bus/x.rs", "bus", "use crate::misc::x;\n");
    assert_eq!(unranked, ["bus/x.rs:1: `crate::misc` has no rank"]);
    let long = faults("bus/x.rs", "bus", &"\n".repeat(401));
    assert_eq!(long.len(), 1);
    let fine = faults("engine/x.rs", "engine", "use crate::bus::CallHandler; // not crate::cli::x\n");
    assert!(fine.is_empty(), "{fine:?}");
}

/// Use cases of runs and of what belongs to them, which `app::access` judges.
const JUDGED: &[&str] = &[
    "list",
    "report",
    "plan_source",
    "cancel",
    "cancel_by",
    "cancel_unless_over",
    "pause",
    "start_over",
    "replay",
    "audit",
    "grants",
    "revoke",
    "revoke_of",
    "decide",
    "decide_as",
    "pending_approvals",
    "resume",
    "submit",
    "submit_checked",
    "start",
    "propose",
];

#[test]
fn no_edge_uses_runs_without_a_caller() {
    let mut faults = Vec::new();
    for room in ["http", "mcp"] {
        for entry in fs::read_dir(Path::new("src").join(room)).unwrap() {
            let path = entry.unwrap().path();
            // Runs that the service takes up by itself, and the end of a run whose own client is gone.
            if path.ends_with("abandoned.rs") || !path.is_file() {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for (index, line) in text.lines().enumerate() {
                for name in JUDGED {
                    let raw = ["runs", "app", "runs()", "app()"].map(|owner| format!("{owner}.{name}("));
                    if raw.iter().any(|raw| line.contains(raw.as_str())) && !line.contains("// judged") {
                        faults.push(format!("{}:{}: {}", path.display(), index + 1, line.trim()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
