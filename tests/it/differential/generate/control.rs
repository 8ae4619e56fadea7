//! What changes the flow: protected calls, errors, coroutines, closing, matching in loops.

use super::{Generator, Kind, block, line};
use crate::differential::program::Node;

impl Generator {
    /// Something that raises.
    fn raise(&mut self) -> String {
        match self.chance.below(14) {
            0 => format!("error({})", self.text(1)),
            1 => format!("error({}, {})", self.text(1), self.chance.between(0, 2)),
            2 => format!("error({{ code = {}, message = {} }})", self.int(1), self.text(1)),
            3 => "error()".to_owned(),
            4 => format!("error({})", self.chance.pick(&["42", "1.5", "true", "nil", "print"])),
            5 => format!("assert({}, {})", self.chance.pick(&["false", "nil", "1 == 2"]), self.text(1)),
            6 => "assert(false)".to_owned(),
            7 => format!("local x = {} + {{}}", self.int(1)),
            8 => "local x = context.missing.deep".to_owned(),
            9 => "missing_function(1)".to_owned(),
            10 => format!("local x = ({}):missing_method()", self.text(1)),
            11 => format!("local x = {} // 0", self.int(1)),
            12 => "local t = {} t[nil] = 1".to_owned(),
            _ => format!("local x = {}", self.wild()),
        }
    }

    pub(super) fn protected(&mut self) -> Vec<Node> {
        let (ok, value) = (self.name("ok"), self.name("e"));
        let mut body = self.body(2);
        if !self.chance.one_in(4) {
            let raise = self.raise();
            let condition = self.flag(1);
            body.push(line(match self.chance.one_in(3) {
                true => format!("if {condition} then {raise} end"),
                false => format!("do {raise} end"),
            }));
        }
        let returned = format!("return {}, {}", self.int(1), self.text(1));
        body.push(line(returned));
        let close = format!("emit({ok}, type({value}), {value})");
        match self.chance.below(6) {
            0 => vec![
                block(
                    format!("local {ok}, {value} = xpcall(function(...)"),
                    body,
                    "end, function(reason) return reason end, 1, nil)",
                ),
                line(close),
            ],
            1 => vec![
                // Raised again, and caught again.
                block(
                    format!("local {ok}, {value} = pcall(function()"),
                    {
                        let mut outer = vec![block("local inner, reason = pcall(function()", body, "end)")];
                        outer.push(line("emit(\"inner\", inner, reason)"));
                        outer.push(line("error(reason, 0)"));
                        outer
                    },
                    "end)",
                ),
                line(close),
            ],
            2 => vec![
                block(format!("local {ok}, {value} = pcall(function()"), body, "end)"),
                line(close),
                line(format!("if type({value}) == \"table\" then emit({value}.code, {value}.message) end")),
            ],
            3 => vec![line(format!(
                "emit({}, pcall({}))",
                self.chance
                    .pick(&["pcall(pcall)", "pcall()", "pcall(error)", "pcall(pcall, error, 1)"])
                    .replace("pcall()", "pcall(pcall)"),
                self.chance.pick(&[
                    "error, nil",
                    "error, { 1 }",
                    "string.rep",
                    "select, 0",
                    "rawset, {}, nil, 1",
                    "ipairs"
                ])
            ))],
            _ => vec![
                block(format!("local {ok}, {value}, more = pcall(function()"), body, "end)"),
                line(format!("emit({ok}, {value}, more)")),
            ],
        }
    }

    pub(super) fn coroutine(&mut self) -> Vec<Node> {
        let outer = std::mem::replace(&mut self.in_coroutine, self.chance.one_in(2));
        let nodes = match self.chance.below(5) {
            0 => self.wrapped(),
            1 => self.driven_by_hand(),
            2 => self.closed(),
            3 => self.nested(),
            _ => self.wrapped(),
        };
        self.in_coroutine = outer;
        nodes
    }

    fn wrapped(&mut self) -> Vec<Node> {
        let (f, v) = (self.name("gen"), self.name("v"));
        let mut body = self.body(2);
        let times = self.chance.between(1, 4);
        let value = self.value(Kind::Int);
        body.push(block(
            format!("for step = 1, {times} do"),
            vec![line("tick()"), line(format!("emit(\"sent\", coroutine.yield(step, {value}))"))],
            "end",
        ));
        if self.chance.one_in(4) {
            let raise = self.raise();
            body.push(line(format!("do {raise} end")));
        }
        let mut nodes = vec![block(format!("local {f} = coroutine.wrap(function()"), body, "end)")];
        if self.chance.one_in(2) {
            nodes.push(line(format!("for {v} in {f} do emit({v}) end")));
            nodes.push(line(format!("emit(pcall({f}))")));
        } else {
            nodes.push(line(format!("emit(pcall({f}, {}), pcall({f}, 2))", self.int(1))));
            nodes.push(line(format!("emit(pcall({f}), pcall({f}))")));
        }
        nodes
    }

    fn driven_by_hand(&mut self) -> Vec<Node> {
        let co = self.name("co");
        let mut body =
            vec![line("emit(...)"), line("emit(coroutine.isyieldable(), select(2, coroutine.running()))")];
        body.extend(self.body(2));
        body.push(line(format!("local a, b = coroutine.yield({}, {})", self.value(Kind::Int), self.text(1))));
        body.push(line("emit(\"got\", a, b)"));
        // A yield inside pcall, a metamethod, an iterator or a comparison.
        body.push(line(match self.chance.below(5) {
            0 => "emit(pcall(function() local x = coroutine.yield(\"in pcall\") error({ code = x }) end))",
            1 => "emit(setmetatable({}, { __add = function(_, y) return coroutine.yield(\"in add\", y) end }) + 5)",
            2 => "for x in function(_, last) if not last then return coroutine.yield(\"in iterator\") end end do emit(x) break end",
            3 => "emit(setmetatable({}, { __index = function(_, k) return coroutine.yield(k) end }).some)",
            _ => "emit(coroutine.yield())",
        }));
        if self.chance.one_in(3) {
            let raise = self.raise();
            body.push(line(format!("do {raise} end")));
        }
        body.push(line(format!("return {}", self.value(Kind::Text))));
        let resumes = 2 + self.chance.below(3);
        let mut nodes = vec![block(format!("local {co} = coroutine.create(function(...)"), body, "end)")];
        for round in 0..resumes {
            nodes.push(line(format!(
                "emit(coroutine.status({co}), coroutine.resume({co}, {round}, {}))",
                self.int(1)
            )));
        }
        nodes.push(line(format!(
            "emit(coroutine.status({co}), coroutine.resume({co}), coroutine.close({co}))"
        )));
        nodes
    }

    fn closed(&mut self) -> Vec<Node> {
        let co = self.name("co");
        let fails = self.chance.one_in(3);
        let inside = if fails { "error({ code = 9 })" } else { "emit(\"closing\", e)" };
        vec![
            block(
                format!("local {co} = coroutine.create(function()"),
                vec![
                    self.to_close(&format!(
                        "guard <close> = setmetatable({{}}, {{ __close = function(_, e) {inside} end }})"
                    )),
                    line(format!("coroutine.yield({})", self.value(Kind::Int))),
                    line("emit(\"not reached\")"),
                ],
                "end)",
            ),
            line(format!("emit(coroutine.resume({co}))")),
            line(format!("emit(coroutine.close({co}))")),
            line(format!("emit(coroutine.status({co}), coroutine.resume({co}), coroutine.close({co}))")),
            line("emit(pcall(coroutine.close, coroutine.running()))"),
        ]
    }

    /// Coroutines inside one another, and wrong uses.
    fn nested(&mut self) -> Vec<Node> {
        let (inner, outer) = (self.name("co"), self.name("co"));
        let value = self.value(Kind::Int);
        let mut nodes = vec![
            block(
                format!("local {inner} = coroutine.wrap(function(x)"),
                vec![block(
                    "for i = 1, 3 do",
                    vec![line("tick()"), line(format!("x = coroutine.yield(x + i + {value} % 7)"))],
                    "end",
                )],
                "end)",
            ),
            block(
                format!("local {outer} = coroutine.create(function(x)"),
                vec![block(
                    "while true do",
                    vec![line("tick()"), line(format!("x = coroutine.yield({inner}(x))"))],
                    "end",
                )],
                "end)",
            ),
        ];
        for round in 1..=4 {
            nodes.push(line(format!("emit(coroutine.resume({outer}, {round}))")));
        }
        nodes.push(line(match self.chance.below(5) {
            0 => format!("emit(pcall(coroutine.resume, {}))", self.int(1)),
            1 => "emit(coroutine.resume(coroutine.running()))".to_owned(),
            2 => "emit(pcall(coroutine.create, 5))".to_owned(),
            3 => "local me me = coroutine.wrap(function() return (me()) end) emit(pcall(me))".to_owned(),
            _ => "emit(pcall(coroutine.wrap(function() error(\"inside\") end)))".to_owned(),
        }));
        nodes
    }

    /// The declaration of a variable to be closed, or what stands for it.
    fn to_close(&self, declared: &str) -> Node {
        line(if self.taste.closes { format!("local {declared}") } else { "emit(\"open\")".to_owned() })
    }

    /// Variables that are closed, on every way out.
    pub(super) fn closing(&mut self) -> Vec<Node> {
        let name = self.name("c");
        let mut body = vec![self.to_close(&format!(
            "{name} <close> = setmetatable({{}}, {{ __close = function(_, e) emit(\"close\", e) end }})"
        ))];
        body.extend(self.body(2));
        match self.chance.below(4) {
            0 => {
                let raise = self.raise();
                body.push(line(format!("do {raise} end")));
                vec![line("emit(pcall(function()"), block("do", body, "end"), line("end))")]
            }
            1 => {
                body.push(line("break"));
                vec![block("while true do", body, "end")]
            }
            2 => {
                body.push(line(format!("return {}", self.value(Kind::Int))));
                vec![block("emit((function()", body, "end)())")]
            }
            _ => vec![block("do", body, "end")],
        }
    }

    pub(super) fn many_matches(&mut self) -> Vec<Node> {
        let (text, pattern) = (self.text(1), self.pattern());
        let from = if self.chance.one_in(4) { ", 2" } else { "" };
        vec![block(
            format!("for a, b, c in string.gmatch(string.sub({text}, 1, 40), {pattern}{from}) do"),
            vec![line("tick()"), line("emit(a, b, c)")],
            "end",
        )]
    }
}
