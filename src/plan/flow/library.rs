//! What the library's functions do with values. A function without an entry here is assumed to read all of its
//! arguments, to call the functions among them, and to return anything made of them.

use super::made::made_by;
use super::rules::{KeyPart, only};
use super::solver::Solver;
use super::state::{At, Factor, Key, Node, ObjectId, ObjectKind, Want};
use super::value::{ANY, Cell, NIL, NUMBER, Taint};

const NESTED_MAX: u32 = 12;

/// Whether another function may call this one without an analysis of what it changes.
fn is_harmless(name: &str) -> bool {
    let changes = ["insert", "remove", "sort", "move", "?"];
    let library = name.split_once('.').map_or("", |(library, _)| library);
    made_by(name).is_some()
        || matches!(library, "text" | "date" | "stats" | "csv" | "json" | "list" | "utf8" | "string")
        || library == "table" && !changes.iter().any(|member| name.ends_with(member))
        || matches!(name, "select" | "ipairs" | "pairs" | "next" | "ipairs next" | "rawget")
}

impl Solver<'_> {
    pub(super) fn builtin(&mut self, name: &str, want: &Want) {
        self.nested += 1;
        if self.nested > NESTED_MAX {
            self.lost = true;
        } else {
            self.library(name, want);
        }
        self.nested -= 1;
    }

    pub(super) fn cell(&mut self, want: &Want, place: usize) -> Cell {
        match want.argument(place) {
            Some(node) => self.read(node),
            None => Cell::unknown(NIL),
        }
    }

    fn library(&mut self, name: &str, want: &Want) {
        if let Some(made) = made_by(name) {
            return self.plain(name, made, want);
        }
        let known = match name.split_once('.') {
            Some(("list", member)) => self.list_function(member, want),
            Some(("stats", member)) => self.stats_function(member, want),
            _ => false,
        };
        if known {
            return;
        }
        match name {
            "error" => {
                let (taint, _) = self.everything_in(want);
                let raised = self.raised;
                let value = self.cell(want, 0);
                let value = Cell { taint: Taint::NONE, ..value };
                self.add(raised, &value);
                self.may_raise(want.at, &taint);
            }
            "assert" | "must" => {
                let first = self.cell(want, 0);
                let taint = self.scalar(&first);
                let raised = self.raised;
                let message = Cell { taint: Taint::NONE, ..self.cell(want, 1) };
                self.add(raised, &message);
                let (all, _) = self.everything_in(want);
                self.may_raise(want.at, &taint);
                self.may_raise(want.at, &all);
                self.pass(want, 0);
            }
            "select" => self.select(want),
            "ipairs" | "pairs" => {
                let table = self.cell(want, 0);
                let walk = if name == "ipairs" { "ipairs next" } else { "next" };
                let next = self.object(ObjectKind::Builtin(walk.into()));
                self.raise_unless_table(want.at, &table);
                self.give(want, 0, &Cell::object(next));
                self.give(want, 1, &table);
                self.give(want, 2, &Cell::unknown(NIL | NUMBER));
                let of_metatables =
                    self.metamethods(&table.objects, std::slice::from_ref(&table), want.part(3), want.at);
                self.give_all(want, &of_metatables);
            }
            "next" => self.next(want, KeyPart::Any),
            "ipairs next" => self.next(want, KeyPart::Number),
            "rawget" => {
                let (base, key) = (self.cell(want, 0), self.cell(want, 1));
                let found = self.index(&base, &key, want.at);
                self.give(want, 0, &found);
            }
            "rawset" => {
                let (base, key, value) = (self.cell(want, 0), self.cell(want, 1), self.cell(want, 2));
                self.store(&base, &key, value, want.at);
                self.give(want, 0, &base);
            }
            "setmetatable" => {
                let (table, mut metatable) = (self.cell(want, 0), self.cell(want, 1));
                metatable.taint.add(&table.taint);
                metatable.taint.add(&self.decides(want.at));
                for object in &table.objects {
                    let to = self.get(*object).metatable;
                    self.add(to, &metatable);
                }
                let taint = self.scalar(&metatable);
                self.may_raise(want.at, &taint);
                self.give(want, 0, &table);
            }
            "getmetatable" => {
                let table = self.cell(want, 0);
                let mut found = Cell::unknown(ANY);
                found.taint = self.scalar(&table);
                for object in &table.objects {
                    let metatable = self.get(*object).metatable;
                    let metatable = self.read(metatable);
                    found.add(&metatable);
                    for meta in metatable.objects {
                        self.read_parts(meta, &[Self::text_key("__metatable")], &mut found);
                    }
                }
                self.give(want, 0, &found);
            }
            "table.insert" => {
                let table = self.cell(want, 0);
                let mut value = Cell::default();
                for node in want.fixed.iter().skip(1).copied().chain(want.rest) {
                    value.add(&self.read(node));
                }
                self.change_items(&table, value, want.at);
            }
            "table.remove" | "table.sort" => self.rearrange(name, want),
            "table.move" => {
                let from = self.cell(want, 0);
                let mut value = self.items_of(&from);
                for place in 1..4 {
                    let limit = self.cell(want, place);
                    value.taint.add(&self.scalar(&limit));
                }
                let to = if want.fixed.len() > 4 || want.rest.is_some() { self.cell(want, 4) } else { from };
                self.change_items(&to, value, want.at);
                self.give(want, 0, &to);
            }
            "table.unpack" => {
                let table = self.cell(want, 0);
                let mut all = self.items_of(&table);
                let made =
                    self.metamethods(&table.objects, std::slice::from_ref(&table), want.part(3), want.at);
                all.add(&made);
                let from_first = want.fixed.len() == 1 && want.rest.is_none();
                for place in 0..want.results.len() {
                    let key = Key::Int(i64::try_from(place + 1).unwrap_or(i64::MAX));
                    let mut found = all.clone();
                    if from_first {
                        found = Cell::tainted(all.taint);
                        found.add(&made);
                        for object in &table.objects {
                            self.read_parts(*object, &[KeyPart::Known(key.clone())], &mut found);
                        }
                    }
                    self.give(want, place, &found);
                }
                if let Some(more) = want.more {
                    self.add(more, &all);
                }
                self.raise_unless_table(want.at, &table);
            }
            "pcall" | "xpcall" => self.protected(name, want),
            "retry" => self.retried(want),
            "step" => self.stepped(want),
            "parallel" => self.side_by_side(want),
            "json.array" | "json.object" => self.marked(want),
            "string.gsub" => self.substituted(want),
            "string.gmatch" => self.matches(want),
            "table.pack" => self.packed(want),
            _ if name.starts_with("coroutine.") => self.coroutine(name, want),
            _ => self.anything(want),
        }
    }

    /// All arguments with everything inside: what they depend on, and every object.
    pub(super) fn everything_in(&mut self, want: &Want) -> (Taint, Vec<ObjectId>) {
        let mut all = Cell::default();
        for node in want.fixed.iter().copied().chain(want.rest) {
            all.add(&self.read(node));
        }
        self.deep(&all)
    }

    pub(super) fn raise_unless_table(&mut self, at: At, cell: &Cell) {
        let sure = cell.unknown == 0
            && cell.constants.is_empty()
            && cell.objects.iter().all(|object| self.is_plain_table(*object));
        if !sure {
            let taint = self.scalar(cell);
            self.may_raise(at, &taint);
        }
    }

    /// Gives the arguments from `first` on.
    fn pass(&mut self, want: &Want, first: usize) {
        let (fixed, rest) = want.skip(first);
        for place in 0..want.results.len() {
            let cell = match fixed.get(place).copied().or(rest) {
                Some(node) => self.read(node),
                None => Cell::unknown(NIL),
            };
            self.give(want, place, &cell);
        }
        if let Some(more) = want.more {
            for node in fixed.iter().skip(want.results.len()).copied().chain(rest) {
                let cell = self.read(node);
                self.add(more, &cell);
            }
        }
    }

    fn select(&mut self, want: &Want) {
        let which = self.cell(want, 0);
        let mut all = Cell::unknown(NIL);
        for node in want.skip(1).0.iter().copied().chain(want.rest) {
            all.add(&self.read(node));
        }
        if !only(&which, NUMBER) {
            all.add_value(&Cell::unknown(NUMBER));
        }
        let taint = self.scalar(&all);
        all.taint.add(&taint);
        all.taint.add(&self.scalar(&which));
        self.may_raise(want.at, &all.taint);
        self.give_all(want, &all);
    }

    /// A function of which only one thing is known: it changes none of its arguments.
    fn anything(&mut self, want: &Want) {
        let (taint, objects) = self.everything_in(want);
        let made = self.object(ObjectKind::Derived(self.now));
        let mut result = Cell::unknown(ANY);
        result.taint = taint;
        result.objects.push(made);
        for object in &objects {
            if !matches!(self.get(*object).kind, ObjectKind::Library(_) | ObjectKind::Globals) {
                result.add_value(&Cell::object(*object));
            }
        }
        let mixed = self.helper(want.part(10));
        self.add(mixed, &result);
        let mut functions: Vec<ObjectId> = Vec::new();
        for object in objects {
            match self.kind(object) {
                ObjectKind::Builtin(name) if !is_harmless(&name) => self.lost = true,
                ObjectKind::Closure(..) | ObjectKind::Tool(_) | ObjectKind::Coroutine(_) => {
                    functions.push(object);
                }
                _ => {}
            }
        }
        if !functions.is_empty() {
            let answer = self.helper(want.part(11));
            let control = self.helper(want.part(12));
            let outside = self.read(want.at.control).taint;
            let answered = self.read(answer);
            let (answer_taint, _) = self.deep(&answered);
            for taint in [&taint, &outside, &answer_taint] {
                self.add_taint(control, taint);
            }
            let inner = Want {
                fixed: vec![mixed; 3],
                rest: Some(mixed),
                results: vec![answer],
                more: None,
                at: At { control, ..want.at },
                before: want.at.stop,
                factor: Factor::Unbounded,
                tag: want.part(13),
                ..want.clone()
            };
            for function in functions {
                self.apply(function, &inner);
            }
            result.add(&self.read(answer));
            result.taint.add(&answer_taint);
        }
        let mixed_now: Cell = result.clone();
        self.add(mixed, &mixed_now);
        let unknown = self.get(made).unknown;
        self.add(unknown, &result);
        self.may_raise(want.at, &result.taint);
        self.give_all(want, &result);
    }

    /// A node that collects what a protected part may fail on.
    pub(super) fn failing(&mut self, want: &Want) -> Node {
        self.helper(want.part(14))
    }
}
