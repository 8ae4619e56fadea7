//! Single functions of the library with arguments of every kind, right and wrong.

use super::{Generator, line};
use crate::differential::program::Node;

/// Functions with what they are mostly given: `s` text, `p` pattern, `i` integer, `n` number, `l`
/// list, `f` format, `v` any value, `g` function, `r` what replaces a match, `k` pack format,
/// `h` a handler of errors.
const FUNCTIONS: &[(&str, &str)] = &[
    ("string.byte", "sii"),
    ("string.char", "iii"),
    ("string.find", "spi"),
    ("string.find", "ssiv"),
    ("string.format", "fvv"),
    ("string.gmatch", "sp"),
    ("string.gsub", "spri"),
    ("string.len", "s"),
    ("string.lower", "s"),
    ("string.match", "spi"),
    ("string.pack", "knn"),
    ("string.packsize", "k"),
    ("string.rep", "sis"),
    ("string.reverse", "s"),
    ("string.sub", "sii"),
    ("string.unpack", "ksi"),
    ("string.upper", "s"),
    ("table.concat", "lsii"),
    ("table.insert", "lv"),
    ("table.insert", "liv"),
    ("table.move", "liiil"),
    ("table.pack", "vvv"),
    ("table.remove", "l"),
    ("table.remove", "li"),
    ("table.sort", "l"),
    ("table.unpack", "lii"),
    ("math.abs", "n"),
    ("math.ceil", "n"),
    ("math.floor", "n"),
    ("math.fmod", "nn"),
    ("math.max", "nnn"),
    ("math.min", "nn"),
    ("math.modf", "n"),
    ("math.sqrt", "n"),
    ("math.tointeger", "v"),
    ("math.type", "v"),
    ("math.ult", "nn"),
    ("math.log", "nn"),
    ("math.exp", "i"),
    ("utf8.char", "iii"),
    ("utf8.codepoint", "siiv"),
    ("utf8.len", "siiv"),
    ("utf8.offset", "sii"),
    ("tonumber", "v"),
    ("tonumber", "si"),
    ("tostring", "v"),
    ("type", "v"),
    ("rawequal", "vv"),
    ("rawget", "lv"),
    ("rawlen", "v"),
    ("rawset", "liv"),
    ("select", "ivv"),
    ("setmetatable", "ll"),
    ("getmetatable", "l"),
    ("next", "l"),
    ("ipairs", "l"),
    ("error", "v"),
    ("assert", "vv"),
    ("pcall", "gv"),
    ("xpcall", "gh"),
    ("coroutine.create", "g"),
    ("coroutine.wrap", "g"),
    ("coroutine.isyieldable", ""),
    ("coroutine.status", "v"),
    ("coroutine.resume", "vv"),
    ("coroutine.close", "v"),
];

const FORMATS: [&str; 16] = [
    "%d", "%5.2f|%s", "%q", "%s", "%-8s|", "%x", "%%", "%g", "%c", "%i %i", "%10.4s", "%", "%5", "%ld", "%a",
    "%+.3e",
];
const PACKS: [&str; 14] =
    ["i4", "<I2", "z", "s1", "d", "n", "b", "i17", "!8 i4", ">j", "x", "Xi4", "i", "c3"];
const VALUES: [&str; 26] = [
    "nil",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "2.0",
    "-0.0",
    "(1/0)",
    "(0/0)",
    "\"abc\"",
    "\"10\"",
    "\"\"",
    "\"0x1p4\"",
    "{}",
    "{ 1, 2, 3 }",
    "{ a = 1 }",
    "print",
    "function(...) return ... end",
    "math.maxinteger",
    "2^53",
    "setmetatable({}, { __tostring = function() return \"T\" end, __len = function() return 2 end })",
    "setmetatable({}, { __index = function(_, k) return k end, __call = function(_, x) return x end })",
    "coroutine.create(function() end)",
    "\"z\\0\\xff\"",
    "setmetatable({}, { __metatable = \"no\" })",
];

impl Generator {
    /// One to three calls of the library, each protected.
    pub(super) fn probes(&mut self) -> Vec<Node> {
        (0..=self.chance.below(3)).map(|_| self.probe()).collect()
    }

    fn probe(&mut self) -> Node {
        let (function, kinds) = FUNCTIONS[self.chance.below(FUNCTIONS.len())];
        let mut arguments: Vec<String> = kinds.chars().map(|kind| self.argument(kind)).collect();
        match self.chance.below(10) {
            0 => {
                arguments.pop();
            }
            1 => arguments.push(self.argument('v')),
            2 if !arguments.is_empty() => {
                let place = self.chance.below(arguments.len());
                arguments[place] = self.argument('v');
            }
            _ => {}
        }
        // A size that is far too large has a limit of its own here.
        if function == "getmetatable" {
            // That of texts is hidden.
            arguments = vec![self.argument('l')];
        }
        let is_sized =
            ["string.rep", "table.unpack", "table.move", "table.concat", "select"].contains(&function);
        if is_sized {
            for argument in &mut arguments {
                if argument.contains("maxinteger") || argument.contains("2^53") || argument.contains("1/0") {
                    *argument = "7".to_owned();
                }
            }
        }
        if function == "table.unpack" && !arguments.is_empty() {
            // Lua gives no position where it cannot index what is no table.
            arguments[0] = self.argument('l');
        }
        if function == "xpcall" && arguments.len() > 1 {
            arguments[1] = self.argument('h');
        }
        if ["table.sort", "error", "xpcall"].contains(&function) {
            // Which items a sort compares is its own affair; levels are looked at elsewhere.
            arguments.truncate(if function == "xpcall" { 2 } else { 1 });
        }
        // Called straight through pcall, Lua gives no position, and ours that of the plan.
        let call = format!("{function}({})", arguments.join(", "));
        line(format!("emit(\"{function}\", pcall(function() emit({call}) end))"))
    }

    fn argument(&mut self, kind: char) -> String {
        let any = |this: &mut Self| this.chance.pick(&VALUES).to_owned();
        match kind {
            's' => format!("string.sub({}, 1, 40)", self.text(1)),
            'p' => self.pattern(),
            'r' => self.replacement(),
            'i' => match self.chance.below(8) {
                0 => "2.0".to_owned(),
                1 => "\"3\"".to_owned(),
                _ => self.chance.between(-4, 12).to_string(),
            },
            'n' => self.num(1),
            'l' => self
                .chance
                .pick(&["{}", "{ 1, 2, 3 }", "{ \"x\", \"y\" }", "{ 3, 1, 2.5 }", "{ a = 1 }"])
                .to_owned(),
            'f' => format!("\"{}\"", self.chance.pick(&FORMATS)),
            // A handler that raises is another matter: Lua runs it inside itself.
            'h' => self.chance.pick(&["type", "function(e) return { e } end", "rawlen and type"]).to_owned(),
            'k' => format!("\"{}\"", self.chance.pick(&PACKS)),
            'g' => self
                .chance
                .pick(&["error", "type", "function(...) return select(\"#\", ...), ... end", "tostring"])
                .to_owned(),
            _ => any(self),
        }
    }
}
