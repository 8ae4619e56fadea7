//! Metatables: objects with operators, inheritance, proxies.

use super::{Generator, Kind, block, line};
use crate::differential::program::Node;

impl Generator {
    pub(super) fn object(&mut self) -> Vec<Node> {
        match self.chance.below(4) {
            0 => self.class(),
            1 => self.proxy(),
            _ => self.operators(),
        }
    }

    fn class(&mut self) -> Vec<Node> {
        let (base, derived, made) = (self.name("Base"), self.name("Derived"), self.name("o"));
        let value = self.value(Kind::Int);
        let mut nodes = vec![
            line(format!("local {base} = {{}} {base}.__index = {base}")),
            block(
                format!("function {base}.new(v)"),
                vec![line(format!("return setmetatable({{ v = v }}, {base})"))],
                "end",
            ),
            block(
                format!("function {base}:get(n)"),
                vec![line("tick()"), line("return self.v + (n or 0)")],
                "end",
            ),
            block(format!("function {base}:set(v)"), vec![line("self.v = v"), line("return self")], "end"),
            line(format!(
                "local {derived} = setmetatable({{}}, {{ __index = {base} }}) {derived}.__index = {derived}"
            )),
        ];
        if self.chance.one_in(2) {
            nodes.push(line(format!("function {derived}:get(n) return -{base}.get(self, n) end")));
        }
        if self.chance.one_in(2) {
            nodes.push(line(format!(
                "{derived}.__tostring = function(self) return \"D(\" .. tostring(self.v) .. \")\" end"
            )));
        }
        nodes.push(line(format!("local {made} = setmetatable({{ v = {value} }}, {derived})")));
        nodes.push(line(format!(
            "emit({made}:get(), {made}:set({}):get(1), rawget({made}, \"get\"))",
            self.value(Kind::Int)
        )));
        nodes.push(line(format!("emit(getmetatable({made}) == {derived}, {base}.new(3):get(4))")));
        if self.chance.one_in(3) {
            nodes.push(line(format!("emit((string.gsub(tostring({made}), \"0x%x+\", \"?\")) ~= \"\")")));
        }
        nodes
    }

    fn proxy(&mut self) -> Vec<Node> {
        let (store, made) = (self.name("store"), self.name("o"));
        let mut events = vec![
            format!("__index = function(_, k) tick() emit(\"get\", k) return {store}[k] end"),
            format!("__newindex = function(_, k, v) tick() emit(\"set\", k, v) {store}[k] = v end"),
        ];
        if self.chance.one_in(2) {
            events.push(format!("__pairs = function() return next, {store}, nil end"));
        }
        if self.chance.one_in(2) {
            events.push(format!("__len = function() return {} end", self.int(1)));
        }
        if self.chance.one_in(3) {
            events.push("__metatable = \"locked\"".to_owned());
        }
        let (first, second) = (self.value(Kind::Int), self.text(1));
        vec![
            line(format!("local {store} = {{}}")),
            line(format!("local {made} = setmetatable({{}}, {{ {} }})", events.join(", "))),
            line(format!("{made}.a = {first} {made}[1] = {second} {made}[2] = true")),
            line(format!("emit({made}.a, {made}[1], {made}.missing, #{made}, rawlen({made}))")),
            line(format!("for k, v in pairs({made}) do emit(k, v) end")),
            line(format!("emit(pcall(table.insert, {made}, 9), pcall(table.concat, {made}, \",\", 1, 1))")),
            line(format!("emit(type(getmetatable({made})), pcall(setmetatable, {made}, nil))")),
            line(format!("emit(pcall(table.unpack, {made}, 1, 2), pcall(next, {made}))")),
        ]
    }

    fn operators(&mut self) -> Vec<Node> {
        let (meta, left, right) = (self.name("meta"), self.name("o"), self.name("o"));
        let all = [
            ("add", "+"),
            ("sub", "-"),
            ("mul", "*"),
            ("div", "/"),
            ("mod", "%"),
            ("pow", "^"),
            ("idiv", "//"),
            ("band", "&"),
            ("bor", "|"),
            ("bxor", "~"),
            ("shl", "<<"),
            ("shr", ">>"),
            ("concat", ".."),
        ];
        let mut nodes = vec![line(format!("local {meta} = {{}}"))];
        let made = |v: &str| format!("setmetatable({{ v = {v} }}, {meta})");
        let (first, second) = (self.value(Kind::Int), self.int(1));
        nodes.push(line(format!("local {left}, {right} = {}, {}", made(&first), made(&second))));
        nodes.push(line(
            "local function of(x) if type(x) == \"table\" then return rawget(x, \"v\") end return x end"
                .to_owned(),
        ));
        for _ in 0..=self.chance.below(4) {
            let (event, operator) = all[self.chance.below(all.len())];
            nodes.push(line(format!(
                "{meta}.__{event} = function(x, y) tick() emit(\"{event}\", of(x), of(y)) return \"{event}\" end"
            )));
            let other = match self.chance.below(4) {
                0 => self.int(1),
                1 => self.text(1),
                _ => right.clone(),
            };
            nodes.push(line(match self.chance.one_in(2) {
                true => format!("emit({left} {operator} {other})"),
                false => format!("emit(pcall(function() return {other} {operator} {left} end))"),
            }));
        }
        if self.chance.one_in(2) {
            nodes.push(line(format!("{meta}.__eq = function(x, y) tick() return x.v == y.v end")));
            nodes.push(line(format!(
                "emit({left} == {right}, {left} ~= {right}, {left} == 1, rawequal({left}, {right}))"
            )));
        }
        if self.chance.one_in(2) {
            nodes.push(line(format!("{meta}.__lt = function(x, y) tick() return of(x) < of(y) end")));
            nodes.push(line(format!("{meta}.__le = function(x, y) tick() return of(x) <= of(y) end")));
            nodes.push(line(format!(
                "emit({left} < {right}, {left} <= {right}, {left} > {right}, {left} >= 3)"
            )));
            nodes.push(line(format!(
                "local sorted = {{ {right}, {left} }} table.sort(sorted) emit(sorted[1].v <= sorted[2].v)"
            )));
        }
        if self.chance.one_in(3) {
            nodes.push(line(format!(
                "{meta}.__call = function(self, ...) tick() return self.v, select(\"#\", ...), ... end"
            )));
            nodes.push(line(format!("emit({left}(1, nil), pcall({right}, \"x\"))")));
        }
        if self.chance.one_in(3) {
            nodes.push(line(format!(
                "{meta}.__unm = function(x) return -x.v end {meta}.__bnot = function(x) return ~x.v end"
            )));
            nodes.push(line(format!("emit(-{left}, ~{right})")));
        }
        if self.chance.one_in(3) {
            nodes.push(line(format!(
                "{meta}.__tostring = function(x) return {} end",
                self.chance.pick(&["\"<\" .. x.v .. \">\"", "\"text\"", "12"])
            )));
            nodes.push(line(format!(
                "emit(pcall(tostring, {left}), pcall(string.format, \"%s|%10s\", {left}, {right}))"
            )));
        }
        if self.chance.one_in(3) {
            nodes.push(line(format!("{meta}.__name = \"Thing\" emit(pcall(function() return {left} < 1 end), pcall(function() return #{left} .. {left} end))")));
        }
        if self.chance.one_in(4) {
            nodes.push(line(format!("emit(pcall(function() return {left}.v.w.x end), pcall(function() return {left}:nothing() end))")));
        }
        nodes
    }
}
