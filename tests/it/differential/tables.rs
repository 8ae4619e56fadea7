//! Programs that make and change tables in every way, on Lua and on both engines.
//!
//! Where a table may have holes nothing looks at its length, which Lua itself leaves open.

use luaplan::sandbox::{PiccoloVm, Vm};

use super::chance::Chance;
use super::outcome::{End, Outcome};
use super::program::{Node, Program};
use super::{bare, kind_of, normal, ours, setting};

const PROGRAMS: u64 = 200;
const TOLD_MAX: usize = 10;

struct Tables {
    chance: Chance,
    body: Vec<Node>,
}

impl Tables {
    fn line(&mut self, text: String) {
        self.body.push(Node::Line(text));
    }

    fn list(&mut self) -> &'static str {
        ["l1", "l2"][self.chance.below(2)]
    }

    fn any(&mut self) -> &'static str {
        ["m1", "m2", "m3"][self.chance.below(3)]
    }

    fn name(&mut self) -> &'static str {
        self.chance.pick(&[
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "h",
            "n",
            "x1",
            "__index2",
            "long_name_of_a_key",
        ])
    }

    fn value(&mut self) -> String {
        match self.chance.below(8) {
            0 => "true".to_owned(),
            1 => "false".to_owned(),
            2 => format!("{}.5", self.chance.between(-9, 9)),
            3 => format!("\"{}\"", self.name()),
            4 => "{}".to_owned(),
            _ => self.chance.between(-99, 99).to_string(),
        }
    }

    fn maybe_nil(&mut self) -> String {
        if self.chance.one_in(3) { "nil".to_owned() } else { self.value() }
    }

    /// A key in brackets or behind a dot.
    fn key(&mut self) -> String {
        match self.chance.below(14) {
            0..=3 => format!(".{}", self.name()),
            4..=7 => format!("[{}]", self.chance.between(1, 12)),
            8 => format!(
                "[{}]",
                self.chance.pick(&[
                    "0",
                    "-1",
                    "100",
                    "1000000",
                    "1 << 40",
                    "math.mininteger",
                    "math.maxinteger"
                ])
            ),
            9 => format!("[{}]", self.chance.pick(&["1.5", "2.0", "-0.5", "2^53", "1/0", "-1/0", "3.0"])),
            10 => format!("[{}]", self.chance.pick(&["true", "false"])),
            11 => format!("[{}]", self.chance.pick(&["o1", "o2", "print", "dump"])),
            _ => format!("[\"k\" .. {}]", self.chance.between(1, 30)),
        }
    }

    fn constructor(&mut self, holes: bool) -> String {
        let mut fields = Vec::new();
        for _ in 0..self.chance.below(12) {
            let value = if holes { self.maybe_nil() } else { self.value() };
            fields.push(match self.chance.below(8) {
                0 | 1 => format!("{} = {value}", self.name()),
                2 if holes => format!("[{}] = {value}", self.chance.between(1, 12)),
                3 => format!("[\"k\" .. {}] = {value}", self.chance.between(1, 9)),
                4 => format!("[o{}] = {value}", 1 + self.chance.below(2)),
                5 => format!("count({value})"),
                _ => value,
            });
        }
        match self.chance.below(6) {
            0 if holes => fields.push(format!("holes({})", self.chance.between(0, 40))),
            1 => fields.push(format!("full({})", self.chance.between(0, 20))),
            2 => fields.push("count(1)".to_owned()),
            _ => {}
        }
        let last_is_call = fields.last().is_some_and(|field| field.ends_with(')'));
        // Where Lua itself says nothing of the length: a list that ends in nil.
        if !holes && last_is_call && fields.iter().any(|field| field == "nil") {
            fields.clear();
        }
        format!("{{{}}}", fields.join(self.chance.pick(&[", ", "; "])))
    }

    fn statement(&mut self) {
        let (list, any) = (self.list(), self.any());
        let text = match self.chance.below(24) {
            0 => format!("{any} = {}", self.constructor(true)),
            1 => format!("{list} = {}", self.constructor(false)),
            2..=5 => format!("{any}{} = {}", self.key(), self.maybe_nil()),
            6 => format!("{any}{}, {any}{} = {}, {}", self.key(), self.key(), self.maybe_nil(), self.value()),
            7 => {
                let times = self.chance.between(1, 40);
                let step =
                    self.chance.pick(&["i", "-i", "i * 2", "i * i", "41 - i", "\"s\" .. i", "i + 0.5", "{}"]);
                format!("for i = 1, {times} do {any}[{step}] = {} end", self.value())
            }
            8 => {
                let times = self.chance.between(1, 40);
                let key = self.chance.pick(&["i", "\"s\" .. i", "\"k\" .. i", "i * 2"]);
                format!("for i = 1, {times} do {any}[{key}] = nil end")
            }
            9 => format!("for i = 1, {} do {list}[#{list} + 1] = i end", self.chance.between(1, 40)),
            10 => format!(
                "for i = 1, {} do table.insert({list}, {}) end",
                self.chance.between(1, 20),
                self.value()
            ),
            11 => format!("for i = 1, {} do {list}[#{list}] = nil end", self.chance.between(1, 20)),
            12 => format!("for i = 1, {} do emit(table.remove({list}, 1)) end", self.chance.between(1, 9)),
            13 => format!("table.insert({list}, 1, {})", self.value()),
            14 => format!("{list}.{} = {}", self.name(), self.maybe_nil()),
            15 => format!("for k in pairs({any}) do {any}[k] = nil end"),
            16 => format!("for k, v in pairs({any}) do if type(k) == 'string' then {any}[k] = nil end end"),
            17 => format!("for k in next, {any} do {any}[k] = {} end", self.value()),
            18 => format!(
                "rawset({any}, {}, {})",
                self.chance.pick(&["1", "'a'", "7", "o1", "2.0"]),
                self.maybe_nil()
            ),
            19 => format!("function {any}.{}() end", self.name()),
            20 => format!("emit(#{list}, table.unpack({list}, 1, 5))"),
            21 => format!("{any} = table.pack({}, nil, {})", self.maybe_nil(), self.maybe_nil()),
            22 => format!("table.move({list}, 1, #{list}, {}, {any})", self.chance.between(1, 30)),
            _ => {
                let (from, times) = (self.chance.between(1, 30), self.chance.between(1, 30));
                format!(
                    "for i = {from}, {} do {any}['q' .. i] = i {any}['q' .. i - {times}] = nil end",
                    from + 40
                )
            }
        };
        self.line(text);
        if self.chance.one_in(4) {
            self.line(format!("emit({any}, {list})"));
        }
        if self.chance.one_in(6) {
            self.line(format!("for k, v in pairs({any}) do if type(k) ~= 'table' and type(k) ~= 'function' then emit(k, v) end end"));
        }
        if self.chance.one_in(12) {
            let setter = self.any();
            let getter = self.chance.pick(&["nil", "l1", "function(t, k) return k end"]);
            self.line(format!("setmetatable({any}, {{ __newindex = {setter}, __index = {getter} }})"));
        }
        if self.chance.one_in(12) {
            let (global, value) =
                (self.chance.pick(&["G1", "G2", "_G[\"G\" .. 1]", "_G[1]"]), self.maybe_nil());
            self.line(format!("{global} = {value}"));
            self.line("emit(G1, G2, _G[1])".to_owned());
        }
    }
}

/// The start of every program, on the line of its head.
const DECLARED: &str = "function run(context) local l1, l2, m1, m2, m3, counted = {}, {}, {}, {}, {}, 0 local o1, o2 = {}, {} \
    local function count(v) counted = counted + 1 return v, counted end \
    local function full(n) local t = {} for i = 1, n do t[i] = i end return table.unpack(t, 1, n) end \
    local function holes(n) local t = {} for i = 1, n do if i % 7 > 4 or i == n then t[i] = i end end \
    return table.unpack(t, 1, n) end\n";

/// The program of this seed.
fn program(seed: u64) -> Program {
    let mut tables = Tables { chance: Chance::new(seed), body: Vec::new() };
    for _ in 0..4 + tables.chance.below(20) {
        tables.statement();
    }
    tables.line("emit(l1, l2, m1, m2, m3, counted)".to_owned());
    Program { body: tables.body }
}

/// Where the engines differ from Lua. In which words the second engine tells of an error is its own.
fn difference(program: &Program) -> Option<String> {
    let source = program.source().replacen("function run(context)\n", DECLARED, 1);
    let lua = normal::lua(bare::run(&source));
    let judge = |engine: &str, ours: Outcome, is_worded: bool| {
        let (mut lua, mut ours) = (lua.clone(), normal::ours(ours, &lua));
        if let End::Failed(code, message) = &ours.end
            && code == "engine_failed"
        {
            return Some(format!("{engine}: {message}"));
        }
        for outcome in [&mut lua, &mut ours] {
            if let (End::Failed(_, message), false) = (&mut outcome.end, is_worded) {
                message.clear();
            }
        }
        super::judge(&lua, &ours).map(|text| format!("{engine}: {text}"))
    };
    judge("mlua", ours::run::<Vm>(&source).0, true)
        .or_else(|| judge("piccolo", ours::run::<PiccoloVm>(&source).0, false))
}

#[test]
fn tables_change_as_in_lua_on_both_engines() {
    let count = setting("LUAPLAN_TEST_PROGRAMS").unwrap_or(PROGRAMS);
    let first = setting("LUAPLAN_TEST_SEED").unwrap_or(1);
    let mut told = std::collections::BTreeMap::new();
    let mut differing = 0;
    for seed in first..first + count {
        let program = program(seed);
        if let Some(text) = difference(&program) {
            differing += 1;
            if told.len() < TOLD_MAX {
                told.entry(kind_of(&text)).or_insert_with(|| {
                    let small = program.shrink(|program| difference(program).is_some());
                    let body: Vec<String> = small
                        .body
                        .iter()
                        .map(|node| match node {
                            Node::Line(line) => line.clone(),
                            Node::Block { open, .. } => open.clone(),
                        })
                        .collect();
                    format!("-- seed {seed}\n{}\n{}", difference(&small).unwrap_or_default(), body.join("\n"))
                });
            }
        }
    }
    eprintln!("{count} programs of tables from seed {first}: {differing} differ");
    let told: Vec<String> = told.into_values().collect();
    assert!(told.is_empty(), "{differing} of {count} programs differ\n\n{}", told.join("\n\n"));
}
