//! Turns the solved cells into the form that callers see.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use luaplan_catalog::Catalog;

use super::known::{Possible, possible};
use super::origin::{ContextPath, Origin, Slice, is_identifier};
use super::solver::Solver;
use super::state::{FrameId, Key, Node, ObjectId, ObjectKind, Source};
use super::value::{BOOL, Cell, Constant, NIL, NUMBER, TEXT, Taint};

/// The most parts of a table that are searched for leaves.
const PARTS_MAX: usize = 2_000;

/// One piece of an argument: the argument itself, or an entry of a table given as it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
pub enum Leaf {
    /// Exactly this text.
    Text(String),
    /// A text with this prefix.
    Begins(String),
    /// Exactly this number or truth value, as Lua writes it.
    Plain(String),
    /// Something from there.
    From(Origin),
    /// Something the plan computes.
    Computed,
}

/// One parameter of a call site.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// What has a part in it.
    pub slice: Slice,
    /// Everything it may consist of, entries of tables included, in no particular order.
    pub leaves: Vec<Leaf>,
    /// The leaves that it may be itself, without those in tables.
    pub own: Vec<Leaf>,
    /// Every value that it may have.
    pub possible: Vec<Possible>,
    /// The argument as short Lua text.
    pub shown: String,
}

/// A place of the source that calls a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSite {
    /// Its number in the order of the source, from 1.
    pub number: u32,
    /// The tool's name.
    pub tool: String,
    /// The line of the call, from 1; `None` where it may be anywhere.
    pub line: Option<u32>,
    /// The call's bytes in the source.
    pub span: (usize, usize),
    /// The most calls made from here in one run; `None` without a bound.
    pub calls_max: Option<u64>,
    /// What reaches each given parameter.
    pub arguments: BTreeMap<String, Argument>,
    /// What decides whether the call is made; it has no data of arguments.
    pub made: Slice,
}

/// What flows where in a plan.
#[derive(Debug, Clone)]
pub struct Flow {
    sites: Vec<CallSite>,
    result: Argument,
    gave_up: bool,
}

impl Flow {
    /// Every place that may call a tool, in the order of the source.
    #[must_use]
    pub fn call_sites(&self) -> &[CallSite] {
        &self.sites
    }

    /// What has a part in the argument `parameter` of a call site, the fact that the call is made
    /// included. `None` where there is no such site.
    #[must_use]
    pub fn slice(&self, site: u32, parameter: &str) -> Option<Slice> {
        let site = self.sites.iter().find(|known| known.number == site)?;
        let mut slice = site.made.clone();
        if let Some(argument) = site.arguments.get(parameter) {
            slice.data.clone_from(&argument.slice.data);
        }
        Some(slice)
    }

    /// What `run` returns.
    #[must_use]
    pub fn result(&self) -> &Argument {
        &self.result
    }

    /// Whether the analysis gave up: then any place may call every tool, with any arguments.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Everything that `origins` depend on, transitively: the arguments of the calls among them, and what
    /// decides about these calls.
    #[must_use]
    pub fn going_back(&self, origins: impl IntoIterator<Item = Origin>) -> BTreeSet<Origin> {
        let mut found: BTreeSet<Origin> = BTreeSet::new();
        let mut open: Vec<Origin> = origins.into_iter().collect();
        while let Some(origin) = open.pop() {
            if !found.insert(origin.clone()) {
                continue;
            }
            let Origin::Call(number) = origin else { continue };
            if let Some(site) = self.sites.iter().find(|site| site.number == number) {
                open.extend(site.made.control.iter().cloned());
                open.extend(site.arguments.values().flat_map(|argument| argument.slice.data.iter().cloned()));
            }
        }
        found
    }

    /// Every tool, called from any place with any arguments.
    pub(super) fn of_anything(catalog: &Catalog) -> Self {
        let all: BTreeSet<Origin> = [Origin::Anything].into();
        let slice = Slice { data: all.clone(), control: all.clone(), stops: all };
        let argument = Argument {
            slice: slice.clone(),
            leaves: vec![Leaf::From(Origin::Anything)],
            own: vec![Leaf::From(Origin::Anything)],
            possible: vec![Possible::Anything],
            shown: "anything".into(),
        };
        let sites = (1..)
            .zip(catalog.iter())
            .map(|(number, spec)| CallSite {
                number,
                tool: spec.name.clone(),
                line: None,
                span: (0, 0),
                calls_max: None,
                arguments: spec.parameters().map(|(name, _)| (name.to_owned(), argument.clone())).collect(),
                made: Slice { data: BTreeSet::new(), ..slice.clone() },
            })
            .collect();
        Self { sites, result: argument, gave_up: true }
    }
}

pub(super) fn extract(solver: &mut Solver<'_>, chunk: FrameId, result: Node, context: Node) -> Flow {
    let bounds = solver.bounds(&[chunk]);
    let mut order: Vec<usize> = (0..solver.sites.len()).collect();
    let span = |solver: &Solver<'_>, site: usize| {
        let place = solver.sites[site].place;
        solver.program.calls.get(place as usize).map(|place| place.span)
    };
    order.sort_by_key(|site| {
        let at = span(solver, *site).map_or((usize::MAX, 0), |(start, end)| (start, usize::MAX - end));
        (at, solver.sites[*site].tool.clone())
    });
    let numbers: Vec<u32> = {
        let mut numbers = vec![0; order.len()];
        for (number, site) in (1..).zip(&order) {
            numbers[*site] = number;
        }
        numbers
    };
    let mut extractor = Extractor { numbers };
    let mut sites = Vec::with_capacity(order.len());
    for site in order {
        let cells = &solver.sites[site];
        let (tool, control, stops) = (cells.tool.to_string(), cells.control, cells.stops);
        let line = solver.program.calls.get(cells.place as usize).map(|place| place.line);
        let parameters = cells.parameters.clone();
        let (control, stops) = (solver.peek(control).taint, solver.peek(stops).taint);
        let made = Slice {
            data: BTreeSet::new(),
            control: extractor.origins(solver, &control),
            stops: extractor.origins(solver, &stops),
        };
        let arguments = parameters
            .iter()
            .map(|(name, node)| (name.to_string(), extractor.argument(solver, &[*node], &made)))
            .collect();
        sites.push(CallSite {
            number: extractor.numbers[site],
            tool,
            line,
            span: span(solver, site).unwrap_or_default(),
            calls_max: bounds.get(site).copied().flatten(),
            arguments,
            made,
        });
    }
    let stops = solver.peek(solver.result_stops).taint;
    let mut made = Slice { stops: extractor.origins(solver, &stops), ..Slice::default() };
    // An error that the plan ignores fails the run at its end.
    made.stops.extend(sites.iter().map(|site| Origin::Call(site.number)));
    let returned = solver.peek(result);
    let mut nodes = vec![result];
    if returned.unknown & NIL != 0 || *returned == Cell::default() {
        nodes.push(context);
    }
    let result = extractor.argument(solver, &nodes, &made);
    Flow { sites, result, gave_up: false }
}

struct Extractor {
    numbers: Vec<u32>,
}

impl Extractor {
    fn origins(&mut self, solver: &Solver<'_>, taint: &Taint) -> BTreeSet<Origin> {
        taint
            .sources()
            .filter_map(|source| solver.sources.get(source))
            .map(|source| self.origin(source))
            .collect()
    }

    fn origin(&self, source: &Source) -> Origin {
        match source {
            Source::Anything => Origin::Anything,
            Source::Context(path) => Origin::Context(path_of(path)),
            Source::Call(site) => Origin::Call(self.numbers.get(*site as usize).copied().unwrap_or(0)),
        }
    }

    fn argument(&mut self, solver: &mut Solver<'_>, nodes: &[Node], made: &Slice) -> Argument {
        let mut cell = Cell::default();
        for node in nodes {
            cell.add(&solver.peek(*node).clone());
        }
        let (taint, objects) = solver.deep(&cell);
        let slice = Slice { data: self.origins(solver, &taint), ..made.clone() };
        let mut leaves = Vec::new();
        self.leaves(solver, &cell, &mut leaves);
        let own = leaves.clone();
        for object in objects.iter().take(PARTS_MAX) {
            for node in solver.cells_of(*object) {
                let inside = solver.peek(node).clone();
                self.leaves(solver, &inside, &mut leaves);
            }
        }
        if objects.len() > PARTS_MAX {
            leaves.push(Leaf::Computed);
        }
        let shown = slice.with_calls_unnamed(self.shown(solver, &cell, 0));
        Argument { slice, leaves, own, possible: possible(solver, &cell), shown }
    }

    /// The plain values of a cell.
    fn leaves(&self, solver: &Solver<'_>, cell: &Cell, leaves: &mut Vec<Leaf>) {
        let mut push = |leaf: Leaf| {
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        };
        for constant in cell.known() {
            push(match constant {
                Constant::Text(text) => Leaf::Text(text.to_string()),
                Constant::Begins(text) => Leaf::Begins(text.to_string()),
                other => Leaf::Plain(plain(other)),
            });
        }
        if cell.unknown & (TEXT | NUMBER | BOOL) != 0 {
            push(Leaf::Computed);
        }
        for object in &cell.objects {
            match &solver.get(*object).kind {
                ObjectKind::Context(path) => push(Leaf::From(Origin::Context(path_of(path)))),
                ObjectKind::Result(site) => {
                    push(Leaf::From(Origin::Call(self.numbers.get(*site as usize).copied().unwrap_or(0))));
                }
                ObjectKind::Derived(_) | ObjectKind::Globals => push(Leaf::Computed),
                // A tool takes no function; the entries of a table are searched separately.
                _ => {}
            }
        }
    }

    fn shown(&self, solver: &Solver<'_>, cell: &Cell, depth: u32) -> String {
        const SHOWN_MAX: usize = 4;
        const DEPTH_MAX: u32 = 2;
        let mut parts: Vec<String> = Vec::new();
        for constant in cell.known() {
            parts.push(match constant {
                Constant::Text(text) => quoted(text),
                Constant::Begins(text) => format!("{} .. …", quoted(text)),
                other => plain(other),
            });
        }
        let shows = |object: &&ObjectId| {
            !matches!(
                solver.get(**object).kind,
                ObjectKind::Closure(..)
                    | ObjectKind::Builtin(_)
                    | ObjectKind::Tool(_)
                    | ObjectKind::Coroutine(_)
                    | ObjectKind::Library(_)
            )
        };
        for object in cell.objects.iter().filter(shows) {
            parts.push(match &solver.get(*object).kind {
                ObjectKind::Context(path) => path_of(path).to_string(),
                ObjectKind::Result(site) => {
                    let number = self.numbers.get(*site as usize).copied().unwrap_or(0);
                    format!("result of call {number}")
                }
                ObjectKind::Table(..) if depth < DEPTH_MAX => self.shown_table(solver, *object, depth),
                ObjectKind::Table(..) => "{…}".to_owned(),
                _ => "computed".to_owned(),
            });
        }
        if cell.unknown & (TEXT | NUMBER | BOOL) != 0 {
            let origins = self.computed_from(solver, &cell.taint);
            parts.push(if origins.is_empty() {
                "computed".into()
            } else {
                format!("computed from {origins}")
            });
        }
        if parts.is_empty() {
            return "nil".to_owned();
        }
        parts.dedup();
        let more = if parts.len() > SHOWN_MAX { " or …" } else { "" };
        parts.truncate(SHOWN_MAX);
        format!("{}{more}", parts.join(" or "))
    }

    fn computed_from(&self, solver: &Solver<'_>, taint: &Taint) -> String {
        const SHOWN_MAX: usize = 5;
        let all: Vec<String> = taint
            .sources()
            .filter_map(|source| solver.sources.get(source))
            .map(|source| match self.origin(source) {
                Origin::Context(path) => path.to_string(),
                Origin::Call(number) => format!("call {number}"),
                Origin::Anything => "anything".to_owned(),
            })
            .collect();
        let more = if all.len() > SHOWN_MAX { ", …" } else { "" };
        format!("{}{more}", all.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", "))
    }

    fn shown_table(&self, solver: &Solver<'_>, object: ObjectId, depth: u32) -> String {
        const FIELDS_MAX: usize = 6;
        let data = solver.get(object);
        let mut parts: Vec<String> = Vec::new();
        for (key, node) in &data.fields {
            let cell = solver.peek(*node);
            if *cell == Cell::default() {
                continue;
            }
            let value = self.shown(solver, cell, depth + 1);
            parts.push(match key {
                Key::Int(_) => value,
                Key::Text(name) if is_identifier(name) => format!("{name} = {value}"),
                Key::Text(name) => format!("[{}] = {value}", quoted(name)),
            });
        }
        for (node, key) in [(data.items, ""), (data.unknown, "[…] = ")] {
            let cell = solver.peek(node);
            if *cell != Cell::default() {
                parts.push(format!("{key}{}, …", self.shown(solver, cell, depth + 1)));
            }
        }
        if parts.len() > FIELDS_MAX {
            parts.truncate(FIELDS_MAX);
            parts.push("…".to_owned());
        }
        format!("{{{}}}", parts.join(", "))
    }
}

fn path_of(path: &[std::rc::Rc<str>]) -> ContextPath {
    ContextPath(path.iter().map(ToString::to_string).collect())
}

fn plain(constant: &Constant) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => format!("{value:?}"),
        Constant::Text(text) | Constant::Begins(text) => text.to_string(),
    }
}

/// Quotes as [`super::super::preview`] expects it, which shortens such texts.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}
