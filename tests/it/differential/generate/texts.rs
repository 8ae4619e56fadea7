//! Strings and what the string library makes of them.

use super::{Generator, Kind};

const WORDS: [&str; 24] = [
    "\"\"",
    "\"a\"",
    "\"hello world\"",
    "\"  pad  \"",
    "\"key=value\"",
    "\"a,b,,c\"",
    "\"x1y22z333\"",
    "\"ÄÖ€\"",
    "\"100%\"",
    "\"a.b*c\"",
    "\"\\0bin\\255\\128\"",
    "\"10\"",
    "\"0x1F\"",
    "\"line1\\nline2\\r\\n\"",
    "\"(a(b)c)\"",
    "\"The quick brown fox\"",
    "\"[1,2]\"",
    "\"\\u{48}\\u{20AC}\\x41\\065\\z   end\"",
    "( [[long\ntext]] )",
    "'it\\'s'",
    "\"aaaaaaaaab\"",
    "\"-3.5e2\"",
    "\"tab\\tbell\\a\"",
    "\"foo-bar_baz\"",
];

impl Generator {
    pub(super) fn text(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance.one_in(4) {
            return match self.var(Kind::Text) {
                Some(name) if !self.chance.one_in(3) => name,
                _ => self.chance.pick(&WORDS).to_owned(),
            };
        }
        let depth = depth - 1;
        let subject = self.text(depth);
        // Methods and functions are called alike.
        let call = |this: &mut Self, name: &str, arguments: String| match this.chance.below(3) {
            0 => {
                format!("string.{name}({subject}{}{arguments})", if arguments.is_empty() { "" } else { ", " })
            }
            _ => format!("({subject}):{name}({arguments})"),
        };
        match self.chance.below(27) {
            0 | 1 => format!("({subject} .. {})", self.text(depth)),
            2 => format!("({subject} .. {})", self.num(depth)),
            3 | 4 => {
                let (from, to) = (self.index(), self.index());
                call(self, "sub", format!("{from}, {to}"))
            }
            5 => call(self, "upper", String::new()),
            6 => call(self, "lower", String::new()),
            7 => call(self, "reverse", String::new()),
            8 => {
                let times = self.chance.between(-1, 4);
                let separator = if self.chance.one_in(2) { ", \"-\"" } else { "" };
                call(self, "rep", format!("{times}{separator}"))
            }
            9..=11 => {
                let (pattern, with) = (self.pattern(), self.replacement());
                let most = if self.chance.one_in(4) { ", 2" } else { "" };
                format!("(string.gsub(string.sub({subject}, 1, 40), {pattern}, {with}{most}))")
            }
            12 | 13 => {
                let pattern = self.pattern();
                let from = if self.chance.one_in(4) { format!(", {}", self.index()) } else { String::new() };
                format!("tostring(string.match(string.sub({subject}, 1, 40), {pattern}{from}))")
            }
            14..=17 => self.format(depth),
            18 => format!("tostring({})", self.num(depth)),
            19 => format!("tostring({})", self.flag(depth)),
            20 => format!("string.char({} % 256, 65)", self.int(depth)),
            21 => format!("utf8.char({} & 0xffff | 32)", self.int(depth)),
            22 => format!("type({})", self.num(depth)),
            23 => match self.var(Kind::Texts) {
                Some(words) => {
                    format!("table.concat({words}, {})", self.chance.pick(&["\",\"", "\"\"", "\"--\""]))
                }
                None => subject,
            },
            24 => match self.var(Kind::Ints) {
                Some(list) => format!("table.concat({list}, \" \")"),
                None => subject,
            },
            25 if self.taste.tools && !self.in_coroutine => format!("label({subject})"),
            _ => format!("(({} and {subject}) or {})", self.flag(depth), self.text(depth)),
        }
    }

    /// Something `#` can be put before.
    pub(super) fn text_operand(&mut self, depth: usize) -> String {
        match self.chance.below(3) {
            0 => self.var(Kind::Ints).unwrap_or_else(|| "\"\"".to_owned()),
            _ => format!("({})", self.text(depth)),
        }
    }

    fn format(&mut self, depth: usize) -> String {
        let mut format = String::new();
        let mut arguments = String::new();
        for _ in 0..=self.chance.below(3) {
            let flags = self.chance.pick(&["", "", "", "-", "+", " ", "#", "0", "-+", "+0"]);
            let width = self.chance.pick(&["", "", "5", "12", "1"]);
            let precision = self.chance.pick(&["", "", ".0", ".3", ".10", "."]);
            match self.chance.below(9) {
                0 | 1 => {
                    let flags = flags.replace('#', "");
                    format.push_str(&format!("[%{flags}{width}{precision}d]"));
                    arguments.push_str(&format!(", {}", self.int(depth)));
                }
                2 => {
                    let flags = flags.replace(['+', ' '], "");
                    format.push_str(&format!(
                        "[%{flags}{width}{precision}{}]",
                        self.chance.pick(&["x", "X", "o"])
                    ));
                    arguments.push_str(&format!(", {}", self.int(depth)));
                }
                3..=5 => {
                    let kind = self.chance.pick(&["f", "e", "E", "g", "G", "a", "A"]);
                    format.push_str(&format!("[%{flags}{width}{precision}{kind}]"));
                    arguments.push_str(&format!(", {}", self.num(depth)));
                }
                6 => {
                    let left = if self.chance.one_in(2) { "-" } else { "" };
                    format.push_str(&format!("[%{left}{width}{precision}s]"));
                    let value = match self.chance.below(3) {
                        0 => self.num(depth),
                        1 => self.flag(depth),
                        _ => format!("(string.gsub({}, \"%z\", \"0\"))", self.text(depth)),
                    };
                    arguments.push_str(&format!(", {value}"));
                }
                7 => {
                    format.push_str("[%q]");
                    let value = if self.chance.one_in(2) { self.num(depth) } else { self.text(depth) };
                    arguments.push_str(&format!(", {value}"));
                }
                _ => {
                    format.push_str("[%i|%c]");
                    arguments.push_str(&format!(", {}, {} % 128", self.int(depth), self.int(depth)));
                }
            }
            if self.chance.one_in(5) {
                format.push_str("%%");
            }
        }
        format!("string.format(\"{format}\"{arguments})")
    }

    pub(super) fn ints(&mut self) -> String {
        match self.chance.below(6) {
            0 => "{}".to_owned(),
            1 => format!("{{ {}, {}, nil }}", self.int(1), self.int(1)),
            2 => format!("table.pack({}, {})", self.int(1), self.int(1)),
            3 => format!("{{ string.byte({}, 1, 6) }}", self.text(1)),
            4 => match self.var(Kind::Ints) {
                Some(list) => format!(
                    "{{ table.unpack({list}, {}, {}) }}",
                    self.chance.between(1, 2),
                    self.chance.between(1, 5)
                ),
                None => "{ 5, 4, 3 }".to_owned(),
            },
            _ => format!("{{ {}, {}, {}; {} }}", self.int(1), self.int(1), self.int(1), self.int(1)),
        }
    }

    pub(super) fn texts(&mut self) -> String {
        match self.chance.below(3) {
            0 => "{}".to_owned(),
            1 => format!("{{ {}, {} }}", self.text(1), self.text(1)),
            _ => format!("{{ {}, {}, {}, \"z\" }}", self.text(1), self.text(1), self.text(0)),
        }
    }

    pub(super) fn map(&mut self) -> String {
        match self.chance.below(3) {
            0 => format!("{{ alpha = {}, [\"beta\"] = {} }}", self.int(1), self.int(1)),
            1 => format!("{{ {} = {} }}", self.field(), self.int(1)),
            _ => format!("{{ x = {}, [{}] = {}, gamma = 3 }}", self.int(1), self.text(0), self.int(0)),
        }
    }

    pub(super) fn func(&mut self) -> String {
        if let Some(f) = self.var(Kind::Func)
            && self.chance.one_in(3)
        {
            return f;
        }
        let scope = self.vars.len();
        let (a, b) = (self.name("p"), self.name("p"));
        self.add(&a, Kind::Int, false);
        self.add(&b, Kind::Int, false);
        let value = self.int(2);
        self.vars.truncate(scope);
        format!("function({a}, {b}) tick() return {value} end")
    }
}
