//! Expressions: each becomes a node, with the rules that fill it.

use super::build::Builder;
use super::program::{Call, Expr, Literal, Operator, Table};
use super::state::{Key, Node, ObjectKind, Rule};
use super::value::{Cell, Constant, NIL};

impl Builder<'_, '_> {
    /// Exactly `count` values of a list of expressions.
    pub(super) fn values(&mut self, expressions: &[Expr], count: usize) -> Vec<Node> {
        let (mut fixed, more) = self.list(expressions);
        while fixed.len() < count {
            let filler = match more {
                Some(more) => more,
                None => self.constant(&Cell::unknown(NIL)),
            };
            fixed.push(filler);
        }
        fixed
    }

    /// The values of a list of expressions, and a node for any further values.
    pub(super) fn list(&mut self, expressions: &[Expr]) -> (Vec<Node>, Option<Node>) {
        let Some((last, others)) = expressions.split_last() else { return (Vec::new(), None) };
        let mut fixed: Vec<Node> = others.iter().map(|one| self.expression(one)).collect();
        match last {
            Expr::Call(call) => {
                let results =
                    [self.solver.node(), self.solver.node(), self.solver.node(), self.solver.node()];
                let more = self.solver.node();
                self.call(call, results.to_vec(), Some(more));
                fixed.extend(results);
                (fixed, Some(more))
            }
            Expr::Varargs => {
                let varargs = self.solver.frames[self.frame as usize].varargs;
                (fixed, Some(varargs))
            }
            last => {
                fixed.push(self.expression(last));
                (fixed, None)
            }
        }
    }

    fn call(&mut self, call: &Call, results: Vec<Node>, more: Option<Node>) {
        let mut callee = self.expression(&call.callee);
        let mut arguments = Vec::new();
        if let Some(method) = &call.method {
            arguments.push(callee);
            let key = self.constant(&Cell::constant(Constant::Text(method.clone())));
            callee = self.index(callee, key);
        }
        let (fixed, rest) = self.list(&call.arguments);
        arguments.extend(fixed);
        let before = self.stop;
        self.stop = self.joined(&[before]);
        let at = self.at();
        let place = call.place;
        self.solver.rule(Rule::Call { place, callee, arguments, rest, results, more, before, at });
    }

    fn index(&mut self, base: Node, key: Node) -> Node {
        let (to, at) = (self.solver.node(), self.at());
        self.solver.rule(Rule::Index { base, key, to, at });
        to
    }

    pub(super) fn expression(&mut self, expression: &Expr) -> Node {
        match expression {
            Expr::Literal(literal) => self.constant(&Cell::literal(literal)),
            Expr::Varargs => self.solver.frames[self.frame as usize].varargs,
            Expr::Function(function) => {
                let closure = self.solver.object(ObjectKind::Closure(*function, self.frame));
                self.constant(&Cell::object(closure))
            }
            Expr::Var(variable) => self.solver.variable(self.frame, *variable),
            Expr::Global(name) => {
                let globals = self.solver.object(ObjectKind::Globals);
                let base = self.constant(&Cell::object(globals));
                if matches!(&**name, "_G" | "_ENV") {
                    return base;
                }
                let key = self.constant(&Cell::constant(Constant::Text(name.clone())));
                self.index(base, key)
            }
            Expr::Index(base, key) => {
                let base = self.expression(base);
                let key = self.expression(key);
                self.index(base, key)
            }
            Expr::Call(call) => {
                let result = self.solver.node();
                self.call(call, vec![result], None);
                result
            }
            Expr::And(first, second) | Expr::Or(first, second) => {
                let keeps_true = matches!(expression, Expr::Or(..));
                let first = self.expression(first);
                let outside = self.control;
                self.control = self.joined(&[outside, first]);
                let second = self.expression(second);
                self.control = outside;
                let to = self.solver.node();
                self.solver.rule(Rule::Choose { first, second, keeps_true, to });
                to
            }
            Expr::Operation(operator, operands) => self.operation(*operator, operands),
            Expr::Table(table) => self.table(table),
            Expr::One(inner) => self.expression(inner),
        }
    }

    fn operation(&mut self, operator: Operator, operands: &[Expr]) -> Node {
        let operands: Vec<Node> = operands.iter().map(|operand| self.expression(operand)).collect();
        let (to, at) = (self.solver.node(), self.at());
        self.solver.rule(Rule::Operation { operator, operands, to, at });
        to
    }

    fn table(&mut self, table: &Table) -> Node {
        let object = self.solver.new_table();
        let (items, more) = self.list(&table.items);
        for (place, value) in items.iter().enumerate() {
            let key = Key::Int(i64::try_from(place + 1).unwrap_or(i64::MAX));
            let to = self.solver.field(object, &key);
            self.solver.rule(Rule::Flow { from: *value, to });
        }
        if let Some(more) = more {
            let to = self.solver.get(object).items;
            self.solver.rule(Rule::Flow { from: more, to });
            self.solver.objects[object as usize].fixed = false;
        }
        let made = self.constant(&Cell::object(object));
        for (key, value) in &table.fields {
            if let Expr::Literal(Literal::Text(name)) = key {
                let from = self.expression(value);
                let to = self.solver.field(object, &Key::Text(name.clone()));
                self.solver.rule(Rule::Flow { from, to });
            } else {
                let key = self.expression(key);
                let value = self.expression(value);
                let at = self.at();
                self.solver.rule(Rule::Store { base: made, key, value, at });
            }
        }
        made
    }
}
