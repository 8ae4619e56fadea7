//! Lua's own behaviour, case by case, on Lua as it comes and on both engines.
//!
//! A file of `tests/cases/lua` holds many blocks, each the body of a `run`. Lua 5.4 itself must run each to
//! its end, which proves what the block expects; both engines must then do the same. Where one differs, the
//! block says so, with a reason that stands in LIMITATIONS.md:
//!
//!     --- name of the block
//!     --# piccolo: REASON
//!
//! `refused.txt` holds texts that must not compile, each below Lua's own message.

use std::path::PathBuf;

use luaplan::base::LimitProfile;
use luaplan::catalog::Catalog;
use luaplan::plan::check;
use luaplan::sandbox::{PiccoloVm, Vm};

use crate::differential::bare;
use crate::differential::ours;
use crate::differential::outcome::{End, Outcome};

/// On one line, so that a block's first line is the second of its source.
const HEAD: &str = "local function show(v) if type(v) == 'string' then return string.format('%q', v) end \
    if math.type(v) == 'float' then return string.format('%.17g', v) .. 'f' end return tostring(v) end \
    local function eq(got, want) if got ~= want or math.type(got) ~= math.type(want) then \
    error('got ' .. show(got) .. ', want ' .. show(want), 2) end end \
    local function same(got, ...) local n = select('#', ...) if got.n ~= n then \
    error('got ' .. got.n .. ' values, want ' .. n, 2) end for i = 1, n do local want = (select(i, ...)) \
    if got[i] ~= want or math.type(got[i]) ~= math.type(want) then \
    error('value ' .. i .. ': got ' .. show(got[i]) .. ', want ' .. show(want), 2) end end end \
    local function fails(want, f, ...) local ok, e = pcall(f, ...) if ok then error('did not fail: ' .. want, 2) end \
    if type(e) ~= 'string' or not string.find(e, want, 1, true) then \
    error('said ' .. show(e) .. ', want ' .. want, 2) end end \
    local pack = table.pack function run(context)\n";

struct Block {
    name: String,
    /// The engine that differs, and why.
    marks: Vec<(String, String)>,
    body: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/lua")
}

fn blocks() -> Vec<Block> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "lua"))
        .collect();
    files.sort();
    let mut blocks: Vec<Block> = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let from = blocks.len();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            if let Some(name) = line.strip_prefix("--- ") {
                let name = format!("{stem}: {name}");
                blocks.push(Block { name, marks: Vec::new(), body: String::new() });
            } else if blocks.len() > from {
                let block = blocks.last_mut().unwrap();
                match line.strip_prefix("--# ") {
                    Some(mark) => {
                        let (engine, reason) = mark.split_once(": ").unwrap();
                        block.marks.push((engine.to_owned(), reason.to_owned()));
                    }
                    None => {
                        block.body.push_str(line);
                        block.body.push('\n');
                    }
                }
            }
        }
    }
    blocks
}

impl Block {
    fn source(&self) -> String {
        format!("{HEAD}{}return 'done' end\n", self.body)
    }

    fn is_marked(&self, engine: &str) -> bool {
        self.marks.iter().any(|(name, _)| name == engine || name == "both")
    }
}

/// What is wrong with a block on one engine, if anything.
fn fault(block: &Block, engine: &str, lua: &Outcome, ours: &Outcome) -> Option<String> {
    let name = &block.name;
    if let End::Failed(code, message) = &ours.end
        && code == "engine_failed"
    {
        return Some(format!("{name}: {engine} failed inside: {message}"));
    }
    match (ours == lua, block.is_marked(engine)) {
        (true, false) | (false, true) => None,
        (true, true) => Some(format!("{name}: marked, and alike on {engine}: take the mark away")),
        (false, false) => Some(format!("{name}: {engine} {:?}", ours.end)),
    }
}

#[test]
fn each_block_does_on_both_engines_what_it_does_in_lua() {
    let blocks = blocks();
    #[expect(clippy::disallowed_methods, reason = "a switch of this test, not of the program")]
    let only = std::env::var("LUAPLAN_TEST_BLOCK").unwrap_or_default();
    // Lua as it comes takes more of the stack than a test has, where coroutines resume one another.
    let judging = std::thread::Builder::new().stack_size(64 << 20).spawn(move || faults_of(&blocks, &only));
    let (count, faults) = judging.unwrap().join().unwrap();
    eprintln!("{count} blocks, {} faults", faults.len());
    assert!(count >= 300, "only {count} blocks");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn faults_of(blocks: &[Block], only: &str) -> (usize, Vec<String>) {
    let mut faults = Vec::new();
    for block in blocks.iter().filter(|block| block.name.contains(only)) {
        let source = block.source();
        let lua = bare::run(&source);
        if !matches!(lua.end, End::Returned(_)) {
            faults.push(format!("{}: Lua itself says {:?}", block.name, lua.end));
            continue;
        }
        faults.extend(fault(block, "mlua", &lua, &ours::run::<Vm>(&source).0));
        faults.extend(fault(block, "piccolo", &lua, &ours::run::<PiccoloVm>(&source).0));
    }
    (blocks.len(), faults)
}

#[test]
fn the_reason_of_each_mark_stands_in_the_limitations() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/LIMITATIONS.md")).unwrap();
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let limitations = plain(&text);
    for block in blocks() {
        for (engine, reason) in &block.marks {
            assert!(["mlua", "piccolo", "both"].contains(&engine.as_str()), "{}: {engine}", block.name);
            assert!(reason.len() > 15 && limitations.contains(&plain(reason)), "{}: {reason}", block.name);
        }
    }
}

/// Each text of `refused.txt` with Lua's message.
fn refused() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder().join("refused.txt")).unwrap();
    text.trim_end()
        .split("\n--- ")
        .skip(1)
        .map(|block| {
            let (reason, source) = block.split_once('\n').unwrap();
            (reason.to_owned(), format!("{source}\n"))
        })
        .collect()
}

#[test]
fn what_lua_does_not_compile_runs_on_no_engine() {
    let texts = refused();
    let (catalog, limits) = (Catalog::from_iter([]), LimitProfile::Standard.limits());
    assert!(texts.len() >= 150, "only {} texts", texts.len());
    let mut faults = Vec::new();
    for (reason, source) in &texts {
        match bare::run(source).end {
            End::Failed(code, message)
                if code == "plan_syntax" && message == format!("plan.lua:{reason}") => {}
            other => faults.push(format!("{reason}: Lua says {other:?} of\n{source}")),
        }
        let report = check(source, "plan.lua", &catalog, &limits);
        if !report.errors().any(|finding| finding.code == "plan_syntax") {
            faults.push(format!("{reason}: the check says {:?} of\n{source}", report.findings));
        }
        match ours::run::<Vm>(source).0.end {
            End::Failed(code, _) if code == "plan_syntax" => {}
            end => faults.push(format!("{reason}: mlua says {end:?} of\n{source}")),
        }
        // What the check refuses is not handed to the second engine; handed to it all the same, it ends well.
        match ours::run::<PiccoloVm>(source).0.end {
            End::Failed(code, _) if code != "engine_failed" => {}
            end => faults.push(format!("{reason}: piccolo says {end:?} of\n{source}")),
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), texts.len(), faults.join("\n"));
}
