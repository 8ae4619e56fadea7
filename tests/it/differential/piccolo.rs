//! The same programs on the second engine: what they do must be the same, in which words it tells
//! of errors need not.

use luaplan::sandbox::PiccoloVm;

use super::generate::Taste;
use super::outcome::End;
use super::program::Program;
use super::{bare, generate, judge, kind_of, normal, ours, setting, taste};

const PROGRAMS: u64 = 150;
const TOLD_MAX: usize = 10;

/// Takes the words of caught errors away, on both sides, and from Lua what the engine says it lacks: members
/// of texts. On one line: lines must stay.
const WORDLESS: &str = "local members = getmetatable('') \
    if members then local library = members.__index members.__index = function(_, name) \
    return type(name) == 'string' and library[name] or error('no member') end end \
    local stock_pcall, stock_xpcall, stock_resume, stock_close = pcall, xpcall, coroutine.resume, coroutine.close \
    local function wordless(ok, e, ...) if not ok and type(e) == 'string' then return false, 'an error' end return ok, e, ... end \
    function pcall(...) return wordless(stock_pcall(...)) end \
    function xpcall(f, h, ...) return wordless(stock_xpcall(f, function(e) return h(type(e) == 'string' and 'an error' or e) end, ...)) end \
    coroutine.resume = function(...) return wordless(stock_resume(...)) end \
    coroutine.close = function(co, ...) if coroutine.status(co) == 'dead' then stock_close(co) return 'closed' end return wordless(stock_close(co, ...)) end ";

/// What came of one program.
enum Ran {
    Alike,
    /// It uses what the engine says it cannot run.
    Unsupported,
    Differs(String),
}

fn run(program: &Program) -> Ran {
    let source = format!("{WORDLESS}{}", program.source());
    let mut lua = normal::lua(bare::run(&source));
    let mut ours = normal::ours(ours::run::<PiccoloVm>(&source).0, &lua);
    if matches!(&ours.end, End::Failed(code, _) if code == "engine_unsupported") {
        return Ran::Unsupported;
    }
    for outcome in [&mut lua, &mut ours] {
        if let End::Failed(_, message) = &mut outcome.end {
            message.clear();
        }
    }
    match judge(&lua, &ours) {
        None => Ran::Alike,
        Some(text) => Ran::Differs(text),
    }
}

fn tell(seed: u64, program: Program) -> String {
    let small = program.shrink(|program| matches!(run(program), Ran::Differs(_)));
    let text = match run(&small) {
        Ran::Differs(text) => text,
        _ => String::new(),
    };
    let source = small.source();
    let body = source.split_once("function run(context)").map_or("", |(_, body)| body);
    format!("-- seed {seed}\n{text}\n{body}")
}

#[test]
fn generated_programs_do_the_same_on_the_second_engine() {
    let count = setting("LUAPLAN_TEST_PROGRAMS").unwrap_or(PROGRAMS);
    let first = setting("LUAPLAN_TEST_SEED").unwrap_or(1);
    let mut told = std::collections::BTreeMap::new();
    let (mut differing, mut unsupported) = (0, 0);
    for seed in first..first + count {
        let program = generate::program(seed, Taste { closes: false, ..taste(seed) });
        match run(&program) {
            Ran::Alike => {}
            Ran::Unsupported => unsupported += 1,
            Ran::Differs(text) => {
                differing += 1;
                if told.len() < TOLD_MAX {
                    told.entry(kind_of(&text)).or_insert_with(|| tell(seed, program));
                }
            }
        }
    }
    eprintln!(
        "{count} programs from seed {first} on piccolo: {unsupported} use what it cannot run, {differing} differ"
    );
    let told: Vec<String> = told.into_values().collect();
    assert!(told.is_empty(), "{differing} of {count} programs differ\n\n{}", told.join("\n\n"));
}
