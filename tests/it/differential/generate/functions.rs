//! Functions: closures, varargs, recursion, sort.

use super::{Generator, Kind, block, line};
use crate::differential::program::Node;

impl Generator {
    /// A local function with a body of its own, over the variables around it.
    pub(super) fn function(&mut self) -> Vec<Node> {
        let (f, a, b) = (self.name("f"), self.name("p"), self.name("p"));
        let scope = self.vars.len();
        self.add(&a, Kind::Int, false);
        self.add(&b, Kind::Int, false);
        let mut body = vec![line("tick()")];
        body.extend(self.body(3));
        let result = self.value(Kind::Int);
        body.push(line(format!("return {result}")));
        self.vars.truncate(scope);
        let open = match self.chance.below(3) {
            0 => format!("local {f} = function({a}, {b})"),
            _ => format!("local function {f}({a}, {b})"),
        };
        self.add(&f, Kind::Func, true);
        let mut nodes = vec![block(open, body, "end")];
        if self.chance.one_in(2) {
            nodes.push(line(format!("emit({f}({}, {}), {f}(1, 2))", self.int(1), self.int(1))));
        }
        if self.chance.one_in(4) {
            nodes.extend(self.counters());
        }
        nodes
    }

    /// Closures of one loop, each with its own variable.
    fn counters(&mut self) -> Vec<Node> {
        let (list, i, count) = (self.name("list"), self.name("i"), self.name("i"));
        let step = self.int(1);
        vec![
            line(format!("local {list} = {{}}")),
            block(
                format!("for {i} = 1, 3 do"),
                vec![
                    line(format!("local {count} = {i}")),
                    line(format!(
                        "{list}[{i}] = function() {count} = {count} + ({step}) return {count}, {i} end"
                    )),
                ],
                "end",
            ),
            line(format!("emit({list}[1](), {list}[1](), {list}[3]())")),
        ]
    }

    pub(super) fn varargs(&mut self) -> Vec<Node> {
        let f = self.name("v");
        let arguments = [
            format!("{}, nil, {}", self.value(Kind::Int), self.text(1)),
            String::new(),
            format!("{}, nil, nil", self.num(1)),
            format!("table.unpack({{ {}, {} }})", self.int(1), self.int(1)),
            format!("(table.unpack({{ {}, {} }})), {}", self.int(1), self.int(1), self.flag(1)),
        ];
        let mut body = vec![line("tick()"), line("local count = select(\"#\", ...)")];
        body.push(line(match self.chance.below(5) {
            0 => "local packed = table.pack(...) emit(packed.n, packed)".to_owned(),
            1 => "local a, b = ... emit(a, b, ...)".to_owned(),
            2 => "if count > 1 then emit(select(2, ...)) emit(select(-1, ...)) end".to_owned(),
            3 => "local list = { ..., \"last\" } emit(list[1], list[2])".to_owned(),
            _ => "emit((...), count) for place = 1, count do emit((select(place, ...))) end".to_owned(),
        }));
        body.push(line(self.chance.pick(&["return ...", "return count, ...", "return (...)", "return"])));
        let first = self.chance.below(arguments.len());
        let second = self.chance.below(arguments.len());
        vec![
            block(format!("local function {f}(...)"), body, "end"),
            line(format!("emit({f}({}))", arguments[first])),
            line(format!("emit({f}({}), {f}(1, 2))", arguments[second])),
        ]
    }

    pub(super) fn recursion(&mut self) -> Vec<Node> {
        let (f, n) = (self.name("f"), self.name("p"));
        let scope = self.vars.len();
        self.add(&n, Kind::Int, false);
        let (base, step) = (self.int(1), self.int(1));
        self.vars.truncate(scope);
        let times = self.chance.between(1, 12);
        let (body, arguments) = match self.chance.below(4) {
            0 => (format!("return {f}({n} - 1) + ({step})"), ""),
            1 => (format!("return {f}({n} - 1, {n} * 2)"), ""), // a tail call
            2 => (format!("return {f}({n} - 2) .. \":\" .. {f}({n} - 3)"), ""),
            _ => (format!("local t = {f}({n} - 1) return {{ t, {n} }}"), ""),
        };
        vec![
            block(
                format!("local function {f}({n}{arguments})"),
                vec![line("tick()"), line(format!("if {n} <= 0 then return {base} end")), line(body)],
                "end",
            ),
            line(format!("emit({f}({times}))")),
        ]
    }

    /// Sorting: by comparisons that order everything, so that every sort gives the same.
    pub(super) fn sort(&mut self) -> Vec<Node> {
        let list = self.name("list");
        match self.chance.below(7) {
            0 => vec![
                line(format!(
                    "local {list} = {{ {}, {}, {}, 3, 1, 2 }}",
                    self.value(Kind::Int),
                    self.int(1),
                    self.int(1)
                )),
                // An integer and a float of the same value have no order between them.
                line(format!(
                    "for place, v in ipairs({list}) do \
                     {list}[place] = v == v and (math.tointeger(v) or v) or 0 end"
                )),
                line(format!("table.sort({list}) emit({list})")),
            ],
            1 => vec![
                line(format!("local {list} = {{ {}, {}, \"b\", \"a\", \"B\" }}", self.text(1), self.text(1))),
                line(format!("table.sort({list}, function(x, y) return x > y end) emit({list})")),
            ],
            2 => {
                let scope = self.vars.len();
                let (x, y) = (self.name("p"), self.name("p"));
                self.add(&x, Kind::Int, false);
                let key = self.pure(2);
                self.vars.truncate(scope);
                let other = key.replace(&x, &y);
                vec![
                    line(format!("local {list} = {{}}")),
                    line(format!(
                        "for place = 1, 12 do {list}[place] = (place * 7919 + {}) % 101 end",
                        self.chance.between(0, 50)
                    )),
                    line(format!(
                        "table.sort({list}, function({x}, {y}) local a, b = {key}, {other} \
                         if a ~= b then return a < b end return {x} < {y} end)"
                    )),
                    line(format!("emit({list})")),
                ]
            }
            3 => vec![
                line(format!(
                    "local {list} = {{ {{ k = {}, id = 1 }}, {{ k = 2, id = 2 }}, {{ k = 2, id = 3 }} }}",
                    self.int(1)
                )),
                line(format!(
                    "table.sort({list}, function(x, y) if x.k ~= y.k then return x.k < y.k end return x.id > y.id end)"
                )),
                line(format!("for _, row in ipairs({list}) do emit(row.k, row.id) end")),
            ],
            4 => vec![
                line(format!(
                    "local {list} = {{ {}, {}, 2.5, -1 }}",
                    self.num(1).replace("0/0", "0/1"),
                    self.int(1)
                )),
                line(format!(
                    "for place = 1, #{list} do if {list}[place] ~= {list}[place] then {list}[place] = 0 end end"
                )),
                line(format!(
                    "table.sort({list}, function(x, y) if x == y then return math.type(x) < math.type(y) end return x < y end)"
                )),
                line(format!("emit(#{list}, {list}[1] <= {list}[2])")),
            ],
            5 if self.taste.tools && !self.in_coroutine => vec![
                line(format!("local {list} = {{ 3, 1, 2 }}")),
                line(format!("table.sort({list}, function(x, y) return x < y end) emit(weigh({list}[1]))")),
            ],
            _ => vec![
                line(format!(
                    "local {list} = {{ 3, {}, 1 }}",
                    self.chance.pick(&["\"x\"", "{}", "true", "2", "1.5"])
                )),
                line(format!("emit((pcall(table.sort, {list})))")),
            ],
        }
    }
}
