//! Statements: assignments, conditions, loops, calls.

use super::{Generator, Kind, block, line};
use crate::differential::program::Node;

const DEPTH_MAX: usize = 3;

impl Generator {
    pub(super) fn statement(&mut self) -> Vec<Node> {
        let simple = self.depth >= DEPTH_MAX;
        let choice = if simple { self.chance.below(16) } else { self.chance.below(43) };
        match choice {
            0..=3 => {
                let kind = self.any_kind();
                vec![self.declare(kind)]
            }
            4..=6 => vec![self.assign()],
            7 | 8 => vec![self.say()],
            9 => vec![self.change_list()],
            10 => vec![self.change_map()],
            11 => vec![self.several()],
            12 => self.library(),
            13 => self.tool(),
            14 | 15 => self.probes(),
            16 | 40 | 41 => vec![self.condition()],
            17..=19 => self.number_loop(),
            20 | 21 => self.each_loop(),
            22 => self.while_loop(),
            23 => self.repeat_loop(),
            24 | 25 => self.function(),
            26 => self.varargs(),
            27 => self.recursion(),
            28..=30 => self.protected(),
            31 | 32 => self.coroutine(),
            33 | 34 => self.object(),
            35 | 36 => self.sort(),
            37 => self.closing(),
            38 => self.many_matches(),
            _ => {
                let body = self.body(3);
                vec![block("do", body, "end")]
            }
        }
    }

    fn assign(&mut self) -> Node {
        let kind = [Kind::Int, Kind::Num, Kind::Text, Kind::Flag][self.chance.below(4)];
        let Some(name) = self.assignable(kind) else { return self.declare(kind) };
        let value = self.value(kind);
        match kind {
            Kind::Text => line(format!("{name} = cut({value})")),
            _ => line(format!("{name} = {value}")),
        }
    }

    fn say(&mut self) -> Node {
        let count = 1 + self.chance.below(3);
        let values: Vec<String> = (0..count)
            .map(|_| {
                let kind = self.any_kind();
                self.value(kind)
            })
            .collect();
        let with = match self.chance.below(4) {
            0 => "show",
            _ => "emit",
        };
        line(format!("{with}({})", values.join(", ")))
    }

    fn change_list(&mut self) -> Node {
        let (kind, value) = match self.chance.one_in(3) {
            true => (Kind::Texts, self.text(1)),
            false => (Kind::Ints, self.value(Kind::Int)),
        };
        let Some(list) = self.var(kind) else { return self.declare(kind) };
        line(match self.chance.below(8) {
            0 => format!("table.insert({list}, {value})"),
            1 => format!("table.insert({list}, 1, {value})"),
            2 => format!("{list}[#{list} + 1] = {value}"),
            3 => format!("emit(table.remove({list}))"),
            4 => format!(
                "emit(table.remove({list}, {}))",
                self.chance.pick(&["1", "#{}", "1"]).replace("#{}", &format!("#{list}"))
            ),
            5 => format!("if #{list} > 0 then {list}[#{list}] = {value} end"),
            // Not beyond the end: how long a list with holes is, no two engines need agree on.
            6 => format!(
                "emit(#table.move({list}, 1, math.min(#{list}, 3), math.min({}, #{list} + 1)))",
                self.chance.between(1, 3)
            ),
            _ => format!("emit(table.unpack({list}, 1, 3))"),
        })
    }

    fn change_map(&mut self) -> Node {
        let Some(map) = self.var(Kind::Map) else { return self.declare(Kind::Map) };
        let field = self.field();
        line(match self.chance.below(6) {
            0 => format!("{map}.{field} = {}", self.value(Kind::Int)),
            1 => format!("{map}[{}] = {}", self.value(Kind::Text), self.int(1)),
            2 => format!("{map}.{field} = nil"),
            3 => format!(
                "{map}[{}] = {}",
                self.chance.pick(&["1.0", "2^53", "-0.0", "1.5", "true", "0"]),
                self.int(1)
            ),
            4 => format!("emit(rawget({map}, \"{field}\"), rawlen({map}), next({map}) ~= nil)"),
            _ => format!("{map}.{field} = ({map}.{field} or 0) + {}", self.int(1)),
        })
    }

    /// Several at once.
    fn several(&mut self) -> Node {
        match (self.assignable(Kind::Int), self.assignable(Kind::Text)) {
            (Some(int), Some(text)) if self.chance.one_in(2) => {
                line(format!("{int}, {text} = {}, cut({})", self.int(1), self.text(1)))
            }
            _ => {
                let (a, b) = (self.name("i"), self.name("i"));
                let node = line(format!("local {a}, {b} = {}, {}", self.value(Kind::Int), self.int(1)));
                self.add(&a, Kind::Int, false);
                self.add(&b, Kind::Int, false);
                node
            }
        }
    }

    fn condition(&mut self) -> Node {
        let condition = self.value(Kind::Flag);
        let mut body = self.body(3);
        if self.chance.one_in(2) {
            let other = self.flag(1);
            body.push(line(format!("elseif {other} then")));
            body.extend(self.body(2));
        }
        if self.chance.one_in(2) {
            body.push(line("else"));
            body.extend(self.body(2));
        }
        block(format!("if {condition} then"), body, "end")
    }

    /// The body of a loop: with a `goto continue` or a `break` now and then.
    fn looped(&mut self) -> Vec<Node> {
        self.loops += 1;
        let mut nodes = vec![line("tick()")];
        let leaves = self.chance.below(6);
        let condition = self.flag(1);
        let label = self.name("continue");
        if leaves == 0 {
            nodes.push(line(format!("if {condition} then goto {label} end")));
            let body = self.body(3);
            nodes.push(block("do", body, "end"));
            nodes.push(line(format!("::{label}::")));
        } else {
            nodes.extend(self.body(3));
            if leaves == 1 {
                nodes.push(line(format!("if {condition} then break end")));
            }
        }
        self.loops -= 1;
        nodes
    }

    fn number_loop(&mut self) -> Vec<Node> {
        let name = self.name("i");
        let (bounds, kind) = match self.chance.below(9) {
            0 => ("math.maxinteger - 2, math.maxinteger".to_owned(), Kind::Int),
            1 => ("math.mininteger + 2, math.mininteger, -1".to_owned(), Kind::Int),
            2 => ("1.0, 2, 0.25".to_owned(), Kind::Num),
            3 => ("3, 1".to_owned(), Kind::Int),
            4 => (format!("1, {}", self.value(Kind::Int)), Kind::Int),
            5 => (format!("{}, -3, -2", self.chance.between(0, 5)), Kind::Int),
            6 => ("1, 2.5".to_owned(), Kind::Int),
            _ => (format!("1, {}", self.chance.between(1, 6)), Kind::Int),
        };
        let scope = self.vars.len();
        self.add(&name, kind, false);
        let mut body = self.looped();
        // A bound that was computed may be far away.
        body.push(line(format!("if {name} == 5 then break end")));
        self.vars.truncate(scope);
        vec![block(format!("for {name} = {bounds} do"), body, "end")]
    }

    fn each_loop(&mut self) -> Vec<Node> {
        let (key, value) = (self.name("k"), self.name("v"));
        let scope = self.vars.len();
        let copy = self.name("copy");
        let mut before = Vec::new();
        // New keys in a table that is walked are undefined behaviour.
        let mut copied = |map: &str| {
            before.push(line(format!("local {copy} = {{}} for k, v in pairs({map}) do {copy}[k] = v end")));
        };
        let (over, key_kind, value_kind) = match self.chance.below(6) {
            0 => match self.var(Kind::Map) {
                Some(map) => {
                    copied(&map);
                    (format!("pairs({copy})"), None, Some(Kind::Int))
                }
                None => ("pairs({ a = 1, b = 2 })".to_owned(), Some(Kind::Text), Some(Kind::Int)),
            },
            1 => match self.var(Kind::Map) {
                Some(map) => {
                    copied(&map);
                    (format!("next, {copy}"), None, Some(Kind::Int))
                }
                None => ("ipairs({ 4, 5, nil, 6 })".to_owned(), Some(Kind::Int), Some(Kind::Int)),
            },
            2 => {
                let pattern =
                    self.chance.pick(&["%a+", "(%w)(%w*)", "()%d", "[^,]*", "%S+", "", "(%a)=(%a)", "."]);
                let subject = self.text(1);
                (format!("string.gmatch(string.sub({subject}, 1, 40), \"{pattern}\")"), None, None)
            }
            3 => match self.var(Kind::Texts) {
                Some(words) => (format!("ipairs({words})"), Some(Kind::Int), Some(Kind::Text)),
                None => ("ipairs({ \"p\", \"q\" })".to_owned(), Some(Kind::Int), Some(Kind::Text)),
            },
            4 => {
                let subject = self.text(1);
                (format!("utf8.codes({subject}, true)"), Some(Kind::Int), Some(Kind::Int))
            }
            _ => (format!("ipairs({})", self.value(Kind::Ints)), Some(Kind::Int), Some(Kind::Int)),
        };
        if let Some(kind) = key_kind {
            self.add(&key, kind, false);
        }
        if let Some(kind) = value_kind {
            self.add(&value, kind, false);
        }
        let mut body = vec![line(format!("emit({key}, {value})"))];
        body.extend(self.looped());
        self.vars.truncate(scope);
        before.push(block(format!("for {key}, {value} in {over} do"), body, "end"));
        before
    }

    fn while_loop(&mut self) -> Vec<Node> {
        let count = self.name("i");
        let first = line(format!("local {count} = 0"));
        self.add(&count, Kind::Int, true);
        let condition = self.flag(1);
        let mut body = vec![line(format!("{count} = {count} + 1"))];
        body.extend(self.looped());
        let most = self.chance.between(1, 5);
        vec![first, block(format!("while {count} < {most} and ({condition} or {count} < 2) do"), body, "end")]
    }

    fn repeat_loop(&mut self) -> Vec<Node> {
        let (count, done) = (self.name("i"), self.name("b"));
        let first = line(format!("local {count} = 0"));
        self.add(&count, Kind::Int, true);
        let mut body = vec![line("tick()"), line(format!("{count} = {count} + 1"))];
        let inside = self.body(3);
        body.push(block("do", inside, "end"));
        body.push(line(format!("local {done} = {count} >= {}", self.chance.between(1, 4))));
        vec![first, block("repeat", body, format!("until {done}"))]
    }

    fn library(&mut self) -> Vec<Node> {
        let text = self.text(1);
        vec![line(match self.chance.below(14) {
            0 => format!("emit(string.byte({text}, 1, 4))"),
            1 => format!("emit(string.find({text}, {}, {}, true))", self.text(0), self.index()),
            2 => format!("emit(string.find(string.sub({text}, 1, 40), {}))", self.pattern()),
            3 => format!("emit(string.match(string.sub({text}, 1, 40), {}))", self.pattern()),
            4 => format!(
                "emit(string.gsub(string.sub({text}, 1, 40), {}, {}))",
                self.pattern(),
                self.replacement()
            ),
            5 => format!("emit(utf8.len({text}), utf8.offset({text}, {}))", self.chance.between(-2, 3)),
            6 => format!("emit(pcall(utf8.codepoint, {text}, 1, {}))", self.chance.between(-1, 3)),
            7 => {
                let format =
                    self.chance.pick(&["<i4", ">I2", "<i8", "z", "s1", "<d", "b", "!4 i1 i4", "<i3", "f"]);
                let value = if ["z", "s1"].contains(&format) {
                    format!("(string.gsub({text}, \"%z\", \"\"))")
                } else if ["<d", "f"].contains(&format) {
                    self.num(1)
                } else {
                    format!("{} % 100", self.int(1))
                };
                let value = if format.starts_with('!') { format!("1, {value}") } else { value };
                format!(
                    "emit(string.unpack(\"{format}\", string.pack(\"{format}\", {value})), string.packsize(\"<i4\"))"
                )
            }
            8 => format!("emit(math.modf({}))", self.num(1)),
            9 => format!("emit(tostring({}), math.type({}))", self.num(2), self.num(1)),
            10 => format!("emit(tonumber({text}), tonumber({}))", self.digits()),
            11 => format!(
                "emit(select({}, {}, {}, {}))",
                self.chance.pick(&["1", "2", "-1", "-2"]),
                self.int(1),
                self.num(1),
                text
            ),
            12 => format!("emit(#{text}, {text} == {}, {} < {text})", self.text(0), self.text(0)),
            _ => {
                format!("emit({} == {}, {} // 1, {} % 3)", self.num(1), self.int(1), self.num(1), self.num(1))
            }
        })]
    }

    fn tool(&mut self) -> Vec<Node> {
        if !self.taste.tools || self.in_coroutine {
            return vec![self.say()];
        }
        let name = self.name("r");
        match self.chance.below(6) {
            0 => vec![line(format!("emit(weigh({}), label({}))", self.value(Kind::Int), self.text(1)))],
            1 => vec![line(format!(
                "local {name} = shaky({}) if type({name}) == \"table\" then emit({name}.error, {name}.code, {name}.retryable) \
                 else emit({name}) end",
                self.int(1)
            ))],
            2 => {
                vec![line(format!("emit(collect{{ n = {}, s = {} }})", self.value(Kind::Int), self.text(1)))]
            }
            3 => {
                vec![line(format!("emit(collect({{ {}, {} }}, {}))", self.int(1), self.int(1), self.flag(1)))]
            }
            4 => vec![line(format!("emit(pcall(weigh, {}))", self.value(Kind::Int)))],
            _ => {
                // One call in each branch: how calls of several go together is ours alone.
                let (a, b) = (self.pure(1), self.chance.below(9));
                vec![line(format!(
                    "emit(parallel{{ function() return weigh({a}) end, function() return label(\"{b}\") end, \
                     k = function() return 5 end }})"
                ))]
            }
        }
    }
}
