//! The filters and tests that a template applies: whether they are there, what they are given, and what they give.

use std::collections::BTreeSet;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{CallArg, Expr};

use luaplan_base::nearest;

use super::data_shape::DataShape;
use super::filters;
use super::reading::{Reader, Slip, Use, listed};

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

impl Reader<'_> {
    pub(super) fn filter(&mut self, expression: &Expr<'_>, used: Use) -> DataShape {
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

    pub(super) fn known(
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
