//! Lists as the plan library sees them: their elements, and the functions it calls for each.

use super::rules::KeyPart;
use super::solver::Solver;
use super::state::{At, Factor, Key, Node, ObjectId, ObjectKind, Want};
use super::value::{Cell, NUMBER, TEXT, Taint};

/// The tag of helpers that call functions of the plan repeatedly.
pub(super) const OFTEN: u32 = 90;

/// A list as the library's functions see it.
pub(super) struct Elements {
    /// Any of its elements.
    pub(super) cell: Cell,
    /// What decides how many there are.
    pub(super) length: Taint,
}

impl Solver<'_> {
    /// The elements of the list that is an argument.
    pub(super) fn elements(&mut self, want: &Want, place: usize) -> Elements {
        let list = self.cell(want, place);
        self.raise_unless_table(want.at, &list);
        self.elements_of(&list, want.part(OFTEN + 1), want.at)
    }

    pub(super) fn elements_of(&mut self, list: &Cell, tag: u32, at: At) -> Elements {
        let mut cell = Cell::tainted(list.taint);
        let mut length = self.scalar(list);
        for object in &list.objects {
            self.read_parts(*object, &[KeyPart::Number], &mut cell);
            for node in self.cells_of(*object) {
                let inside = self.read(node);
                length.add(&self.scalar(&inside));
            }
        }
        self.inherited(&list.objects, &[KeyPart::Number], &mut cell, 0);
        let made = self.metamethods(&list.objects, std::slice::from_ref(list), tag, at);
        length.add(&self.scalar(&made));
        cell.add(&made);
        Elements { cell, length }
    }

    /// A node that holds `element`, and one for what a function says about it.
    pub(super) fn element_nodes(&mut self, want: &Want, element: &Cell) -> (Node, Node) {
        let (node, answer) = (self.helper(want.part(OFTEN + 2)), self.helper(want.part(OFTEN + 3)));
        self.add(node, element);
        (node, answer)
    }

    pub(super) fn number_node(&mut self, want: &Want) -> Node {
        let node = self.helper(want.part(OFTEN + 4));
        self.add(node, &Cell::unknown(NUMBER));
        node
    }

    /// Calls a function for each element, one after another; `decides` says whether the next call is made.
    pub(super) fn call_each(
        &mut self,
        want: &Want,
        callee: Option<Node>,
        arguments: Vec<Node>,
        answer: Node,
        decides: &Taint,
        factor: Factor,
    ) {
        let Some(callee) = callee else { return };
        let control = self.helper(want.part(OFTEN + 5));
        let outside = self.read(want.at.control).taint;
        self.add_taint(control, &outside);
        self.add_taint(control, decides);
        let inner = Want {
            fixed: arguments,
            rest: None,
            results: vec![answer],
            more: None,
            // An error in one call keeps the next from being made.
            before: want.at.stop,
            at: At { control, ..want.at },
            factor,
            tag: want.part(OFTEN + 6),
            ..want.clone()
        };
        self.call(callee, &inner);
    }

    pub(super) fn is_callable(&self, object: ObjectId) -> bool {
        matches!(
            self.get(object).kind,
            ObjectKind::Closure(..)
                | ObjectKind::Tool(_)
                | ObjectKind::Builtin(_)
                | ObjectKind::Coroutine(_)
                | ObjectKind::Derived(_)
        )
    }

    /// What a key says about each element: a function's answer, or a member.
    pub(super) fn picked(&mut self, want: &Want, place: usize, list: &Elements) -> Cell {
        let key = self.cell(want, place);
        let (element, answer) = self.element_nodes(want, &list.cell);
        if key.objects.iter().any(|object| self.is_callable(*object)) {
            let numbers = self.number_node(want);
            self.call_each(
                want,
                want.argument(place),
                vec![element, numbers],
                answer,
                &list.length,
                often(want),
            );
        }
        let mut found = self.read(answer);
        let mut named = key.clone();
        named.objects.retain(|object| self.is_outside(*object));
        if named.unknown & (TEXT | NUMBER) != 0 || !named.constants.is_empty() || !named.objects.is_empty() {
            found.add(&self.member(&list.cell, &named, want.part(OFTEN + 7), want.at));
        }
        let taint = self.scalar(&key);
        found.taint.add(&taint);
        if key.unknown != 0 || !named.objects.is_empty() {
            self.may_raise(want.at, &taint);
        }
        found
    }

    /// What a test says: a function's answer, or whether members are equal.
    pub(super) fn tested(&mut self, want: &Want, list: &Elements, stops_early: bool) -> Taint {
        let test = self.cell(want, 1);
        let (element, answer) = self.element_nodes(want, &list.cell);
        let mut taint = self.scalar(&test);
        if test.objects.iter().any(|object| self.is_callable(*object)) {
            let mut decides = list.length;
            if stops_early {
                let said = self.read(answer);
                decides.add(&self.scalar(&said));
            }
            let numbers = self.number_node(want);
            self.call_each(want, want.argument(1), vec![element, numbers], answer, &decides, often(want));
        }
        let said = self.read(answer);
        taint.add(&self.scalar(&said));
        let tables: Vec<ObjectId> = (test.objects.iter().copied())
            .filter(|object| {
                matches!(self.get(*object).kind, ObjectKind::Table(..)) || self.is_outside(*object)
            })
            .collect();
        for table in tables {
            let shape = self.get(table).shape;
            self.read(shape);
            let data = self.get(table);
            let (items, unknown) = (data.items, data.unknown);
            let keys: Vec<Key> = data.fields.keys().cloned().collect();
            let mut open = self.is_outside(table);
            for node in [items, unknown] {
                open |= self.read(node) != Cell::default();
            }
            let parts: Vec<KeyPart> =
                if open { vec![KeyPart::Any] } else { keys.into_iter().map(KeyPart::Known).collect() };
            for part in parts {
                let mut wanted = Cell::default();
                self.read_parts(table, std::slice::from_ref(&part), &mut wanted);
                let mut seen = self.member_at(&list.cell, &[part], want.at);
                let base = list.cell.clone();
                let objects = base.objects.clone();
                seen.add(&self.metamethods(
                    &objects,
                    &[base, Cell::unknown(TEXT)],
                    want.part(OFTEN + 7),
                    want.at,
                ));
                taint.add(&self.scalar(&wanted));
                taint.add(&self.scalar(&seen));
                let objects: Vec<ObjectId> = wanted.objects.iter().chain(&seen.objects).copied().collect();
                let compared = self.metamethods(&objects, &[wanted, seen], want.part(OFTEN + 8), want.at);
                taint.add(&self.scalar(&compared));
            }
            let walked = self.metamethods(&[table], &[Cell::object(table)], want.part(OFTEN + 9), want.at);
            taint.add(&self.scalar(&walked));
        }
        if test.unknown != 0 || !test.constants.is_empty() {
            self.may_raise(want.at, &taint);
        }
        taint
    }

    /// A new list with these elements.
    pub(super) fn listed(&mut self, want: &Want, part: u32, element: &Cell) -> Cell {
        let made = self.object(ObjectKind::Table(self.now, 1 + want.part(OFTEN + 10 + part)));
        self.store_into(made, &[KeyPart::Number], element);
        Cell::object(made)
    }

    /// A new table with these values under keys of the run.
    pub(super) fn keyed(&mut self, want: &Want, value: &Cell, keys: &Cell) -> Cell {
        let made = self.object(ObjectKind::Table(self.now, 1 + want.part(OFTEN + 14)));
        self.store_under(made, &[KeyPart::Any], value, keys);
        Cell::object(made)
    }
}

/// Once for each element of the first argument.
pub(super) fn often(want: &Want) -> Factor {
    want.argument(0).map_or(Factor::Unbounded, Factor::Items)
}
