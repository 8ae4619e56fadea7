//! Plans that call tools with data from everywhere, through every construct of the language.

mod calls;
mod constructs;
mod lists;

use std::fmt::Write as _;

use crate::differential::chance::Chance;

pub(crate) use constructs::CONSTRUCTS;

/// Looks at any value without raising.
const HEAD: &str = r#"local shared, log = {n = 0}, {}
local function s(v)
  if type(v) == "string" or type(v) == "number" or type(v) == "boolean" then return "<" .. tostring(v) .. ">" end
  if v == nil then return "nil" end
  return "other"
end
local function l(v)
  if type(v) == "table" then
    local ok, count = pcall(function() return #v end)
    if ok and count > 0 then return v end
  end
  return {"only", "two"}
end
function run(context)
"#;

struct Maker {
    chance: Chance,
    text: String,
    depth: usize,
    names: Vec<String>,
    next: usize,
    left: usize,
    /// Loops around, for `break`.
    loops: usize,
    /// Whether calls can be made here.
    may_call: bool,
}

pub(crate) fn plan(seed: u64) -> String {
    let mut chance = Chance::new(seed.wrapping_mul(0x51ed).wrapping_add(11));
    let left = 6 + chance.below(22);
    let mut maker = Maker {
        chance,
        text: HEAD.to_owned(),
        depth: 1,
        names: Vec::new(),
        next: 0,
        left,
        loops: 0,
        may_call: true,
    };
    while maker.left > 0 {
        maker.statement();
    }
    let (one, other) = (maker.scalar(), maker.value());
    maker.line(&format!("send{{first = {one}, second = {other}}}"));
    maker.line("return log");
    maker.text.push_str("end\n");
    maker.text
}

impl Maker {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", self.depth * 2);
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn own_name(&mut self) -> Option<String> {
        let own: Vec<String> = self.names.iter().filter(|name| name.starts_with('v')).cloned().collect();
        (!own.is_empty()).then(|| own[self.chance.below(own.len())].clone())
    }

    /// Any value, never raising.
    fn value(&mut self) -> String {
        match self.chance.below(12) {
            0 => "\"lit\"".to_owned(),
            1 => self.chance.between(1, 4).to_string(),
            2 => "context.a".to_owned(),
            3 => "context.c".to_owned(),
            4 => "context.d".to_owned(),
            5 => format!("{{{}, k = {}}}", self.scalar(), self.scalar()),
            6 => "shared.n".to_owned(),
            7 | 8 => self.scalar(),
            _ => self.own_name().unwrap_or_else(|| "context.b".to_owned()),
        }
    }

    /// A plain value, never raising.
    fn scalar(&mut self) -> String {
        match self.chance.below(22) {
            0 => format!("\"t{}\"", self.chance.below(5)),
            1 => "context.a".to_owned(),
            2 => "context.b".to_owned(),
            3 => "context.d and context.d.x".to_owned(),
            4 => "s(context.d.y)".to_owned(),
            5 => "context.e".to_owned(),
            6 => "#l(context.c)".to_owned(),
            7 => format!("s({}) .. s({})", self.value(), self.value()),
            8 => format!("({} and {} or {})", self.value(), self.scalar(), self.scalar()),
            9 => format!("l({})[1]", self.value()),
            10 => format!("string.format(\"%s-%d\", s({}), {})", self.value(), self.chance.between(1, 9)),
            11 => format!("s({}):upper()", self.value()),
            12 => format!("table.concat({{s({}), s({})}}, \",\")", self.value(), self.value()),
            13 => format!(
                "select({}, {}, {})",
                self.chance.pick(&["'#'", "1", "2"]),
                self.value(),
                self.value()
            ),
            14 => format!("(table.unpack(l({})))", self.value()),
            15 => format!("json.encode({{k = s({})}})", self.value()),
            16 => format!("json.decode(json.encode({{k = s({})}})).k", self.value()),
            17 => {
                format!("(s({}):gsub(\"%w\", function(c) return c .. s({}) end))", self.value(), self.value())
            }
            18 => format!(
                "list.map(l({}), function(x) return s(x) .. s({}) end)[1]",
                self.value(),
                self.value()
            ),
            19 => format!("(next(l({})))", self.value()),
            20 => format!(
                "#list.filter(l({}), function(x) return s(x) ~= s({}) end)",
                self.value(),
                self.value()
            ),
            _ => format!("s({})", self.value()),
        }
    }

    fn condition(&mut self) -> String {
        match self.chance.below(6) {
            0 => "context.e".to_owned(),
            1 => format!("s({}) == s({})", self.value(), self.value()),
            2 => format!("#s({}) > {}", self.value(), self.chance.between(3, 9)),
            3 => "context.b == 2".to_owned(),
            4 => format!("type({}) == \"table\"", self.value()),
            _ => format!("not ({})", self.value()),
        }
    }

    fn call(&mut self) -> String {
        let (tool, first) = match self.chance.below(6) {
            0 => (
                "fetch",
                format!("\"https://{}.example/\" .. s({})", self.chance.pick(&["one", "two"]), self.value()),
            ),
            1 => ("fetch", format!("{{\"https://list.example/a\", {}}}", self.scalar())),
            2 => ("fetch", "context.u".to_owned()),
            3 => ("send", format!("\"a{}@example.com\"", self.chance.below(3))),
            _ => ("look", self.scalar()),
        };
        match self.chance.below(7) {
            0 => format!("{tool}({first}, {})", self.value()),
            1 => format!("{tool}({first})"),
            2 => format!("{tool}({{first = {first}}})"),
            3 => format!("_G[\"{tool}\"]({first}, {})", self.scalar()),
            4 => format!("select(2, pcall({tool}, {first}, {}))", self.scalar()),
            _ => format!("{tool}{{first = {first}, second = {}}}", self.value()),
        }
    }

    fn declare(&mut self, value: &str) {
        let name = self.fresh();
        self.line(&format!("local {name} = {value}"));
        self.names.push(name);
    }

    fn body(&mut self, lines: usize) {
        let (depth, known) = (self.depth, self.names.len());
        self.depth += 1;
        for _ in 0..=self.chance.below(lines) {
            self.statement();
        }
        self.depth = depth;
        self.names.truncate(known);
    }

    /// A function's body: nothing around it can be left by `break`.
    fn function_body(&mut self, lines: usize) {
        let loops = std::mem::take(&mut self.loops);
        self.body(lines);
        self.loops = loops;
    }

    fn loop_body(&mut self, lines: usize) {
        self.loops += 1;
        self.body(lines);
        self.loops -= 1;
    }

    fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        let deep = self.depth > 4 || self.left == 0;
        match self.chance.below(if deep { 12 } else { 40 }) {
            0..=2 if self.may_call => {
                let call = self.call();
                self.declare(&call);
            }
            3 => {
                let value = self.value();
                self.declare(&value);
            }
            4 | 5 => {
                let scalar = self.scalar();
                self.declare(&scalar);
            }
            6 => {
                let value = self.value();
                if let Some(name) = self.own_name() {
                    self.line(&format!("{name} = {value}"));
                }
            }
            7 => {
                let value = self.value();
                self.line(&format!("shared.n = {value}"));
            }
            8 => {
                let (key, value) = (self.scalar(), self.value());
                self.line(&format!("log[s({key})] = {value}"));
                self.declare("s(log[\"<t1>\"]) .. s(next(log))");
            }
            9 => {
                let (one, other) = (self.scalar(), self.value());
                let alias = self.fresh();
                self.declare(&format!("{{one = {one}, {other}, two = {{deep = {one}}}}}"));
                let table = self.names.last().cloned().unwrap_or_default();
                self.line(&format!("local {alias} = {table}"));
                let value = self.value();
                self.line(&format!("{alias}.two.deep = {value}"));
                self.declare(&format!("s({table}.two.deep) .. s({table}.one)"));
            }
            10 => {
                let value = self.scalar();
                self.line(&format!("table.insert(log, s({value}))"));
                self.declare("s(log[#log])");
            }
            11 => {
                let value = self.value();
                self.line(&format!("rawset(shared, \"r\", {value})"));
                self.declare("s(shared.r)");
            }
            12..=15 => self.branch(),
            16..=19 => self.repeated(),
            20..=22 => self.function(),
            23 | 24 => self.protected(),
            25 | 26 => self.coroutine(),
            27 | 28 => self.parallel(),
            29 => {
                let (name, call) = (self.fresh(), self.call());
                let times = self.chance.between(1, 3);
                self.line(&format!("local {name} = retry({times}, function()"));
                self.function_body(2);
                self.line(&format!("  return (look{{first = s({call})}})"));
                self.line("end)");
                self.names.push(name);
            }
            30 | 31 => self.metatable(),
            33..=38 => self.library(),
            32 => {
                let (one, other) = (self.value(), self.value());
                let name = self.fresh();
                self.line(&format!("local {name} = {{s({one}), s({other}), \"m\"}}"));
                self.line(&format!("table.sort({name}, function(x, y) return s(x) .. \"k\" < s(y) end)"));
                self.declare(&format!("{name}[1]"));
            }
            _ => {
                // One that may raise.
                let value = self.value();
                self.declare(&format!("({value}).name"));
            }
        }
    }

    fn branch(&mut self) {
        let condition = self.condition();
        self.line(&format!("if {condition} then"));
        self.body(3);
        match self.chance.below(9) {
            0 => self.line("  do return log end"),
            1 if self.loops > 0 => self.line("  break"),
            2 => {
                let value = self.value();
                self.line(&format!("  error({{why = s({value})}})"));
            }
            _ => {}
        }
        if self.chance.one_in(3) {
            let condition = self.condition();
            self.line(&format!("elseif {condition} then"));
            self.body(2);
        }
        if self.chance.one_in(2) {
            self.line("else");
            self.body(2);
        }
        self.line("end");
    }

    fn repeated(&mut self) {
        let known = self.names.len();
        match self.chance.below(5) {
            0 => {
                let (name, limit) =
                    (self.fresh(), self.chance.pick(&["2", "3", "#l(context.c)", "#shared"]).to_owned());
                self.line(&format!("for i = 1, {limit} do"));
                self.line(&format!("  local {name} = i"));
                self.names.push(name);
                self.loop_body(3);
                self.line("end");
            }
            1 => {
                let (name, value) = (self.fresh(), self.value());
                let list =
                    if self.chance.one_in(2) { "{\"x1\", \"x2\"}".to_owned() } else { format!("l({value})") };
                self.line(&format!("for i, {name} in ipairs({list}) do"));
                self.names.push(name);
                let condition = self.condition();
                self.line(&format!("  if {condition} then goto continue end"));
                self.line("  do");
                self.loop_body(3);
                self.line("  end");
                self.line("  ::continue::");
                self.line("end");
            }
            2 => {
                let (key, name, value) = (self.fresh(), self.fresh(), self.value());
                self.line(&format!("for {key}, {name} in pairs({{q = {value}, r = 1}}) do"));
                self.names.extend([key, name]);
                self.loop_body(3);
                self.line("end");
            }
            3 => {
                let (name, condition) = (self.fresh(), self.condition());
                self.line(&format!("local {name} = 0"));
                self.line(&format!("while {name} < 3 and ({condition}) do"));
                self.line(&format!("  {name} = {name} + 1"));
                self.loop_body(3);
                self.line("end");
                self.names.truncate(known);
                self.names.push(name);
                return;
            }
            _ => {
                let (name, condition) = (self.fresh(), self.condition());
                self.line(&format!("local {name} = 0"));
                self.line("repeat");
                self.line(&format!("  {name} = {name} + 1"));
                self.loop_body(3);
                self.line(&format!("until {name} > 2 or ({condition})"));
                self.names.truncate(known);
                self.names.push(name);
                return;
            }
        }
        self.names.truncate(known);
    }
}
