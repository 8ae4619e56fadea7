//! Statements that use the plan library: lists with functions of the plan's own, texts, documents.

use super::Maker;

impl Maker {
    /// A list of anything, or of rows.
    fn list(&mut self) -> String {
        match self.chance.below(4) {
            0 => format!("l({})", self.value()),
            1 => format!("{{s({}), s({}), \"z\"}}", self.value(), self.value()),
            2 => "l(context.c)".to_owned(),
            _ => "{\"x1\", context.a, \"x2\"}".to_owned(),
        }
    }

    fn rows(&mut self) -> String {
        format!(
            "{{{{n = s({}), m = {}}}, {{n = \"r\", m = {}}}}}",
            self.value(),
            self.scalar(),
            self.scalar()
        )
    }

    /// `open` with a function of one element as its last argument; gives the name of the result.
    fn with_function(&mut self, open: &str, answer: &str) -> String {
        let (name, element, known) = (self.fresh(), self.fresh(), self.names.len());
        self.line(&format!("local {name} = {open}function({element})"));
        self.names.push(element.clone());
        self.function_body(2);
        self.line(&format!("  return {}", answer.replace('@', &element)));
        self.line("end)");
        self.names.truncate(known);
        name
    }

    pub(super) fn library(&mut self) {
        match self.chance.below(14) {
            0 => {
                let (list, value) = (self.list(), self.value());
                let answer = match self.chance.below(3) {
                    0 if self.may_call => format!("(look{{first = s(@), second = {value}}})"),
                    1 => format!("s(@) .. s({value})"),
                    _ => "@".to_owned(),
                };
                let name = self.with_function(&format!("list.map({list}, "), &answer);
                self.declare(&format!("s({name}[1]) .. s({name}[2])"));
                self.names.push(name);
            }
            1 | 2 => {
                let (list, value) = (self.list(), self.value());
                let member = self.chance.pick(&["filter", "partition", "find", "count", "any", "all"]);
                let name =
                    self.with_function(&format!("list.{member}({list}, "), &format!("s(@) ~= s({value})"));
                if matches!(member, "filter" | "partition") {
                    self.declare(&format!("s({name}[1]) .. #{name}"));
                }
                self.names.push(name);
            }
            3 => {
                let rows = self.rows();
                let name = self.with_function(&format!("list.sort_by({rows}, "), "s(@.m)");
                self.declare(&format!("s({name}[1].n) .. s({name}[2].m)"));
            }
            4 => {
                let rows = self.rows();
                let member = self.chance.pick(&["group_by", "index_by", "count_by"]);
                let (name, key, inside) = (self.fresh(), self.fresh(), self.fresh());
                self.line(&format!("local {name} = list.{member}({rows}, \"n\")"));
                self.line(&format!("for {key}, {inside} in pairs({name}) do"));
                self.line(&format!("  table.insert(log, s({key}))"));
                let known = self.names.len();
                self.names.extend([key, inside]);
                self.loop_body(2);
                self.names.truncate(known);
                self.line("end");
                self.declare(&format!("s(list.keys({name})[1]) .. s(log[#log])"));
            }
            5 => {
                let rows = self.rows();
                let call = match self.chance.below(5) {
                    0 => format!("list.pluck({rows}, \"m\")"),
                    1 => format!("list.map({rows}, \"n\")"),
                    2 => format!("list.values({rows})[1].m"),
                    3 => format!("(list.find({rows}, {{n = \"r\"}})).m"),
                    _ => format!("list.filter({rows}, {{n = \"r\"}})[1].m"),
                };
                self.declare(&call);
            }
            6 => {
                let (list, other) = (self.list(), self.list());
                let call = match self.chance.below(10) {
                    0 => format!("list.unique({list})"),
                    1 => format!("list.chunk({list}, 2)[1]"),
                    2 => format!("list.zip({list}, {other})[1]"),
                    3 | 9 => format!("list.flatten({{{list}, {{{other}}}}})"),
                    4 => format!("list.slice({list}, 2)"),
                    5 => format!("list.concat({list}, {other})"),
                    6 => format!("list.reverse({list})"),
                    7 => format!("list.take({list}, 1)"),
                    _ => format!("list.index_of({list}, {})", self.scalar()),
                };
                self.declare(&call);
                let name = self.names.last().cloned().unwrap_or_default();
                self.declare(&format!("l({name})[1]"));
            }
            7 => {
                let (list, initial) = (self.list(), self.scalar());
                let (name, one, other) = (self.fresh(), self.fresh(), self.fresh());
                self.line(&format!("local {name} = list.reduce({list}, function({one}, {other})"));
                let known = self.names.len();
                self.names.extend([one.clone(), other.clone()]);
                self.function_body(2);
                self.names.truncate(known);
                self.line(&format!("  return s({one}) .. s({other})"));
                let initial = if self.chance.one_in(2) { format!(", {initial}") } else { String::new() };
                self.line(&format!("end{initial})"));
                self.names.push(name);
            }
            8 => {
                let (list, condition) = (self.list(), self.condition());
                let ok = self.fresh();
                self.line(&format!("local {ok} = pcall(list.each, {list}, function(got)"));
                let known = self.names.len();
                self.names.push("got".into());
                self.function_body(3);
                self.names.truncate(known);
                self.line(&format!("  if {condition} then error(\"left\") end"));
                self.line("  shared.n = got");
                self.line("end)");
                self.names.push(ok);
            }
            9 => {
                let (one, other) = (self.value(), self.value());
                let (name, piece) = (self.fresh(), self.fresh());
                self.line(&format!("local {name} = \"\""));
                self.line(&format!("for {piece} in (s({one}) .. \",\" .. s({other})):gmatch(\"[^,]+\") do"));
                self.line(&format!("  {name} = {name} .. {piece}:sub(1, 3)"));
                self.line("end");
                self.names.push(name);
            }
            10 => {
                let value = self.value();
                self.declare(&format!("text.split(s({value}) .. \"-k\", \"-\")[1]"));
            }
            11 => {
                let (one, other) = (self.value(), self.value());
                self.declare(&format!("table.pack(s({one}), {other}, {one}).n"));
                self.declare(&format!("table.pack(s({one}), {other})[2]"));
            }
            12 => {
                let value = self.value();
                self.declare(&format!("stats.sum({{#s({value}), 2, #s({value})}})"));
                let rows = self.rows();
                self.declare(&format!("csv.encode({{{{a = s({value})}}}}) .. text.upper(({rows})[1].n)"));
            }
            _ => {
                let (rows, value) = (self.rows(), self.value());
                self.declare(&format!(
                    "json.decode(json.encode({{q = {{s({value})}}, k = {{1, s({value})}}}}))"
                ));
                let document = self.names.last().cloned().unwrap_or_default();
                self.declare(&format!("s({document}.k and {document}.k[2]) .. s(({rows})[2].m)"));
            }
        }
    }
}
