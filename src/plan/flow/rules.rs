//! What each rule does when it runs. Rules only add, so their order does not change the result.

use std::rc::Rc;

use super::program::Operator;
use super::solver::Solver;
use super::state::{At, Key, Node, ObjectId, Rule, Want};
use super::value::{BOOL, Cell, Constant, NIL, NULL, NUMBER, TEXT, Taint, concat};

/// A key as far as it is known.
#[derive(Clone, PartialEq)]
pub(super) enum KeyPart {
    Known(Key),
    Number,
    Any,
}

pub(super) fn key_parts(key: &Cell) -> Vec<KeyPart> {
    let mut parts: Vec<KeyPart> = key
        .known()
        .map(|constant| match constant {
            Constant::Int(number) => KeyPart::Known(Key::Int(*number)),
            Constant::Text(text) => KeyPart::Known(Key::Text(text.clone())),
            Constant::Float(_) => KeyPart::Number,
            Constant::Bool(_) | Constant::Begins(_) => KeyPart::Any,
        })
        .collect();
    if key.unknown & (TEXT | BOOL | NULL) != 0 || !key.objects.is_empty() {
        parts.push(KeyPart::Any);
    } else if key.unknown & NUMBER != 0 {
        parts.push(KeyPart::Number);
    }
    parts
}

impl Solver<'_> {
    pub(super) fn run(&mut self, rule: &Rule) {
        match rule {
            Rule::Flow { from, to } => {
                let cell = self.read(*from);
                self.add(*to, &cell);
            }
            Rule::Taint { from, to } => {
                let cell = self.read(*from);
                let taint = self.scalar(&cell);
                self.add_taint(*to, &taint);
            }
            Rule::Write { value, to, at } => {
                let mut cell = self.read(*value);
                cell.taint.add(&self.decides(*at));
                self.add(*to, &cell);
            }
            Rule::Index { base, key, to, at } => {
                let (base, key) = (self.read(*base), self.read(*key));
                let found = self.index(&base, &key, *at);
                self.add(*to, &found);
            }
            Rule::Store { base, key, value, at } => {
                let (base, key, value) = (self.read(*base), self.read(*key), self.read(*value));
                self.store(&base, &key, value, *at);
            }
            Rule::Operation { operator, operands, to, at } => self.operate(*operator, operands, *to, *at),
            Rule::Choose { first, second, keeps_true, to } => {
                let (first, mut cell) = (self.read(*first), self.read(*second));
                cell.taint.add(&self.scalar(&first));
                if *keeps_true {
                    let truthy = Cell { unknown: first.unknown & !NIL, ..first };
                    cell.add_value(&truthy);
                } else {
                    cell.add_value(&Cell::unknown(NIL | BOOL));
                }
                self.add(*to, &cell);
            }
            Rule::Counter { limits, to, at } => {
                let mut cell = Cell::unknown(NUMBER);
                let mut sure = true;
                for limit in limits {
                    let limit = self.read(*limit);
                    cell.taint.add(&self.scalar(&limit));
                    sure &= only(&limit, NUMBER);
                }
                if !sure {
                    self.may_raise(*at, &cell.taint);
                }
                self.add(*to, &cell);
            }
            Rule::Iterate { iterator, state, first, results, decides, before, at } => {
                let want = Want {
                    fixed: vec![*state, *first],
                    results: results.clone(),
                    ..Want::once(*at, *before)
                };
                // The control variable is passed as the second argument.
                let variable = self.read(results[0]);
                self.add(*first, &variable);
                self.call(*iterator, &want);
                let (state, variable) = (self.read(*state), self.read(results[0]));
                let mut taint = self.scalar(&state);
                taint.add(&self.scalar(&variable));
                self.add_taint(*decides, &taint);
            }
            Rule::Close { value, at } => {
                let value = self.read(*value);
                self.metamethods(&value.objects.clone(), &[value], 0, *at);
            }
            Rule::Call { place, callee, arguments, rest, results, more, before, at } => {
                let want = Want {
                    place: *place,
                    fixed: arguments.clone(),
                    rest: *rest,
                    results: results.clone(),
                    more: *more,
                    ..Want::once(*at, *before)
                };
                self.call(*callee, &want);
            }
        }
    }

    /// What decides whether something at `at` happens, and when.
    pub(super) fn decides(&mut self, at: At) -> Taint {
        let mut taint = self.read(at.control).taint;
        if self.is_guarded(at.frame) {
            taint.add(&self.read(at.stop).taint);
        }
        if self.is_beside(at.frame) {
            let timing = self.timing;
            taint.add(&self.read(timing).taint);
        }
        taint
    }

    fn operate(&mut self, operator: Operator, operands: &[Node], to: Node, at: At) {
        let cells: Vec<Cell> = operands.iter().map(|operand| self.read(*operand)).collect();
        let mut taint = Taint::NONE;
        let mut objects: Vec<ObjectId> = Vec::new();
        for cell in &cells {
            taint.add(&self.scalar(cell));
            objects.extend(&cell.objects);
        }
        let all = |kinds: u8| cells.iter().all(|cell| only(cell, kinds));
        let (mut result, safe) = match operator {
            Operator::Add | Operator::Sub | Operator::Mul | Operator::Number | Operator::Negate => {
                (arithmetic(operator, &cells), all(NUMBER))
            }
            Operator::Concat => {
                let (left, right) = (&cells[0], &cells[1]);
                (concat(left, right, !left.objects.is_empty()), all(NUMBER | TEXT))
            }
            Operator::Compare => (Cell::unknown(BOOL), all(NUMBER) || all(TEXT)),
            Operator::Equal => (Cell::unknown(BOOL), cells.iter().any(|cell| cell.objects.is_empty())),
            Operator::Not => (Cell::unknown(BOOL), true),
            Operator::Length => {
                let lengths: Vec<Node> = objects.iter().flat_map(|object| self.cells_of(*object)).collect();
                for node in lengths {
                    let inside = self.read(node);
                    taint.add(&self.scalar(&inside));
                }
                let tables = cells.iter().all(|cell| {
                    only(cell, TEXT)
                        || cell.unknown == 0 && cell.objects.iter().all(|one| self.is_plain_table(*one))
                });
                (Cell::unknown(NUMBER), tables)
            }
        };
        result.taint.add(&taint);
        if !safe {
            self.may_raise(at, &taint);
        }
        if operator != Operator::Not {
            let of_metatables = self.metamethods(&objects, &cells, 1, at);
            result.add(&of_metatables);
        }
        self.add(to, &result);
    }

    /// A text name as a key.
    pub(super) fn text_key(text: &str) -> KeyPart {
        KeyPart::Known(Key::Text(Rc::from(text)))
    }
}

/// Whether the value is surely of these kinds.
pub(super) fn only(cell: &Cell, kinds: u8) -> bool {
    let constants = cell.constants.iter().all(|constant| match constant {
        Constant::Int(_) | Constant::Float(_) => kinds & NUMBER != 0,
        Constant::Text(_) | Constant::Begins(_) => kinds & TEXT != 0,
        Constant::Bool(_) => kinds & BOOL != 0,
    });
    constants && cell.unknown & !kinds == 0 && cell.objects.is_empty()
}

fn arithmetic(operator: Operator, cells: &[Cell]) -> Cell {
    let integers = |cell: &Cell| -> Option<Vec<i64>> {
        let plain = cell.unknown & (NUMBER | TEXT) == 0 && cell.objects.is_empty();
        let numbers = cell.constants.iter().map(|constant| match constant {
            Constant::Int(number) => Some(*number),
            _ => None,
        });
        if plain { numbers.collect() } else { None }
    };
    let unknown = Cell::unknown(NUMBER);
    let Some(left) = cells.first().and_then(integers) else { return unknown };
    let mut result = Cell::default();
    if operator == Operator::Negate {
        left.iter().for_each(|number| {
            result.add_value(&Cell::constant(Constant::Int(number.wrapping_neg())));
        });
        return result;
    }
    let Some(right) = cells.get(1).and_then(integers) else { return unknown };
    for one in &left {
        for other in &right {
            let number = match operator {
                Operator::Add => one.wrapping_add(*other),
                Operator::Sub => one.wrapping_sub(*other),
                Operator::Mul => one.wrapping_mul(*other),
                _ => return unknown,
            };
            result.add_value(&Cell::constant(Constant::Int(number)));
        }
    }
    result
}
