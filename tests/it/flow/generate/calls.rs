//! Statements that call: functions, protected calls, coroutines, branches, metatables.

use super::Maker;

impl Maker {
    pub(super) fn function(&mut self) {
        let (function, parameter, known) = (self.fresh(), self.fresh(), self.names.len());
        let varargs = self.chance.one_in(3);
        if varargs {
            self.line(&format!("local {function} = function(...)"));
            self.line(&format!("  local {parameter}, more = ..."));
        } else {
            self.line(&format!("local function {function}({parameter})"));
        }
        self.names.push(parameter);
        self.function_body(4);
        let value = if self.chance.one_in(3) { "look(1, 2)".to_owned() } else { self.value() };
        self.line(&format!("  return {value}, s({value})"));
        self.line("end");
        self.names.truncate(known);
        for _ in 0..=self.chance.below(2) {
            let (argument, name) = (self.value(), self.fresh());
            self.line(&format!("local _, {name} = {function}({argument}, {argument})"));
            self.names.push(name);
        }
    }

    pub(super) fn protected(&mut self) {
        let (ok, problem) = (self.fresh(), self.fresh());
        let handled = self.chance.one_in(3);
        let open = if handled { "xpcall(function()" } else { "pcall(function()" };
        self.line(&format!("local {ok}, {problem} = {open}"));
        self.function_body(4);
        if self.chance.one_in(2) {
            let (condition, value) = (self.condition(), self.value());
            self.line(&format!("  if {condition} then error({{name = {value}}}) end"));
        }
        let value = self.value();
        self.line(&format!("  shared.n = {value}"));
        self.line(&format!("  return {value}"));
        self.line(if handled { "end, function(e) return {name = s(e)} end)" } else { "end)" });
        self.names.extend([ok, problem]);
    }

    pub(super) fn coroutine(&mut self) {
        let (co, one, other, known) = (self.fresh(), self.fresh(), self.fresh(), self.names.len());
        let wrapped = self.chance.one_in(2);
        self.line(&format!(
            "local {co} = coroutine.{}(function(got)",
            if wrapped { "wrap" } else { "create" }
        ));
        self.names.push("got".into());
        self.function_body(3);
        let (condition, value) = (self.condition(), self.value());
        self.line(&format!("  if {condition} then coroutine.yield({value}) end"));
        self.function_body(2);
        let value = self.value();
        self.line(&format!("  shared.n = {value}"));
        self.line(&format!("  local back = coroutine.yield({value})"));
        self.line("  return back");
        self.line("end)");
        self.names.truncate(known);
        for name in [one, other] {
            let argument = self.value();
            let resume = if wrapped {
                format!("pcall({co}, {argument})")
            } else {
                format!("coroutine.resume({co}, {argument})")
            };
            self.line(&format!("local _, {name} = {resume}"));
            self.names.push(name);
        }
    }

    pub(super) fn parallel(&mut self) {
        let name = self.fresh();
        self.line(&format!("local {name} = parallel{{"));
        for key in ["", "second = "] {
            self.line(&format!("  {key}function()"));
            let known = self.names.len();
            self.depth += 1;
            self.function_body(3);
            self.depth -= 1;
            self.names.truncate(known);
            let value = self.value();
            self.line(&format!("    shared.n = {value}"));
            self.line(&format!("    return (look{{first = s({value}), second = s(shared.n)}})"));
            self.line("  end,");
        }
        self.line("}");
        self.declare(&format!("{name}.second"));
        self.declare(&format!("{name}[1]"));
    }

    pub(super) fn metatable(&mut self) {
        let (name, value, other) = (self.fresh(), self.value(), self.value());
        let method = self.chance.below(4);
        let methods = match method {
            0 => format!("__index = function(t, k) return s(k) .. s({value}) end"),
            1 => format!("__newindex = function(t, k, v) shared.n = v rawset(t, k, {value}) end"),
            2 => format!("__call = function(self, x) return (look(s(x), {value})) end"),
            _ => format!("__concat = function(x, y) return s({value}) end"),
        };
        self.line(&format!("local {name} = setmetatable({{}}, {{{methods}}})"));
        match method {
            0 => self.declare(&format!("{name}.missing")),
            1 => {
                self.line(&format!("{name}.entry = {other}"));
                self.declare(&format!("s({name}.entry) .. s(shared.n)"));
            }
            2 => self.declare(&format!("{name}({other})")),
            _ => self.declare(&format!("{name} .. s({other})")),
        }
    }
}
