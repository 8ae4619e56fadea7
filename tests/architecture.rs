//! The rules of the tree that the compiler does not hold: ranks and libraries by the manifests of the rooms, file
//! length, what each room says of itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the tree should stop")]

use std::fs;
use std::path::{Path, PathBuf};

const RANKS: &[(&str, u32)] = &[
    ("base", 0),
    ("catalog", 1),
    ("files", 1),
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

/// The package of a room that is a crate; what is left is part of the root.
fn manifest(room: &str) -> Option<toml::Table> {
    let path = tree().join("src").join(room).join("Cargo.toml");
    path.exists().then(|| toml::from_str(&fs::read_to_string(path).unwrap()).unwrap())
}

/// The names under `[dependencies]`, those of single platforms among them. What tests alone need is not looked at.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables = platforms.into_iter().flat_map(|table| table.values().filter_map(toml::Value::as_table));
    std::iter::once(manifest)
        .chain(tables)
        .filter_map(|table| table.get("dependencies")?.as_table())
        .flat_map(|table| table.keys().cloned())
        .collect()
}

/// Rooms that `manifest` needs although their rank is not below its own.
fn upward(rank: u32, manifest: &toml::Table, ranks: &[(String, u32)]) -> Vec<String> {
    let needed = dependencies(manifest);
    ranks
        .iter()
        .filter(|(package, other)| *other >= rank && needed.contains(package))
        .map(|(package, _)| package.clone())
        .collect()
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
fn a_room_needs_only_rooms_of_lower_rank() {
    let ranks: Vec<(String, u32)> = RANKS
        .iter()
        .filter_map(|(room, rank)| {
            Some((manifest(room)?["package"]["name"].as_str().unwrap().to_owned(), *rank))
        })
        .collect();
    assert_eq!(ranks.len() + 1, RANKS.len(), "every room but `cli` is a crate");
    for (room, rank) in RANKS {
        let Some(manifest) = manifest(room) else { continue };
        assert_eq!(upward(*rank, &manifest, &ranks), Vec::<String>::new(), "src/{room}/Cargo.toml");
    }
    let sideways = toml::from_str("[dependencies]\nluaplan-llm.workspace = true").unwrap();
    assert_eq!(upward(1, &sideways, &ranks), ["luaplan-llm"]);
    for entry in fs::read_dir(tree().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let room = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            !path.is_dir() || RANKS.iter().any(|(name, _)| *name == room),
            "the room `{room}` has no rank"
        );
    }
}

#[test]
fn files_stay_short() {
    let mut files = Vec::new();
    for (folder, extension) in
        [("src", "rs"), ("tests", "rs"), ("bench", "rs"), ("lua", "lua"), ("examples", "lua")]
    {
        source_files(&tree().join(folder), extension, &mut files);
    }
    let long: Vec<String> = files
        .iter()
        .map(|file| (file, fs::read_to_string(file).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(file, lines)| format!("{}: {lines} lines", file.display()))
        .collect();
    assert!(files.len() > 20, "the walk found only {} files", files.len());
    assert!(long.is_empty(), "does each hold one idea?\n{}", long.join("\n"));
}

/// The files that a source embeds, as they are written there.
fn embedded(text: &str) -> impl Iterator<Item = &str> {
    ["include_str!(\"", "include_bytes!(\""]
        .into_iter()
        .flat_map(|begin| text.split(begin).skip(1))
        .filter_map(|rest| rest.split_once('"').map(|(path, _)| path))
}

#[test]
fn what_a_room_embeds_lies_in_its_package() {
    let mut seen = 0;
    for (room, _) in RANKS.iter().filter(|(room, _)| manifest(room).is_some()) {
        let package = tree().join("src").join(room).canonicalize().unwrap();
        let mut files = Vec::new();
        source_files(&package, "rs", &mut files);
        files.retain(|file| {
            !file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
        });
        for file in files {
            for path in embedded(&fs::read_to_string(&file).unwrap()) {
                seen += 1;
                let whole = file.parent().unwrap().join(path).canonicalize().unwrap();
                assert!(whole.starts_with(&package), "{} embeds {path}, outside its package", file.display());
            }
        }
    }
    assert!(seen > 5, "only {seen} files are embedded");
    assert_eq!(embedded("x(include_str!(\"../a.txt\"))").collect::<Vec<_>>(), ["../a.txt"]);
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
    let rules: &[(&str, &[&str])] = &[
        ("mlua", &["sandbox"]),
        ("piccolo", &["sandbox"]),
        ("axum", &["http", "mcp", "demo"]),
        ("clap", &[]),
        ("rmcp", &["mcp", "tools"]),
        ("sqlx", &["journal", "tools", "demo"]),
    ];
    for (room, _) in RANKS {
        let Some(manifest) = manifest(room) else { continue };
        let needed = dependencies(&manifest);
        for (library, rooms) in rules {
            let allowed = rooms.contains(room);
            assert!(allowed || !needed.iter().any(|name| name == library), "{room} needs {library}");
        }
    }
    let sandbox = dependencies(&manifest("sandbox").unwrap());
    for never in ["tokio", "futures", "reqwest", "sqlx", "luaplan-bus", "luaplan-journal"] {
        assert!(!sandbox.iter().any(|name| name == never), "the sandbox needs {never}");
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
        for word in ["async fn", "std::fs", "std::net", "std::process"] {
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
        let allowed = relative.starts_with("sandbox/lua54/ffi/");
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

/// The codes that tell of a run at rest.
const AT_REST: [&str; 5] =
    ["AnswerRequired", "ApprovalRequired", "CallInDoubt", "PauseRequested", "RunSleeping"];

/// Where those codes are made of a suspension, and the tables of all codes.
const OF_CODES: [&str; 6] = [
    "app/edge_help.rs",
    "base/error_codes.rs",
    "bus/suspension.rs",
    "cli/exit.rs",
    "http/help.rs",
    "mcp/help.rs",
];

/// Lines that name the code of a run at rest for something else than an error of their own.
fn decided_by_rest_codes(text: &str) -> Vec<String> {
    let reads = |line: &&str| {
        AT_REST.iter().any(|code| {
            line.match_indices(code).any(|(at, _)| {
                let before = &line[..at];
                let is_code = before.ends_with("ErrorCode::") || before.ends_with("C::");
                is_code && !before.ends_with("Error::new(ErrorCode::")
            })
        })
    };
    text.lines().filter(reads).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn no_control_flow_goes_by_the_code_of_a_run_at_rest() {
    let root = tree().join("src");
    let mut files = Vec::new();
    source_files(&root, "rs", &mut files);
    let mut found = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().display().to_string();
        if !OF_CODES.contains(&relative.as_str()) {
            let lines = decided_by_rest_codes(&fs::read_to_string(&file).unwrap());
            found.extend(lines.into_iter().map(|line| format!("src/{relative}: {line}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let planted = "if error.code() == ErrorCode::RunSleeping {\nC::CallInDoubt | C::Interrupted => {}\n\
                   Error::new(ErrorCode::ApprovalRequired, message)\nEventBody::RunSleeping { wake_at }";
    assert_eq!(decided_by_rest_codes(planted).len(), 2);
}

/// Use cases of runs and of what belongs to them, which `app::access` judges.
const JUDGED: &[&str] = &[
    "list",
    "report",
    "plan_source",
    "cancel",
    "cancel_unless_over",
    "pause",
    "start_over",
    "replay",
    "audit",
    "grants",
    "revoke",
    "decide",
    "pending",
    "pending_approvals",
    "open_questions",
    "answer_question",
    "resume",
    "start",
    "following",
    "propose",
];

#[test]
fn no_edge_uses_runs_without_a_caller() {
    let mut faults = Vec::new();
    for room in ["http", "mcp"] {
        for entry in fs::read_dir(Path::new("src").join(room)).unwrap() {
            let path = entry.unwrap().path();
            // Runs that the service claims by itself, and the end of a run whose own client is gone.
            if path.ends_with("abandoned.rs") || !path.is_file() {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for (index, line) in text.lines().enumerate() {
                for name in JUDGED {
                    let raw = ["runs", "app", "runs()", "app()", "approvals()", "history()"]
                        .map(|owner| format!("{owner}.{name}("));
                    if raw.iter().any(|raw| line.contains(raw.as_str())) && !line.contains("// judged") {
                        faults.push(format!("{}:{}: {}", path.display(), index + 1, line.trim()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
