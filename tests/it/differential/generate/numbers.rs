//! Integers, floats, truth values.

use super::{Generator, Kind};

const EDGE_INTEGERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "10",
    "63",
    "64",
    "65",
    "100",
    "255",
    "-17",
    "0xff",
    "(1 << 31)",
    "(1 << 53)",
    "math.maxinteger",
    "math.mininteger",
    "(math.maxinteger - 1)",
    "0x7fffffff",
    "-9007199254740993",
    "1000000007",
];
const EDGE_FLOATS: [&str; 24] = [
    "0.0",
    "-0.0",
    "0.5",
    "1.5",
    "-2.75",
    "1e15",
    "1e16",
    "1e100",
    "2^53",
    "-2^63",
    "2^63",
    "1e308",
    "3.14159",
    "0.1",
    "(1/0)",
    "(-1/0)",
    "(0/0)",
    "5e-324",
    "123456.789",
    "1e-5",
    "100.0",
    "0x.8p1",
    "9007199254740993.0",
    "-1e300",
];

impl Generator {
    pub(super) fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance.one_in(4) {
            return match self.chance.below(5) {
                0 => self.chance.pick(&EDGE_INTEGERS).to_owned(),
                1 | 2 => self.chance.between(-20, 50).to_string(),
                _ => match self.var(Kind::Int) {
                    Some(name) => name,
                    None => self.chance.between(0, 9).to_string(),
                },
            };
        }
        let depth = depth - 1;
        match self.chance.below(26) {
            0..=4 => {
                let operator = self.chance.pick(&["+", "-", "*"]);
                format!("({} {operator} {})", self.int(depth), self.int(depth))
            }
            5 | 6 => {
                let operator = self.chance.pick(&["//", "%"]);
                format!("({} {operator} ({} | 1))", self.int(depth), self.int(depth))
            }
            7 | 8 => {
                let operator = self.chance.pick(&["&", "|", "~", "<<", ">>"]);
                format!("({} {operator} {})", self.int(depth), self.int(depth))
            }
            9 => format!("(~{})", self.int(depth)),
            10 => format!("(- {})", self.int(depth)),
            11 => format!("#{}", self.text_operand(depth)),
            12 => match self.var(Kind::Ints) {
                Some(list) => format!("({list}[{}] or {})", self.index(), self.int(depth)),
                None => self.int(depth),
            },
            13 => match self.var(Kind::Map) {
                Some(map) => format!("({map}.{} or {})", self.field(), self.int(depth)),
                None => self.int(depth),
            },
            14 => match self.var(Kind::Func) {
                Some(f) => format!("{f}({}, {})", self.int(depth), self.int(depth)),
                None => self.int(depth),
            },
            15 => format!("math.max({}, {})", self.int(depth), self.int(depth)),
            16 => format!("math.abs({})", self.int(depth)),
            17 => format!("({} and {} or {})", self.flag(depth), self.int(depth), self.int(depth)),
            18 => format!("(string.byte({}, {}) or -1)", self.text(depth), self.index()),
            19 => format!("(math.tointeger(math.floor({} % 1000)) or 3)", self.num(depth)),
            20 => format!("(math.tointeger({}) or 4)", self.num(depth)),
            21 => {
                let pattern = self.pattern();
                format!("(string.find(string.sub({}, 1, 40), {pattern}) or 0)", self.text(depth))
            }
            22 => format!("(tonumber({}, {}) or 0)", self.digits(), self.chance.between(2, 36)),
            23 => format!("select(\"#\", {}, nil)", self.int(depth)),
            24 => format!("math.min({}, {}, {})", self.int(depth), self.int(depth), self.int(depth)),
            _ if self.taste.tools && !self.in_coroutine => format!("weigh({})", self.int(depth)),
            _ => format!("(utf8.len({}) or -1)", self.text(depth)),
        }
    }

    pub(super) fn num(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance.one_in(4) {
            return match self.chance.below(4) {
                0 => self.chance.pick(&EDGE_FLOATS).to_owned(),
                1 => format!("{}.{}", self.chance.between(-50, 50), self.chance.between(0, 99)),
                _ => match self.var(Kind::Num) {
                    Some(name) => name,
                    None => self.int(0),
                },
            };
        }
        let depth = depth - 1;
        match self.chance.below(16) {
            0..=4 => {
                let operator = self.chance.pick(&["+", "-", "*", "/", "//", "%", "^"]);
                format!("({} {operator} {})", self.num(depth), self.num(depth))
            }
            5 => format!("(- {})", self.num(depth)),
            6 => {
                let function = self.chance.pick(&["floor", "ceil", "abs", "sqrt", "exp", "sin", "tointeger"]);
                match function {
                    "floor" | "ceil" | "abs" | "sqrt" => format!("math.{function}({})", self.num(depth)),
                    "tointeger" => format!("(math.tointeger({}) or 0.25)", self.num(depth)),
                    _ => format!("(math.{function}({}) // 1e-9 * 1e-9)", self.num(depth)),
                }
            }
            7 => format!("math.fmod({}, {} | 1)", self.int(depth), self.int(depth)),
            8 => format!("math.fmod({}, {})", self.num(depth), self.chance.pick(&["3.5", "-2.0", "(1/0)"])),
            9 => format!("(select({}, math.modf({})))", self.chance.between(1, 2), self.num(depth)),
            10 => format!("(tonumber({}) or {})", self.digits(), self.num(depth)),
            11 => format!("({} + 0.0)", self.int(depth)),
            12 => format!("math.max({}, {})", self.num(depth), self.num(depth)),
            13 => format!("({} + {})", self.digits(), self.int(depth)),
            14 => format!("({} or {})", self.chance.pick(&["nil", "false"]), self.num(depth)),
            _ => self.int(depth),
        }
    }

    pub(super) fn flag(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance.one_in(4) {
            return match self.var(Kind::Flag) {
                Some(name) if self.chance.one_in(2) => name,
                _ => self.chance.pick(&["true", "false"]).to_owned(),
            };
        }
        let depth = depth - 1;
        let comparison = self.chance.pick(&["<", "<=", ">", ">=", "==", "~="]);
        match self.chance.below(12) {
            0 | 1 => format!("({} {comparison} {})", self.int(depth), self.int(depth)),
            2 | 3 => format!("({} {comparison} {})", self.num(depth), self.num(depth)),
            4 => format!("({} {comparison} {})", self.text(depth), self.text(depth)),
            5 => format!("(not {})", self.flag(depth)),
            6 => format!("({} and {})", self.flag(depth), self.flag(depth)),
            7 => format!("({} or {})", self.flag(depth), self.flag(depth)),
            8 => format!("math.ult({}, {})", self.int(depth), self.int(depth)),
            9 => format!("(math.type({}) == \"integer\")", self.num(depth)),
            10 => format!("rawequal({}, {})", self.num(depth), self.int(depth)),
            _ => format!("(type({}) == \"string\")", self.text(depth)),
        }
    }

    /// A place in a list or text, mostly inside.
    pub(super) fn index(&mut self) -> String {
        match self.chance.below(12) {
            0 => "0".to_owned(),
            1 => "-1".to_owned(),
            2 => self.chance.between(-9, 90).to_string(),
            3 => "2.0".to_owned(),
            _ => self.chance.between(1, 5).to_string(),
        }
    }

    pub(super) fn field(&mut self) -> &'static str {
        self.chance.pick(&["alpha", "beta", "gamma", "delta", "x"])
    }

    /// Text that often reads as a number.
    pub(super) fn digits(&mut self) -> String {
        self.chance
            .pick(&[
                "\"10\"",
                "\"0x1F\"",
                "\" 5 \"",
                "\"1e2\"",
                "\"-7\"",
                "\"0x.8p1\"",
                "\"3.25\"",
                "\"9223372036854775807\"",
                "\"1e400\"",
                "\"077\"",
                "\"0xffffffffffffffffff\"",
                "\"-0\"",
            ])
            .to_owned()
    }
}
