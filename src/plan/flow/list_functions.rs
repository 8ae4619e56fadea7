//! The library `list`: elements flow where its functions put them. What picks, tests or sorts elements has
//! control over them, and does not flow into them.

use super::lists::{OFTEN, often};
use super::rules::KeyPart;
use super::solver::Solver;
use super::state::{Key, ObjectId, ObjectKind, Want};
use super::value::{BOOL, Cell, Constant, NIL, NULL, NUMBER};

/// Levels of nested lists that `list.flatten` is followed into.
const FLATTENED_MAX: usize = 8;

impl Solver<'_> {
    /// `list.member`; says whether it is known.
    pub(super) fn list_function(&mut self, member: &str, want: &Want) -> bool {
        match member {
            "empty" | "range" | "concat" | "is_list" | "keys" | "values" | "zip" => {
                self.list_from_values(member, want);
            }
            "map" | "pluck" | "sum_by" | "sort_by" | "group_by" | "count_by" | "index_by" | "unique" => {
                self.list_by_key(member, want);
            }
            "filter" | "partition" | "find" | "any" | "all" | "count" => self.list_by_test(member, want),
            "each" => {
                let list = self.elements(want, 0);
                let (element, answer) = self.element_nodes(want, &list.cell);
                let callee = want.argument(1);
                let numbers = self.number_node(want);
                self.call_each(want, callee, vec![element, numbers], answer, &list.length, often(want));
                self.give_all(want, &Cell::unknown(NIL));
            }
            "reduce" => self.list_reduce(want),
            "index_of" | "contains" => {
                let list = self.elements(want, 0);
                let value = self.cell(want, 1);
                let mut result = Cell::unknown(if member == "contains" { BOOL } else { NUMBER | NIL });
                result.taint = list.length;
                result.taint.add(&self.scalar(&list.cell));
                result.taint.add(&self.scalar(&value));
                let objects: Vec<ObjectId> =
                    list.cell.objects.iter().chain(&value.objects).copied().collect();
                let compared = self.metamethods(&objects, &[list.cell, value], want.part(OFTEN), want.at);
                result.taint.add(&self.scalar(&compared));
                self.give(want, 0, &result);
            }
            "sort" | "slice" | "take" | "drop" | "reverse" | "chunk" | "flatten" => {
                self.list_rearranged(member, want);
            }
            _ => return false,
        }
        true
    }

    fn list_by_key(&mut self, member: &str, want: &Want) {
        let list = self.elements(want, 0);
        let mut element = list.cell.clone();
        let unkeyed = member == "unique" && want.fixed.len() < 2 && want.rest.is_none();
        let key = if unkeyed { list.cell.clone() } else { self.picked(want, 1, &list) };
        let mut decides = self.scalar(&key);
        decides.add(&list.length);
        if matches!(member, "group_by" | "count_by" | "sort_by") {
            let option = self.cell(want, 2);
            let taint = self.scalar(&option);
            decides.add(&taint);
            if member == "sort_by" && !is_usual(&option, true) {
                self.may_raise(want.at, &taint);
            }
        }
        if member == "unique" {
            decides.add(&self.scalar(&list.cell));
        }
        element.taint.add(&decides);
        let mut keys = key.clone();
        if member == "group_by" || member == "count_by" {
            let missing = self.cell(want, 2);
            keys.add(&missing);
            if missing.unknown & NIL != 0 {
                keys.add_value(&Cell::constant(Constant::Text("".into())));
            }
        }
        let result = match member {
            "map" | "pluck" => {
                let mut value = key;
                value.taint.add(&list.length);
                if value.unknown & NIL != 0 {
                    value.unknown |= NULL;
                }
                self.listed(want, 0, &value)
            }
            "sum_by" => Cell { taint: decides, ..Cell::unknown(NUMBER) },
            "count_by" => {
                let count = Cell { taint: decides, ..Cell::unknown(NUMBER) };
                self.keyed(want, &count, &keys)
            }
            "index_by" => self.keyed(want, &element, &keys),
            "group_by" => {
                let mut group = self.listed(want, 0, &element);
                group.taint = decides;
                self.keyed(want, &group, &keys)
            }
            _ => self.listed(want, 0, &element),
        };
        if member == "sum_by" {
            self.may_raise(want.at, &decides);
        }
        self.give(want, 0, &result);
    }

    fn list_by_test(&mut self, member: &str, want: &Want) {
        let list = self.elements(want, 0);
        let stops_early = matches!(member, "find" | "any" | "all");
        let mut decides = self.tested(want, &list, stops_early);
        decides.add(&list.length);
        let mut element = list.cell;
        element.taint.add(&decides);
        match member {
            "filter" | "partition" => {
                let kept = self.listed(want, 0, &element);
                self.give(want, 0, &kept);
                if member == "partition" {
                    let others = self.listed(want, 1, &element);
                    self.give(want, 1, &others);
                }
            }
            "find" => {
                element.add_value(&Cell::unknown(NIL));
                self.give(want, 0, &element);
                self.give(want, 1, &Cell { taint: decides, ..Cell::unknown(NUMBER | NIL) });
            }
            _ => {
                let kind = if member == "count" { NUMBER } else { BOOL };
                self.give(want, 0, &Cell { taint: decides, ..Cell::unknown(kind) });
            }
        }
    }

    fn list_reduce(&mut self, want: &Want) {
        let list = self.elements(want, 0);
        let initial = self.cell(want, 2);
        let (element, answer) = self.element_nodes(want, &list.cell);
        let begun = self.scalar(&initial);
        let mut decides = list.length;
        decides.add(&begun);
        self.add(answer, &initial);
        if initial.unknown & NIL != 0 || initial.objects.iter().any(|object| self.is_outside(*object)) {
            self.add(answer, &list.cell);
        }
        self.add_taint(answer, &decides);
        let numbers = self.number_node(want);
        self.call_each(want, want.argument(1), vec![answer, element, numbers], answer, &decides, often(want));
        let result = self.read(answer);
        self.give(want, 0, &result);
    }

    fn list_rearranged(&mut self, member: &str, want: &Want) {
        let list = self.elements(want, 0);
        let mut element = list.cell;
        let mut decides = list.length;
        for place in 1..3 {
            let option = self.cell(want, place);
            let taint = self.scalar(&option);
            decides.add(&taint);
            let can_be_left_out = place == 2 || !matches!(member, "take" | "drop" | "chunk");
            if member != "reverse" && !is_usual(&option, can_be_left_out) {
                self.may_raise(want.at, &taint);
            }
        }
        if member == "sort" {
            decides.add(&self.scalar(&element));
        }
        if member == "flatten" {
            let levels = if want.fixed.len() < 2 && want.rest.is_none() { 1 } else { FLATTENED_MAX };
            for level in 1..=levels {
                let inside = self.elements_of(&element, want.part(OFTEN + 1), want.at);
                decides.add(&inside.length);
                let before = element.clone();
                element.add(&inside.cell);
                if before == element {
                    break;
                }
                self.lost |= level == FLATTENED_MAX;
            }
        }
        element.taint.add(&decides);
        let result = match member {
            "chunk" => {
                let mut chunk = self.listed(want, 1, &element);
                chunk.taint = decides;
                self.listed(want, 0, &chunk)
            }
            _ => self.listed(want, 0, &element),
        };
        self.give(want, 0, &result);
    }

    fn list_from_values(&mut self, member: &str, want: &Want) {
        let list = self.cell(want, 0);
        let result = match member {
            "empty" => self.listed(want, 0, &Cell::default()),
            "range" => {
                let mut number = Cell::unknown(NUMBER);
                for place in 0..3 {
                    let limit = self.cell(want, place);
                    number.taint.add(&self.scalar(&limit));
                }
                self.may_raise(want.at, &number.taint);
                self.listed(want, 0, &number)
            }
            "concat" => {
                let mut all = Cell::default();
                for node in want.fixed.iter().copied().chain(want.rest) {
                    let one = self.read(node);
                    self.raise_unless_table(want.at, &one);
                    let inside = self.elements_of(&one, want.part(OFTEN + 1), want.at);
                    all.add(&inside.cell);
                    all.taint.add(&inside.length);
                }
                self.listed(want, 0, &all)
            }
            "is_list" => {
                let inside = self.elements_of(&list, want.part(OFTEN + 1), want.at);
                Cell { taint: inside.length, ..Cell::unknown(BOOL) }
            }
            "keys" | "values" => {
                self.raise_unless_table(want.at, &list);
                let (mut key, mut value) = self.entries(&list, &KeyPart::Any);
                let walked = self.metamethods(
                    &list.objects,
                    std::slice::from_ref(&list),
                    want.part(OFTEN + 1),
                    want.at,
                );
                let taint = self.scalar(&walked);
                key.taint.add(&taint);
                value.add(&walked);
                value.taint.add(&key.taint);
                self.listed(want, 0, if member == "keys" { &key } else { &value })
            }
            _ => {
                let (one, other) = (self.elements(want, 0), self.elements(want, 1));
                let made = self.object(ObjectKind::Table(self.now, 1 + want.part(OFTEN + 15)));
                self.store_into(made, &[KeyPart::Known(Key::Int(1))], &one.cell);
                self.store_into(made, &[KeyPart::Known(Key::Int(2))], &other.cell);
                let mut pair = Cell::object(made);
                pair.taint.add(&one.length);
                pair.taint.add(&other.length);
                self.listed(want, 0, &pair)
            }
        };
        self.give(want, 0, &result);
    }

    /// Figures of a list of numbers, or of a member of rows.
    pub(super) fn stats_function(&mut self, member: &str, want: &Want) -> bool {
        let key = match member {
            "sum" | "count" | "mean" | "median" | "min" | "max" | "mode" | "summary" | "stdev"
            | "variance" => 1,
            "percentile" | "histogram" => 2,
            _ => return false,
        };
        let list = self.elements(want, 0);
        let named = self.cell(want, key);
        let mut taint = list.length;
        taint.add(&self.scalar(&list.cell));
        for place in 1..4 {
            let option = self.cell(want, place);
            taint.add(&self.scalar(&option));
        }
        if named != Cell::unknown(NIL) {
            let seen = self.member(&list.cell, &named, want.part(OFTEN + 7), want.at);
            taint.add(&self.scalar(&seen));
        }
        self.may_raise(want.at, &taint);
        let figure = Cell { taint, ..Cell::unknown(NUMBER | NIL) };
        let result = match member {
            "summary" | "histogram" => {
                let made = self.object(ObjectKind::Table(self.now, 1 + want.part(OFTEN + 14)));
                self.store_into(made, &[KeyPart::Any], &figure);
                match member {
                    "summary" => Cell::object(made),
                    _ => self.listed(want, 0, &Cell { taint, ..Cell::object(made) }),
                }
            }
            _ => figure,
        };
        self.give(want, 0, &result);
        true
    }
}

/// Whether an option of these functions is surely one they take.
fn is_usual(option: &Cell, can_be_left_out: bool) -> bool {
    let known = option.constants.iter().all(|constant| match constant {
        Constant::Int(number) => *number >= 1,
        Constant::Text(text) => matches!(&**text, "asc" | "desc"),
        _ => false,
    });
    let left_out = option.unknown == 0 || can_be_left_out && option.unknown == NIL;
    known && left_out && option.objects.is_empty()
}
