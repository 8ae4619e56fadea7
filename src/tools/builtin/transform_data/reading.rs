//! What a template reads, against what its data have: filters, tests and keys that are not there.
//!
//! A key counts as looked for, and not as read, where the template itself asks: `default`, a test, a condition, and all
//! that stands behind a condition that names it.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind};

use luaplan_base::nearest;

use super::data_shape::DataShape;
use super::filters;
use super::paths::{path, paths};

/// Something in a template that is not there.
#[derive(Debug)]
pub(super) struct Slip {
    /// The byte of the template.
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) help: String,
    /// Whether every filling comes to it, or what stands there is never right.
    pub(super) is_sure: bool,
}

/// Everything in a template that is not there.
pub(super) fn slips(tree: &Stmt<'_>, source: &str, data: &DataShape) -> Vec<Slip> {
    let mut reader = Reader {
        source,
        scopes: vec![top_scope(data)],
        is_open: *data == DataShape::Any,
        tolerated: Vec::new(),
        conditions: 0,
        slips: Vec::new(),
    };
    reader.statement(tree);
    reader.slips
}

/// The variables of a template, as [`super::input::variables`] makes them.
fn top_scope(data: &DataShape) -> BTreeMap<String, DataShape> {
    let mut scope = match data {
        DataShape::Record(members) => members.clone(),
        DataShape::List(_) => {
            BTreeMap::from([("rows".to_owned(), data.clone()), ("items".to_owned(), data.clone())])
        }
        _ => BTreeMap::new(),
    };
    scope.insert("input".to_owned(), data.clone());
    scope
}

/// How a value is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It has to be there.
    Read,
    /// The template asks whether it is.
    Asked,
}

pub(super) struct Reader<'s> {
    pub(super) source: &'s str,
    scopes: Vec<BTreeMap<String, DataShape>>,
    /// Whether the data may have any name.
    is_open: bool,
    /// Paths that conditions around name.
    tolerated: Vec<BTreeSet<String>>,
    /// How many branches of conditions are around.
    pub(super) conditions: usize,
    pub(super) slips: Vec<Slip>,
}

impl Reader<'_> {
    fn statements(&mut self, statements: &[Stmt<'_>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::Template(node) => self.statements(&node.children),
            Stmt::EmitExpr(node) => _ = self.value(&node.expr, Use::Read),
            Stmt::ForLoop(node) => {
                let item = self.value(&node.iter, Use::Read).item();
                self.scopes.push(BTreeMap::from([("loop".to_owned(), DataShape::Any)]));
                self.bind(&node.target, item);
                if let Some(filter) = &node.filter_expr {
                    self.value(filter, Use::Asked);
                    self.tolerated.push(paths(filter));
                }
                self.statements(&node.body);
                if node.filter_expr.is_some() {
                    self.tolerated.pop();
                }
                self.scopes.pop();
                self.statements(&node.else_body);
            }
            Stmt::IfCond(node) => {
                self.value(&node.expr, Use::Asked);
                self.behind(&node.expr, |reader| {
                    reader.statements(&node.true_body);
                    reader.statements(&node.false_body);
                });
            }
            Stmt::WithBlock(node) => {
                self.scopes.push(BTreeMap::new());
                for (target, value) in &node.assignments {
                    let shape = self.value(value, Use::Read);
                    self.bind(target, shape);
                }
                self.statements(&node.body);
                self.scopes.pop();
            }
            Stmt::Set(node) => {
                self.value(&node.expr, Use::Read);
                // In a loop or a branch it may have its former value.
                self.bind(&node.target, DataShape::Any);
            }
            // The others have nothing to read, or are refused before.
            _ => {}
        }
    }

    /// Gives the names of a target their shapes.
    fn bind(&mut self, target: &Expr<'_>, shape: DataShape) {
        let parts = match target {
            Expr::Var(name) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(name.id.to_owned(), shape);
                }
                return;
            }
            Expr::List(node) => &node.items,
            Expr::Tuple(node) => &node.items,
            _ => return,
        };
        let of_group = match shape {
            DataShape::Group(item) => Some(DataShape::List(item)),
            _ => None,
        };
        for (place, part) in parts.iter().enumerate() {
            let shape = of_group.clone().filter(|_| place == 1 && parts.len() == 2);
            self.bind(part, shape.unwrap_or(DataShape::Any));
        }
    }

    /// Looks at what only some fillings come to, where the condition names paths.
    fn behind(&mut self, condition: &Expr<'_>, look: impl FnOnce(&mut Self)) {
        self.tolerated.push(paths(condition));
        self.conditions += 1;
        look(self);
        self.conditions -= 1;
        self.tolerated.pop();
    }

    /// The shape of a value, after a look at all that it reads.
    pub(super) fn value(&mut self, expression: &Expr<'_>, used: Use) -> DataShape {
        match expression {
            Expr::Var(node) => self.variable(expression, node.id, used),
            Expr::Const(_) => DataShape::Plain,
            Expr::GetAttr(node) => {
                let owner = self.value(&node.expr, Use::Read);
                let end = expression.span().end_offset as usize;
                self.key(expression, &owner, node.name, end.saturating_sub(node.name.len()), used)
            }
            Expr::GetItem(node) => {
                let owner = self.value(&node.expr, Use::Read);
                let key = match &node.subscript_expr {
                    Expr::Const(key) => key.value.as_str().map(str::to_owned),
                    other => {
                        self.value(other, Use::Read);
                        None
                    }
                };
                match (key, &owner) {
                    (Some(key), _) => {
                        let offset = node.subscript_expr.span().start_offset as usize + 1;
                        self.key(expression, &owner, &key, offset, used)
                    }
                    (None, DataShape::List(item)) => (**item).clone(),
                    _ => DataShape::Any,
                }
            }
            Expr::Slice(node) => {
                for part in [&node.start, &node.stop, &node.step].into_iter().flatten() {
                    self.value(part, Use::Read);
                }
                self.value(&node.expr, Use::Read)
            }
            Expr::UnaryOp(node) => {
                let is_question = matches!(node.op, UnaryOpKind::Not);
                self.value(&node.expr, if is_question { Use::Asked } else { Use::Read });
                DataShape::Plain
            }
            Expr::BinOp(node) => {
                let is_choice = matches!(node.op, BinOpKind::ScAnd | BinOpKind::ScOr);
                let left_used = if is_choice { Use::Asked } else { Use::Read };
                let left = self.value(&node.left, left_used);
                if !is_choice {
                    self.value(&node.right, Use::Read);
                    return DataShape::Plain;
                }
                let mut right = DataShape::Any;
                self.behind(&node.left, |reader| right = reader.value(&node.right, used));
                left.or(right)
            }
            Expr::Compare(node) => {
                self.value(&node.expr, Use::Read);
                for part in &node.ops {
                    self.value(&part.expr, Use::Read);
                }
                DataShape::Plain
            }
            Expr::IfExpr(node) => {
                self.value(&node.test_expr, Use::Asked);
                let mut shape = DataShape::Any;
                self.behind(&node.test_expr, |reader| {
                    let whole = reader.value(&node.true_expr, used);
                    let other = node.false_expr.as_ref().map(|other| reader.value(other, used));
                    shape = other.map_or(DataShape::Any, |other| whole.or(other));
                });
                shape
            }
            Expr::Filter(_) => self.filter(expression, used),
            Expr::Test(node) => {
                self.known(filters::tests(), node.name, "test", expression.span(), node.expr.span());
                self.value(&node.expr, Use::Asked);
                self.arguments(&node.args);
                DataShape::Plain
            }
            Expr::Call(node) => {
                self.arguments(&node.args);
                DataShape::Any
            }
            Expr::List(node) => self.list(&node.items),
            Expr::Tuple(node) => self.list(&node.items),
            Expr::Map(node) => {
                for part in node.keys.iter().chain(&node.values) {
                    self.value(part, Use::Read);
                }
                DataShape::Any
            }
        }
    }

    fn list(&mut self, items: &[Expr<'_>]) -> DataShape {
        for item in items {
            self.value(item, Use::Read);
        }
        DataShape::List(Box::new(DataShape::Any))
    }

    pub(super) fn arguments(&mut self, arguments: &[CallArg<'_>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(value) | CallArg::Kwarg(_, value) => _ = self.value(value, Use::Read),
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {}
            }
        }
    }

    fn variable(&mut self, expression: &Expr<'_>, name: &str, used: Use) -> DataShape {
        if let Some(shape) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            return shape.clone();
        }
        if !self.is_open {
            let known: BTreeSet<String> = self.scopes.iter().flat_map(BTreeMap::keys).cloned().collect();
            let offset = expression.span().start_offset as usize;
            self.missing(expression, "the data have", name, &known, offset, used);
        }
        DataShape::Any
    }

    /// A member of a value.
    fn key(
        &mut self,
        whole: &Expr<'_>,
        owner: &DataShape,
        name: &str,
        offset: usize,
        used: Use,
    ) -> DataShape {
        let known: BTreeSet<String> = match owner {
            DataShape::Record(members) => match members.get(name) {
                Some(shape) => return shape.clone(),
                None => members.keys().cloned().collect(),
            },
            DataShape::Group(item) if name == "list" => return DataShape::List(item.clone()),
            DataShape::List(_) | DataShape::Plain => BTreeSet::new(),
            DataShape::Any | DataShape::Group(_) => return DataShape::Any,
        };
        let what = match (owner, path(whole).as_deref().and_then(|path| path.rsplit_once('.'))) {
            (DataShape::List(_), _) => "a list has".to_owned(),
            (DataShape::Plain, _) => "a single value has".to_owned(),
            (_, Some((owner, _))) => format!("`{owner}` has"),
            (_, None) => "this part of the data has".to_owned(),
        };
        self.missing(whole, &what, name, &known, offset, used);
        DataShape::Any
    }

    fn missing(
        &mut self,
        whole: &Expr<'_>,
        what: &str,
        name: &str,
        known: &BTreeSet<String>,
        offset: usize,
        used: Use,
    ) {
        let is_tolerated =
            path(whole).is_some_and(|path| self.tolerated.iter().any(|paths| paths.contains(&path)));
        let near = nearest(name, known.iter().map(String::as_str));
        if is_tolerated || used == Use::Asked && near.is_none() {
            return;
        }
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "go over its items, or use the value itself".to_owned(),
            None => format!("there are {}", listed(known)),
        };
        let is_sure = self.conditions == 0 && used == Use::Read;
        self.slips.push(Slip { offset, message: format!("{what} no `{name}`"), help, is_sure });
    }
}

/// Names that a help lists.
const SHOWN_MAX: usize = 12;

pub(super) fn listed(names: &BTreeSet<String>) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN_MAX { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}
