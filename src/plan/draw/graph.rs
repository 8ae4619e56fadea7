//! The graph as data.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use luaplan_base::{Effect, StepState};

use crate::flow::{ContextPath, Origin, Slice};
use crate::preview::Preview;
use crate::steps::NamedStep;

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A place of the context.
    Context,
    /// A place of the plan that calls a tool.
    Call,
    /// A named step: the calls in its function have its name.
    Step,
    /// What `run` returns.
    Result,
    /// All sources that the analysis cannot tell apart.
    Anything,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphNode {
    /// `call1`, `context1`, `step1`, `anything` or `result`.
    pub id: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// The tool's name, the path in the context, the step's name, or `result`.
    pub name: String,
    /// The line of the call, or of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What a call does to the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The most calls; `null` without a bound. Calls only.
    pub calls_max: Option<u64>,
    /// The step in whose function the call stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How far a step has come: `pending` before the plan runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StepState>,
    /// The arguments as far as they are known, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<(String, String)>,
}

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The value contains or is computed from it.
    Data,
    /// It decides whether the plan makes the call.
    Control,
    /// The step runs only once the other is complete.
    Order,
}

/// An edge, from the source to what depends on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edge {
    /// The source's id.
    pub from: String,
    /// The id of what depends on it.
    pub to: String,
    /// What it means.
    pub kind: EdgeKind,
    /// The parameters that data goes into.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub parameters: BTreeSet<String>,
}

/// The computation graph of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Graph {
    /// The version of this form.
    pub version: u32,
    /// Places of the context first, then steps, then calls in the order of the source, then the result.
    pub nodes: Vec<GraphNode>,
    /// Sorted by their ends.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// The graph of a preview.
    #[must_use]
    pub fn of(preview: &Preview) -> Self {
        let mut builder = Builder { context: BTreeMap::new(), edges: BTreeMap::new(), order: Vec::new() };
        let mut calls = Vec::new();
        for call in &preview.calls {
            let id = format!("call{}", call.number);
            let slices = || call.arguments.iter().map(|(_, argument)| &argument.slice);
            let given: BTreeSet<&Origin> = slices().flat_map(|slice| &slice.data).collect();
            let names: BTreeSet<&str> = call.arguments.iter().map(|(name, _)| name.as_str()).collect();
            let whole = |origin: &Origin| whole_of(origin, &names).filter(|whole| given.contains(whole));
            for (name, argument) in &call.arguments {
                builder.data(&argument.slice, &id, Some(name), whole);
            }
            builder.control(&call.made, &id);
            calls.push(GraphNode {
                id,
                kind: NodeKind::Call,
                name: call.tool.clone(),
                line: call.line,
                effect: Some(call.effect),
                calls_max: call.calls_max,
                step: call.step.clone(),
                state: None,
                arguments: call
                    .arguments
                    .iter()
                    .map(|(name, argument)| (name.clone(), argument.shown.clone()))
                    .collect(),
            });
        }
        builder.data(&preview.result.slice, "result", None, |_| None);
        let steps = builder.steps(&preview.steps);
        let mut nodes = builder.order;
        nodes.extend(steps);
        nodes.extend(calls);
        nodes.push(node("result".to_owned(), NodeKind::Result, "result".to_owned()));
        let edges = builder
            .edges
            .into_iter()
            .map(|((from, to, kind), parameters)| Edge { from, to, kind, parameters })
            .collect();
        Self { version: 1, nodes, edges }
    }

    /// The same graph with the states that the steps of a run are in.
    #[must_use]
    pub fn with_states(mut self, state_of: impl Fn(&str) -> Option<StepState>) -> Self {
        for node in self.nodes.iter_mut().filter(|node| node.kind == NodeKind::Step) {
            node.state = state_of(&node.name).or(node.state);
        }
        self
    }

    /// The nodes of each step that stand in a frame with it: the step itself, then its calls.
    pub(super) fn frames(&self) -> Vec<Vec<&GraphNode>> {
        let steps = self.nodes.iter().filter(|node| node.kind == NodeKind::Step);
        steps
            .map(|step| {
                let calls = self.nodes.iter().filter(|node| node.step.as_ref() == Some(&step.name));
                std::iter::once(step).chain(calls).collect()
            })
            .collect()
    }

    /// The edges to draw, without control edges that others imply.
    pub(super) fn drawn(&self) -> Vec<&Edge> {
        let place: BTreeMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
        let of = |id: &str| place.get(id).copied().unwrap_or(0);
        let count = self.nodes.len();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
        for edge in &self.edges {
            if of(&edge.from) < of(&edge.to) {
                next[of(&edge.from)].push(of(&edge.to));
            }
        }
        let implied = |edge: &Edge| {
            let (from, to) = (of(&edge.from), of(&edge.to));
            let both = self
                .edges
                .iter()
                .any(|other| other.kind == EdgeKind::Data && other.from == edge.from && other.to == edge.to);
            let mut seen = vec![false; count];
            let mut open: Vec<usize> =
                next[from].iter().copied().filter(|node| *node != to && *node < to).collect();
            while let Some(node) = open.pop() {
                if node == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(next[node].iter().copied().filter(|node| *node <= to));
                }
            }
            both
        };
        self.edges.iter().filter(|edge| edge.kind != EdgeKind::Control || !implied(edge)).collect()
    }
}

impl GraphNode {
    /// The lines of the node's label.
    pub(super) fn label(&self, width: usize) -> Vec<String> {
        const ARGUMENTS_MAX: usize = 3;
        const NAME_WIDTH_MIN: usize = 16;
        match self.kind {
            NodeKind::Call => {
                let line = self.line.map_or_else(String::new, |line| format!(" · line {line}"));
                let number = self.id.trim_start_matches("call");
                let often = match self.calls_max {
                    Some(1) => String::new(),
                    Some(times) => format!(" · ≤ {times}×"),
                    None => " · ∞".to_owned(),
                };
                // A long name is cut, the number of calls never.
                let rest = format!("{line}{often}");
                let left = width.saturating_sub(number.len() + 1 + rest.chars().count()).max(NAME_WIDTH_MIN);
                let mut lines = vec![format!("{number} {}{rest}", super::plain(&self.name, left))];
                let worth = self.arguments.iter().take(ARGUMENTS_MAX);
                lines.extend(worth.map(|(name, shown)| super::plain(&format!("{name} = {shown}"), width)));
                lines
            }
            NodeKind::Step => {
                let state = self.state.map_or_else(String::new, |state| format!(" · {state}"));
                let line = self.line.map_or_else(String::new, |line| format!(" · line {line}"));
                let left = width.saturating_sub(state.chars().count() + line.chars().count() + 5);
                vec![format!("step {}{line}{state}", super::plain(&self.name, left.max(NAME_WIDTH_MIN)))]
            }
            _ => vec![super::plain(&self.name, width)],
        }
    }

    /// The line of a call's label that names its step, for drawings that put no frame around its calls.
    pub(super) fn step_line(&self, width: usize) -> Option<String> {
        self.step.as_ref().map(|step| super::plain(&format!("in step {step}"), width))
    }

    /// The class for colours.
    pub(super) fn class(&self) -> &'static str {
        match (self.kind, self.effect) {
            (NodeKind::Step, _) => "step",
            (NodeKind::Context, _) => "context",
            (NodeKind::Result, _) => "result",
            (NodeKind::Anything, _) => "anything",
            (NodeKind::Call, effect) => effect.map_or("read", Effect::as_str),
        }
    }
}

fn node(id: String, kind: NodeKind, name: String) -> GraphNode {
    GraphNode {
        id,
        kind,
        name,
        line: None,
        effect: None,
        calls_max: None,
        step: None,
        state: None,
        arguments: Vec::new(),
    }
}

/// The value in the context that `origin` is a part of, by one of these names.
fn whole_of(origin: &Origin, names: &BTreeSet<&str>) -> Option<Origin> {
    let Origin::Context(ContextPath(parts)) = origin else { return None };
    let (last, whole) = parts.split_last()?;
    (names.contains(last.as_str()) && !whole.is_empty()).then(|| Origin::Context(ContextPath(whole.to_vec())))
}

struct Builder {
    context: BTreeMap<Origin, String>,
    edges: BTreeMap<(String, String, EdgeKind), BTreeSet<String>>,
    order: Vec<GraphNode>,
}

impl Builder {
    fn id(&mut self, origin: &Origin) -> String {
        if let Origin::Call(number) = origin {
            return format!("call{number}");
        }
        if let Some(id) = self.context.get(origin) {
            return id.clone();
        }
        let (id, kind, name) = match origin {
            Origin::Context(path) => {
                let number = self.order.iter().filter(|node| node.kind == NodeKind::Context).count() + 1;
                (format!("context{number}"), NodeKind::Context, path.to_string())
            }
            _ => ("anything".to_owned(), NodeKind::Anything, "anything".to_owned()),
        };
        self.order.push(node(id.clone(), kind, name));
        self.context.insert(origin.clone(), id.clone());
        id
    }

    /// A value that may be a table may also be all named arguments of a call; the drawing shows what `whole`
    /// gives for it instead.
    fn data(
        &mut self,
        slice: &Slice,
        to: &str,
        parameter: Option<&str>,
        whole: impl Fn(&Origin) -> Option<Origin>,
    ) {
        for origin in &slice.data {
            let from = self.id(&whole(origin).unwrap_or_else(|| origin.clone()));
            let parameters = self.edges.entry((from, to.to_owned(), EdgeKind::Data)).or_default();
            parameters.extend(parameter.map(str::to_owned));
        }
    }

    /// The nodes of the steps, with an edge for each dependency.
    fn steps(&mut self, steps: &[NamedStep]) -> Vec<GraphNode> {
        let id = |name: &str| {
            steps.iter().position(|step| step.name == name).map(|place| format!("step{}", place + 1))
        };
        let mut nodes = Vec::with_capacity(steps.len());
        for step in steps {
            let Some(own) = id(&step.name) else { continue };
            for needed in step.depends_on.iter().filter_map(|needed| id(needed)) {
                self.edges.entry((needed, own.clone(), EdgeKind::Order)).or_default();
            }
            nodes.push(GraphNode {
                line: Some(step.line),
                state: Some(StepState::Pending),
                ..node(own, NodeKind::Step, step.name.clone())
            });
        }
        nodes
    }

    fn control(&mut self, slice: &Slice, to: &str) {
        for origin in &slice.control {
            let from = self.id(origin);
            self.edges.entry((from, to.to_owned(), EdgeKind::Control)).or_default();
        }
    }
}
