//! Compares natives with the original functions of Lua 5.4 on generated arguments.
//!
//! A sample runs in every test run. `LUAPLAN_TEST_CASES=1000000` makes a long run of each
//! comparison, with a seed of its own that is printed and that `LUAPLAN_TEST_SEED` repeats.

use std::cell::Cell;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;

use mlua::{Function, Lua, MultiValue, Value as LuaValue};

use crate::lua_std::{Arg, Charge, Item, Native, NativeCall, NativeError, Out};
use crate::vm::meter::Dead;

/// A generator of numbers whose whole state is its seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(super) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Bytes of a text that a failure shows.
const SHOWN_BYTES: usize = 400;

/// A value that goes in or comes out.
#[derive(Clone)]
pub(super) enum TestValue {
    Nil,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(Vec<u8>),
    Table,
    Function,
}

impl PartialEq for TestValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nil, Self::Nil) | (Self::Table, Self::Table) | (Self::Function, Self::Function) => true,
            (Self::Boolean(left), Self::Boolean(right)) => left == right,
            (Self::Integer(left), Self::Integer(right)) => left == right,
            // A NaN is the same only bit by bit.
            (Self::Number(left), Self::Number(right)) => left.to_bits() == right.to_bits(),
            (Self::Text(left), Self::Text(right)) => left == right,
            _ => false,
        }
    }
}

impl std::fmt::Debug for TestValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nil => f.write_str("nil"),
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Number(float) => write!(f, "{float:?}"),
            Self::Text(text) => {
                let shown = &text[..text.len().min(SHOWN_BYTES)];
                write!(f, "\"{}\"", shown.escape_ascii())?;
                if shown.len() < text.len() {
                    write!(f, " and {} bytes more", text.len() - shown.len())
                } else {
                    Ok(())
                }
            }
            Self::Table => f.write_str("{}"),
            Self::Function => f.write_str("function() end"),
        }
    }
}

impl TestValue {
    fn as_arg(&self) -> Arg<'_> {
        match self {
            Self::Nil => Arg::Nil,
            Self::Boolean(truth) => Arg::Boolean(*truth),
            Self::Integer(integer) => Arg::Integer(*integer),
            Self::Number(float) => Arg::Number(*float),
            Self::Text(text) => Arg::Text(text),
            Self::Table => Arg::Other("table"),
            Self::Function => Arg::Other("function"),
        }
    }

    pub(super) fn to_lua(&self, lua: &Lua) -> mlua::Result<LuaValue> {
        Ok(match self {
            Self::Nil => LuaValue::Nil,
            Self::Boolean(truth) => LuaValue::Boolean(*truth),
            Self::Integer(integer) => LuaValue::Integer(*integer),
            Self::Number(float) => LuaValue::Number(*float),
            Self::Text(text) => LuaValue::String(lua.create_string(text)?),
            Self::Table => LuaValue::Table(lua.create_table()?),
            Self::Function => LuaValue::Function(lua.create_function(|_, ()| Ok(()))?),
        })
    }

    pub(super) fn from_lua(value: &LuaValue) -> Self {
        match value {
            LuaValue::Nil => Self::Nil,
            LuaValue::Boolean(truth) => Self::Boolean(*truth),
            LuaValue::Integer(integer) => Self::Integer(*integer),
            LuaValue::Number(float) => Self::Number(*float),
            LuaValue::String(text) => Self::Text(text.as_bytes().to_vec()),
            LuaValue::Table(_) => Self::Table,
            _ => Self::Function,
        }
    }

    fn from_item(item: Item, args: &[Self], bytes: &[u8]) -> Self {
        match item {
            Item::Nil => Self::Nil,
            Item::Boolean(truth) => Self::Boolean(truth),
            Item::Integer(integer) => Self::Integer(integer),
            Item::Number(float) => Self::Number(float),
            Item::Text { from, to } => Self::Text(bytes[from..to].to_vec()),
            Item::Arg(place) => args[place].clone(),
            Item::Slice { arg, from, to } => match &args[arg] {
                Self::Text(text) => Self::Text(text[from..to].to_vec()),
                other => panic!("a slice of {other:?}"),
            },
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Results(Vec<TestValue>),
    Error(String),
    /// The budget was used up.
    Dead,
}

/// A meter with a budget of instructions and a cap on the size of a result.
pub(super) struct Budget {
    pub(super) instructions: Cell<u64>,
    limit: u64,
    result_bytes_max: u64,
}

impl Budget {
    pub(super) fn new(limit: u64, result_bytes_max: u64) -> Self {
        Self { instructions: Cell::new(0), limit, result_bytes_max }
    }
}

impl Charge for Budget {
    fn charge(&self, instructions: u64) -> Result<(), Dead> {
        self.instructions.set(self.instructions.get().saturating_add(instructions));
        if self.instructions.get() > self.limit { Err(Dead) } else { Ok(()) }
    }

    fn reserve(&self, bytes: u64) -> Result<(), Dead> {
        if bytes > self.result_bytes_max { Err(Dead) } else { self.charge(bytes / 16) }
    }
}

/// Calls a native. `name` stands in its messages.
pub(super) fn run_native(native: &Native, name: &str, args: &[TestValue], meter: &dyn Charge) -> Outcome {
    let given: Vec<Arg<'_>> = args.iter().map(TestValue::as_arg).collect();
    let mut out = Out::default();
    let mut call = NativeCall { args: &given, meter, out: &mut out };
    match (native.run)(&mut call) {
        Ok(()) => {
            let results =
                out.items().iter().map(|item| TestValue::from_item(*item, args, out.bytes())).collect();
            Outcome::Results(results)
        }
        Err(NativeError::Dead) => Outcome::Dead,
        Err(NativeError::Argument { index, message }) => {
            Outcome::Error(format!("bad argument #{index} to '{name}' ({message})"))
        }
        Err(NativeError::Message(message)) => Outcome::Error(message),
    }
}

/// A Lua function, for example of the original library.
pub(super) struct LuaSide {
    lua: Lua,
    call: Function,
}

/// How the chunk of a [`LuaSide`] is named in positions.
const POSITION: &str = "case:1: ";

impl LuaSide {
    /// In a Lua of its own: a chunk on one line that gives back what is compared for `...`, the
    /// arguments. A call whose messages are compared must not be in tail position.
    pub(super) fn new(lua: Lua, chunk: &str) -> Self {
        let call = lua.load(format!("return pcall(function(...) {chunk} end, ...)")).set_name("=case");
        let call = call.into_function().unwrap();
        Self { lua, call }
    }

    /// One function of the original library, under the name a plan calls it by.
    pub(super) fn original(path: &str) -> Self {
        let chunk = format!("local r = table.pack({path}(...)) return table.unpack(r, 1, r.n)");
        Self::new(Lua::new(), &chunk)
    }

    pub(super) fn call(&self, args: &[TestValue]) -> Outcome {
        let given: MultiValue = args.iter().map(|arg| arg.to_lua(&self.lua).unwrap()).collect();
        let results: MultiValue = self.call.call(given).unwrap();
        let mut results = results.iter();
        let went_well = results.next().is_some_and(|first| *first == LuaValue::Boolean(true));
        if went_well {
            return Outcome::Results(results.map(TestValue::from_lua).collect());
        }
        match results.next() {
            Some(LuaValue::String(text)) => {
                let text = text.to_string_lossy();
                Outcome::Error(text.strip_prefix(POSITION).unwrap_or(&text).to_owned())
            }
            other => Outcome::Error(format!("an error that is a {:?}", other.map(LuaValue::type_name))),
        }
    }
}

/// Instructions a generated case may take before it is left out: the original, which counts
/// nothing, would take long over it.
const CASE_INSTRUCTIONS: u64 = 3_000_000;

/// Calls a native and the original with the same arguments.
///
/// # Panics
/// Where they differ.
pub(super) fn compare(native: &Native, original: &LuaSide, args: &[TestValue]) {
    let ours = run_native(native, native.name, args, &Budget::new(CASE_INSTRUCTIONS, 1 << 26));
    if ours == Outcome::Dead {
        return;
    }
    let theirs = original.call(args);
    assert_eq!(ours, theirs, "ours and theirs for {}{args:?}", native.name);
}

/// One seed for the whole process.
static SEED: OnceLock<u64> = OnceLock::new();

/// Runs generated cases: `sample` of them, or as many as the environment asks for.
///
/// # Panics
/// Where `case` does; the seed and the number of the case are printed first.
#[expect(clippy::disallowed_methods, reason = "tests have no configuration but the environment")]
#[expect(clippy::print_stderr, reason = "the seed of a long run is told")]
pub(super) fn each_case(what: &str, sample: u64, mut case: impl FnMut(&mut Random)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let asked = number("LUAPLAN_TEST_CASES");
    let fresh = || if asked.is_some() { RandomState::new().build_hasher().finish() >> 16 } else { 1 };
    let seed = *SEED.get_or_init(|| number("LUAPLAN_TEST_SEED").unwrap_or_else(fresh));
    let cases = asked.unwrap_or(sample);
    eprintln!("{what}: {cases} cases, LUAPLAN_TEST_SEED={seed}");
    for index in 0..cases {
        let mut random = Random::new(Random::new(seed ^ index.rotate_left(32)).next());
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&mut random)));
        if let Err(reason) = ran {
            eprintln!("{what}: case {index} failed, LUAPLAN_TEST_SEED={seed}");
            std::panic::resume_unwind(reason);
        }
    }
}
