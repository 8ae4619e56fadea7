//! Programs by a grammar: every one compiles, ends, and says much about what it did.

mod control;
mod functions;
mod numbers;
mod objects;
mod patterns;
mod probes;
mod statements;
mod texts;

use super::chance::Chance;
use super::program::{Node, Program};

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Num,
    Text,
    Flag,
    /// A list of integers.
    Ints,
    /// A list of texts.
    Texts,
    /// Text keys, integer values.
    Map,
    /// A function from two integers to an integer.
    Func,
}

#[derive(Debug, Clone)]
struct Var {
    name: String,
    kind: Kind,
    /// Loop variables and constants: never assigned to.
    fixed: bool,
}

/// What programs may be made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taste {
    /// About how many statements.
    pub(crate) size: usize,
    /// Calls of tools.
    pub(crate) tools: bool,
    /// Variables that are closed, which the second engine has not.
    pub(crate) closes: bool,
}

pub(crate) struct Generator {
    chance: Chance,
    vars: Vec<Var>,
    names: usize,
    taste: Taste,
    /// One expression in so many is of a wrong kind; 0 for never.
    wild_one_in: usize,
    depth: usize,
    loops: usize,
    in_coroutine: bool,
}

/// The program of this seed.
pub(crate) fn program(seed: u64, taste: Taste) -> Program {
    let mut chance = Chance::new(seed);
    // A third of the programs may go wrong; of those some do so outside any pcall.
    let wild_one_in = if chance.below(10) < 4 { 60 } else { 0 };
    let mut generator = Generator {
        chance,
        vars: Vec::new(),
        names: 0,
        taste,
        wild_one_in,
        depth: 0,
        loops: 0,
        in_coroutine: false,
    };
    let mut body = Vec::new();
    for kind in [Kind::Int, Kind::Text, Kind::Ints, Kind::Map] {
        body.push(generator.declare(kind));
    }
    for _ in 0..taste.size {
        body.extend(generator.statement());
    }
    for var in generator.vars.clone() {
        if var.kind != Kind::Func {
            body.push(line(format!("emit({:?}, {})", var.name, var.name)));
        }
    }
    Program { body }
}

fn line(text: impl Into<String>) -> Node {
    Node::Line(text.into())
}

fn block(open: impl Into<String>, body: Vec<Node>, close: impl Into<String>) -> Node {
    Node::Block { open: open.into(), body, close: close.into() }
}

impl Generator {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn add(&mut self, name: &str, kind: Kind, fixed: bool) {
        self.vars.push(Var { name: name.to_owned(), kind, fixed });
    }

    /// A variable of the kind, if there is one; the newer, the likelier.
    fn var(&mut self, kind: Kind) -> Option<String> {
        self.known(kind, false)
    }

    fn assignable(&mut self, kind: Kind) -> Option<String> {
        self.known(kind, true)
    }

    fn known(&mut self, kind: Kind, assignable: bool) -> Option<String> {
        let fitting: Vec<usize> = (0..self.vars.len())
            .filter(|place| self.vars[*place].kind == kind && !(assignable && self.vars[*place].fixed))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let place = self.chance.below(fitting.len()).max(self.chance.below(fitting.len()));
        Some(self.vars[fitting[place]].name.clone())
    }

    /// A body of a few statements with a scope of its own.
    fn body(&mut self, most: usize) -> Vec<Node> {
        let scope = self.vars.len();
        self.depth += 1;
        let count = 1 + self.chance.below(most);
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.extend(self.statement());
        }
        self.depth -= 1;
        self.vars.truncate(scope);
        nodes
    }

    /// An expression of the kind; rarely, in a program that may go wrong, of another.
    fn value(&mut self, kind: Kind) -> String {
        if self.wild_one_in > 0 && self.chance.one_in(self.wild_one_in) {
            return self.wild();
        }
        match kind {
            Kind::Int => self.int(2),
            Kind::Num => self.num(2),
            Kind::Text => self.text(2),
            Kind::Flag => self.flag(2),
            Kind::Ints => self.ints(),
            Kind::Texts => self.texts(),
            Kind::Map => self.map(),
            Kind::Func => self.func(),
        }
    }

    fn wild(&mut self) -> String {
        let any = [
            "nil",
            "{}",
            "print",
            "true",
            "\"abc\"",
            "1.5",
            "context.missing.deep",
            "missing_global",
            "missing_global.field",
            "\"10\"",
            "(0/0)",
            "setmetatable({}, {})",
            "2^53",
            "-0.0",
            "1 // 0",
            "{} .. \"x\"",
            "#5",
            "-{}",
            "\"a\" + 1",
            "\"a\" < 1",
            "{} < {}",
            "nil > 1",
            "1 & 1.5",
            "\"x\" | 1",
            "math.floor({})",
            "(\"x\"):rep(1, 2, {})",
            "(\"x\"):bad()",
            "error(\"wild\")",
            "math.huge // 1 | 0",
            "nil .. nil",
            "2^63 | 0",
            "string.char(256)",
            "select(0)",
            "tostring()",
            "ipairs()",
            "setmetatable(1, {})",
            "coroutine.resume(1)",
            "(\"abc\"):sub({})",
            "next({}, 1)",
            "table.concat({ {} })",
            "table.concat({ 1, nil, 3 }, \",\", 1, 3)",
            "table.unpack({}, 1, 1e8)",
            "math.tointeger({})",
            "tonumber(\"z\", 37)",
            "tonumber(5, 10)",
            "utf8.char(-1)",
            "utf8.codepoint(\"\\xff\")",
            "string.rep()",
            "rawset(1, 2, 3)",
            "rawlen(5)",
            "table.insert({}, 5, 1)",
            "table.insert({}, 1, 2, 3)",
            "table.remove({}, 7)",
            "math.random(0)",
            "os.time()",
            "load(\"return 1\")",
            "string.format(\"%d\", 1.5)",
            "string.format(\"%d\", \"x\")",
            "string.format(\"%y\", 1)",
            "string.format(\"%d\")",
            "math.fmod(1, 0)",
            "error()",
            "error(nil)",
            "error({ code = 7 })",
            "error(\"deep\", 2)",
            "error(\"flat\", 0)",
            "assert(false)",
            "assert(nil, \"told\")",
            "assert()",
            "math.max()",
            "string.byte()",
            "(\"x\")()",
            "context()",
            "(nil)()",
        ];
        // What a plan does not have on purpose is not a difference.
        loop {
            let chosen = self.chance.pick(&any);
            if !["math.random", "os.time", "load("].iter().any(|absent| chosen.starts_with(absent)) {
                return format!("({chosen})");
            }
        }
    }

    /// An integer whose making calls nothing.
    fn pure(&mut self, depth: usize) -> String {
        let (vars, tools) = (self.vars.clone(), self.taste.tools);
        self.vars.retain(|var| var.kind == Kind::Int);
        self.taste.tools = false;
        let value = loop {
            let value = self.int(depth);
            if !value.contains("tick()") && !value.contains("print") {
                break value;
            }
        };
        self.vars = vars;
        self.taste.tools = tools;
        value
    }

    fn declare(&mut self, kind: Kind) -> Node {
        let value = self.value(kind);
        let name = self.name(match kind {
            Kind::Int => "i",
            Kind::Num => "n",
            Kind::Text => "s",
            Kind::Flag => "b",
            Kind::Ints => "list",
            Kind::Texts => "words",
            Kind::Map => "map",
            Kind::Func => "f",
        });
        let value = if kind == Kind::Text { format!("cut({value})") } else { value };
        let (attribute, fixed) = if self.chance.one_in(12) { (" <const>", true) } else { ("", false) };
        self.add(&name, kind, fixed);
        line(format!("local {name}{attribute} = {value}"))
    }

    fn any_kind(&mut self) -> Kind {
        [
            Kind::Int,
            Kind::Int,
            Kind::Num,
            Kind::Num,
            Kind::Text,
            Kind::Text,
            Kind::Flag,
            Kind::Ints,
            Kind::Texts,
            Kind::Map,
            Kind::Func,
        ][self.chance.below(11)]
    }
}
