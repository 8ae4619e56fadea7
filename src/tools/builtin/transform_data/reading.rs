//! What a template reads, against what its data have: filters, tests and keys that are not there.
//!
//! A key counts as looked for, and not as read, where the template itself asks: `default`, a test, a condition, and all
//! that stands behind a condition that names it.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::Span;
use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind};

use luaplan_base::nearest;

use super::data_shape::DataShape;
use super::filters;

/// Names that a help lists.
const SHOWN_MAX: usize = 12;

/// Filters that give the list again, or a part of it.
const SAME_LIST: [&str; 8] =
    ["sort", "reverse", "unique", "list", "select", "reject", "selectattr", "rejectattr"];
/// Filters that give one item of a list.
const ONE_ITEM: [&str; 4] = ["first", "last", "min", "max"];
/// Filters whose `attribute` names a key of the items.
const BY_ATTRIBUTE: [&str; 8] = ["sum", "sort", "groupby", "unique", "join", "min", "max", "map"];
/// Those of them that may take it by its place, and those where the first argument is always a key.
const ATTRIBUTE_FIRST: [&str; 3] = ["groupby", "selectattr", "rejectattr"];
/// Filters that take a single value, and no list or table.
const OF_ONE_VALUE: [&str; 4] = ["number", "date", "round", "abs"];
/// Filters that give a text or a number.
const PLAIN: [&str; 16] = [
    "number",
    "date",
    "truncate",
    "upper",
    "lower",
    "title",
    "capitalize",
    "trim",
    "length",
    "count",
    "join",
    "replace",
    "round",
    "tojson",
    "urlencode",
    "format",
];

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
enum Use {
    /// It has to be there.
    Read,
    /// The template asks whether it is.
    Asked,
}

struct Reader<'s> {
    source: &'s str,
    scopes: Vec<BTreeMap<String, DataShape>>,
    /// Whether the data may have any name.
    is_open: bool,
    /// Paths that conditions around name.
    tolerated: Vec<BTreeSet<String>>,
    /// How many branches of conditions are around.
    conditions: usize,
    slips: Vec<Slip>,
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
    fn value(&mut self, expression: &Expr<'_>, used: Use) -> DataShape {
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

    fn arguments(&mut self, arguments: &[CallArg<'_>]) {
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

    fn filter(&mut self, expression: &Expr<'_>, used: Use) -> DataShape {
        let Expr::Filter(node) = expression else { return DataShape::Any };
        let Some(inner) = &node.expr else { return DataShape::Any };
        self.known(filters::names(), node.name, "filter", expression.span(), inner.span());
        let asks = matches!(node.name, "default" | "d");
        let shape = self.value(inner, if asks { Use::Asked } else { Use::Read });
        self.arguments(&node.args);
        let is_several = matches!(shape, DataShape::List(_) | DataShape::Record(_));
        if is_several && OF_ONE_VALUE.contains(&node.name) {
            let message = format!("the filter `{}` is given a list or a table", node.name);
            let help =
                "apply it to one value: inside a loop, or behind `min`, `max`, `sum`, `first`".to_owned();
            let offset = self.name_offset(node.name, expression.span(), inner.span());
            let is_sure = self.conditions == 0;
            self.slips.push(Slip { offset, message, help, is_sure });
            return DataShape::Any;
        }
        let member = self.attribute(node.name, &node.args, &shape);
        let list = |item: DataShape| DataShape::List(Box::new(item));
        match (node.name, &shape) {
            ("default" | "d", _) if used == Use::Asked => DataShape::Any,
            ("groupby", DataShape::List(item)) => list(DataShape::Group(item.clone())),
            ("batch" | "slice", DataShape::List(_)) => list(shape),
            ("map", DataShape::List(_)) => list(member.unwrap_or(DataShape::Any)),
            (name, DataShape::List(_)) if SAME_LIST.contains(&name) => shape,
            (name, DataShape::List(item)) if ONE_ITEM.contains(&name) => (**item).clone(),
            (name, _) if PLAIN.contains(&name) => DataShape::Plain,
            _ => DataShape::Any,
        }
    }

    /// The shape of the key of the items that a filter names; what it names may also be a filter or a test.
    fn attribute(&mut self, filter: &str, arguments: &[CallArg<'_>], shape: &DataShape) -> Option<DataShape> {
        let constant = |argument: &Expr<'_>| match argument {
            Expr::Const(text) => Some((text.value.as_str()?.to_owned(), argument.span())),
            _ => None,
        };
        let mut places = arguments.iter().filter_map(|argument| match argument {
            CallArg::Pos(value) => Some(value),
            _ => None,
        });
        let (first, second) = (places.next().and_then(constant), places.next().and_then(constant));
        let named = arguments.iter().find_map(|argument| match argument {
            CallArg::Kwarg("attribute", value) => constant(value),
            _ => None,
        });
        let test = match filter {
            "select" | "reject" => first.clone(),
            "selectattr" | "rejectattr" => second,
            _ => None,
        };
        if let Some((name, span)) = test {
            self.known_at(filters::tests(), &name, "test", span.start_offset as usize + 1);
        }
        if let ("map", Some((name, span))) = (filter, &first) {
            self.known_at(filters::names(), name, "filter", span.start_offset as usize + 1);
        }
        let by_place = first.filter(|_| ATTRIBUTE_FIRST.contains(&filter));
        let (name, span) = named.filter(|_| BY_ATTRIBUTE.contains(&filter)).or(by_place)?;
        let DataShape::List(item) = shape else { return None };
        let DataShape::Record(members) = &**item else { return None };
        if let Some(shape) = members.get(&name) {
            return Some(shape.clone());
        }
        // A path into the items, or several keys.
        if !name.contains(['.', ',']) {
            let known: BTreeSet<String> = members.keys().cloned().collect();
            let help = match nearest(&name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", listed(&known)),
            };
            let is_sure = self.conditions == 0;
            let message = format!("the items have no `{name}`");
            self.slips.push(Slip { offset: span.start_offset as usize + 1, message, help, is_sure });
        }
        None
    }

    fn known(
        &mut self,
        names: impl Iterator<Item = &'static str>,
        name: &str,
        kind: &str,
        whole: Span,
        before: Span,
    ) {
        let offset = self.name_offset(name, whole, before);
        self.known_at(names, name, kind, offset);
    }

    /// A filter or test that is not there is never right, whatever the data are.
    fn known_at(&mut self, names: impl Iterator<Item = &'static str>, name: &str, kind: &str, offset: usize) {
        let names: Vec<&str> = names.collect();
        if names.contains(&name) {
            return;
        }
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if kind == "filter" => format!("among the filters are {}", filters::SHOWN.join(", ")),
            None => format!("the {kind}s are {}", names.join(", ")),
        };
        let message = format!("there is no {kind} `{name}`");
        self.slips.push(Slip { offset, message, help, is_sure: true });
    }

    /// Where the name of a filter or test stands: behind the value that it is applied to.
    fn name_offset(&self, name: &str, whole: Span, before: Span) -> usize {
        let start = before.end_offset as usize;
        let behind = self.source.get(start..whole.end_offset as usize).unwrap_or_default();
        start + behind.find(name).unwrap_or_default()
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN_MAX { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A variable and keys of it as written, `a.b.c`.
fn path(expression: &Expr<'_>) -> Option<String> {
    match expression {
        Expr::Var(node) => Some(node.id.to_owned()),
        Expr::GetAttr(node) => Some(format!("{}.{}", path(&node.expr)?, node.name)),
        Expr::GetItem(node) => match &node.subscript_expr {
            Expr::Const(key) => Some(format!("{}.{}", path(&node.expr)?, key.value.as_str()?)),
            _ => None,
        },
        _ => None,
    }
}

/// Every path inside a condition.
fn paths(expression: &Expr<'_>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = path(expression).into_iter().collect();
    let mut add = |part: &Expr<'_>| found.extend(paths(part));
    match expression {
        Expr::GetAttr(node) => add(&node.expr),
        Expr::GetItem(node) => add(&node.expr),
        Expr::UnaryOp(node) => add(&node.expr),
        Expr::BinOp(node) => {
            add(&node.left);
            add(&node.right);
        }
        Expr::Compare(node) => {
            add(&node.expr);
            node.ops.iter().for_each(|part| add(&part.expr));
        }
        Expr::Filter(node) => node.expr.iter().for_each(add),
        Expr::Test(node) => add(&node.expr),
        _ => {}
    }
    found
}
