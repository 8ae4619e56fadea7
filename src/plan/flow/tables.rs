//! The library's functions that read and change tables.

use super::rules::KeyPart;
use super::solver::Solver;
use super::state::{At, Factor, Key, Node, ObjectId, ObjectKind, Want};
use super::value::{ANY, Cell, Constant, NIL, NUMBER};

impl Solver<'_> {
    /// `next`, and what `ipairs` walks with.
    pub(super) fn next(&mut self, want: &Want, part: KeyPart) {
        let (table, before) = (self.cell(want, 0), self.cell(want, 1));
        let (mut key, mut value) = self.entries(&table, &part);
        if part == KeyPart::Number {
            self.inherited(&table.objects, &[part], &mut value, 0);
            key.taint.add(&value.taint);
        }
        value.taint.add(&self.scalar(&before));
        value.taint.add(&key.taint);
        key.taint.add(&value.taint);
        self.raise_unless_table(want.at, &table);
        let of_metatables = self.metamethods(&table.objects, &[table.clone(), before], want.part(5), want.at);
        value.add(&of_metatables);
        self.give(want, 0, &key);
        self.give(want, 1, &value);
    }

    /// What a walk over a table gives: its keys, and what stands under them.
    pub(super) fn entries(&mut self, table: &Cell, part: &KeyPart) -> (Cell, Cell) {
        let (mut key, mut value) = (Cell::unknown(NIL), Cell::tainted(table.taint));
        for object in &table.objects {
            self.read_parts(*object, std::slice::from_ref(part), &mut value);
            for node in self.cells_of(*object) {
                let inside = self.read(node);
                key.taint.add(&self.scalar(&inside));
            }
            let is_table = matches!(self.get(*object).kind, ObjectKind::Table(..));
            if *part == KeyPart::Number {
                key.add_value(&Cell::unknown(NUMBER));
            } else if is_table {
                self.names_of(*object, &mut key);
            } else {
                key.add_value(&Cell::unknown(ANY));
            }
        }
        if table.unknown != 0 || !table.constants.is_empty() {
            key.add_value(&Cell::unknown(ANY));
        }
        key.taint.add(&self.scalar(table));
        key.taint.add(&value.taint);
        value.taint.add(&key.taint);
        (key, value)
    }

    /// The keys of a table of the plan, as far as they are known.
    fn names_of(&mut self, object: ObjectId, key: &mut Cell) {
        let data = self.get(object);
        let (items, unknown, keys) = (data.items, data.unknown, data.keys);
        let fields: Vec<(Key, Node)> = data.fields.iter().map(|(key, node)| (key.clone(), *node)).collect();
        for (name, node) in fields {
            if self.read(node) == Cell::default() {
                continue;
            }
            key.add_value(&match name {
                Key::Int(_) => Cell::unknown(NUMBER),
                Key::Text(text) => Cell::constant(Constant::Text(text)),
            });
        }
        if self.read(items) != Cell::default() {
            key.add_value(&Cell::unknown(NUMBER));
        }
        if self.read(unknown) != Cell::default() {
            key.add_value(&self.read(keys));
        }
    }

    /// Everything under number keys.
    pub(super) fn items_of(&mut self, table: &Cell) -> Cell {
        let mut all = Cell::tainted(table.taint);
        for object in &table.objects {
            self.read_parts(*object, &[KeyPart::Number], &mut all);
        }
        self.inherited(&table.objects, &[KeyPart::Number], &mut all, 0);
        let taint = self.scalar(&all);
        all.taint.add(&taint);
        all
    }

    pub(super) fn change_items(&mut self, table: &Cell, mut value: Cell, at: At) {
        value.taint.add(&self.items_of(table).taint);
        value.taint.add(&self.scalar(table));
        value.taint.add(&self.decides(at));
        for object in &table.objects {
            self.store_into(*object, &[KeyPart::Number], &value);
        }
        self.raise_unless_table(at, table);
        self.metamethods(&table.objects, &[table.clone(), value], 77, at);
    }

    pub(super) fn rearrange(&mut self, name: &str, want: &Want) {
        let table = self.cell(want, 0);
        let mut all = self.items_of(&table);
        if name == "table.sort" {
            let (deep, _) = self.deep(&all);
            all.taint.add(&deep);
            let (argument, result) = (self.helper(want.part(6)), self.helper(want.part(7)));
            self.add(argument, &all);
            if let Some(comparator) = want.argument(1) {
                let inner = Want {
                    fixed: vec![argument, argument],
                    rest: None,
                    results: vec![result],
                    more: None,
                    before: want.at.stop,
                    factor: Factor::Unbounded,
                    tag: want.part(8),
                    ..want.clone()
                };
                self.call(comparator, &inner);
            }
            let compared = self.read(result);
            all.taint.add(&self.scalar(&compared));
            self.metamethods(&all.objects.clone(), &[all.clone()], want.part(9), want.at);
            self.may_raise(want.at, &all.taint);
        } else {
            let place = self.cell(want, 1);
            all.taint.add(&self.scalar(&place));
            self.may_raise(want.at, &place.taint);
            self.give(want, 0, &all);
        }
        self.change_items(&table, all, want.at);
    }
}
