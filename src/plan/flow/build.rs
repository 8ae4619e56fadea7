//! Makes rules of a function's body: what flows where, and what controls it.
//!
//! Control is a node for each stretch of statements. A statement that may leave its block adds what
//! it depends on to everything after it, up to where the paths join again; in a loop, to the whole
//! body. What may end the run is one chain in the order of the source.

use std::rc::Rc;

use super::program::{AssignTarget, Block, Expr, Stat};
use super::solver::Solver;
use super::state::{At, Factor, FrameId, Node, ObjectKind, Rule};
use super::value::{Cell, Constant, NIL};

/// A block with more labels than this is taken to jump back to each.
const LABELS_LOOKED_AT: usize = 40;

#[derive(Clone, PartialEq)]
enum Way {
    Return,
    Break,
    Goto(Rc<str>),
}

/// A way out of a statement.
struct Escape {
    way: Way,
    control: Node,
    stop: Node,
}

impl Solver<'_> {
    /// Makes the rules of a frame's body.
    pub(super) fn build(&mut self, frame: FrameId) {
        let program = self.program;
        let data = &self.frames[frame as usize];
        let (control, stop_in) = (data.control, data.stop_in);
        let Some(function) = program.functions.get(data.function as usize) else { return };
        let stop = self.node();
        self.rule(Rule::Taint { from: stop_in, to: stop });
        let mut builder = Builder { solver: self, frame, control, stop, loops: 0 };
        builder.block(&function.body);
        if !matches!(function.body.last(), Some(Stat::Return(_))) {
            builder.results(&[]);
        }
        let (stop, out) = (builder.stop, builder.solver.frames[frame as usize].stop_out);
        self.rule(Rule::Taint { from: stop, to: out });
    }
}

/// Walks a body; `control` and `stop` are those of the place it stands at.
pub(super) struct Builder<'s, 'p> {
    pub(super) solver: &'s mut Solver<'p>,
    pub(super) frame: FrameId,
    pub(super) control: Node,
    pub(super) stop: Node,
    loops: u32,
}

impl Builder<'_, '_> {
    pub(super) fn at(&self) -> At {
        At { frame: self.frame, control: self.control, stop: self.stop, loops: self.loops }
    }

    pub(super) fn taint(&mut self, from: Node, to: Node) {
        self.solver.rule(Rule::Taint { from, to });
    }

    /// A node that depends on all of `from`.
    pub(super) fn joined(&mut self, from: &[Node]) -> Node {
        let node = self.solver.node();
        for one in from {
            self.taint(*one, node);
        }
        node
    }

    pub(super) fn constant(&mut self, cell: &Cell) -> Node {
        self.solver.node_of(cell)
    }

    fn block(&mut self, block: &Block) -> Vec<Escape> {
        let outside = (self.control, self.loops);
        let mut base = self.control;
        let mut open: Vec<Escape> = Vec::new();
        let mut seen: Vec<(Rc<str>, Node, Node)> = Vec::new();
        for (place, statement) in block.iter().enumerate() {
            if let Stat::Label(name) = statement {
                open.retain(|escape| escape.way != Way::Goto(name.clone()));
                let ways: Vec<Node> =
                    std::iter::once(base).chain(open.iter().map(|escape| escape.control)).collect();
                base = self.joined(&ways);
                self.control = base;
                self.stop = self.joined(&[self.stop]);
                seen.push((name.clone(), base, self.stop));
                if seen.len() > LABELS_LOOKED_AT || jumps_to(&block[place..], name) {
                    self.loops = self.enter(Factor::Unbounded);
                }
                continue;
            }
            let mut left = false;
            for escape in self.statement(statement) {
                let back = match &escape.way {
                    Way::Goto(name) => seen.iter().find(|(known, ..)| known == name).cloned(),
                    _ => None,
                };
                match back {
                    Some((_, label, stop)) => {
                        self.taint(escape.control, label);
                        self.taint(escape.stop, stop);
                        self.taint(escape.control, self.stop);
                    }
                    None => {
                        open.push(escape);
                        left = true;
                    }
                }
            }
            if left {
                let ways: Vec<Node> =
                    std::iter::once(base).chain(open.iter().map(|escape| escape.control)).collect();
                self.control = self.joined(&ways);
            }
        }
        (self.control, self.loops) = outside;
        open
    }

    fn enter(&mut self, factor: Factor) -> u32 {
        self.solver.loops.push((self.loops, factor));
        u32::try_from(self.solver.loops.len() - 1).unwrap_or(u32::MAX)
    }

    fn escape(&self, way: Way) -> Vec<Escape> {
        vec![Escape { way, control: self.control, stop: self.stop }]
    }

    fn statement(&mut self, statement: &Stat) -> Vec<Escape> {
        match statement {
            Stat::Local { variables, values, closes } => {
                let values = self.values(values, variables.len());
                for (variable, value) in variables.iter().zip(values) {
                    let cell = self.solver.variable(self.frame, *variable);
                    self.solver.rule(Rule::Flow { from: value, to: cell });
                    if *closes {
                        let at = self.at();
                        self.solver.rule(Rule::Close { value, at });
                    }
                }
            }
            Stat::LocalFunction(variable, function) => {
                let closure = self.solver.object(ObjectKind::Closure(*function, self.frame));
                let cell = self.solver.variable(self.frame, *variable);
                self.solver.add(cell, &Cell::object(closure));
            }
            Stat::Assign { targets, values } => self.assign(targets, values),
            Stat::Call(call) => {
                self.expression(call);
            }
            Stat::Do(body) => return self.block(body),
            Stat::If { arms, otherwise } => return self.branches(arms, otherwise.as_ref()),
            Stat::While { condition, body } => {
                return self.looped(Factor::Unbounded, true, |builder, inside| {
                    let condition = builder.expression(condition);
                    builder.taint(condition, inside);
                    builder.block(body)
                });
            }
            Stat::Repeat { body, condition } => {
                return self.looped(Factor::Unbounded, true, |builder, inside| {
                    let escapes = builder.block(body);
                    let condition = builder.expression(condition);
                    builder.taint(condition, inside);
                    escapes
                });
            }
            Stat::NumericFor { variable, limits, body } => {
                let mut nodes: Vec<Node> = limits.iter().map(|limit| self.expression(limit)).collect();
                while nodes.len() < 3 {
                    nodes.push(self.constant(&Cell::constant(Constant::Int(1))));
                }
                let nodes = [nodes[0], nodes[1], nodes[2]];
                let (at, cell) = (self.at(), self.solver.variable(self.frame, *variable));
                self.solver.rule(Rule::Counter { limits: nodes, to: cell, at });
                return self.looped(Factor::Numeric(nodes), false, |builder, inside| {
                    nodes.iter().for_each(|limit| builder.taint(*limit, inside));
                    builder.block(body)
                });
            }
            Stat::GenericFor { variables, values, body } => {
                let parts = self.values(values, 4);
                let (iterator, state, first) = (parts[0], parts[1], parts[2]);
                let variables: Vec<Node> =
                    variables.iter().map(|variable| self.solver.variable(self.frame, *variable)).collect();
                return self.looped(Factor::Iterated(iterator, state), true, |builder, inside| {
                    let at = builder.at();
                    let before = builder.stop;
                    let results = variables;
                    builder.solver.rule(Rule::Iterate {
                        iterator,
                        state,
                        first,
                        results,
                        decides: inside,
                        before,
                        at,
                    });
                    builder.block(body)
                });
            }
            Stat::Return(values) => {
                self.results(values);
                return self.escape(Way::Return);
            }
            Stat::Break => return self.escape(Way::Break),
            Stat::Goto(name) => return self.escape(Way::Goto(name.clone())),
            Stat::Label(_) => {}
        }
        Vec::new()
    }

    fn branches(&mut self, arms: &[(Expr, Block)], otherwise: Option<&Block>) -> Vec<Escape> {
        let outside = self.control;
        let mut escapes = Vec::new();
        for (condition, body) in arms {
            let condition = self.expression(condition);
            self.control = self.joined(&[self.control, condition]);
            escapes.extend(self.block(body));
        }
        if let Some(body) = otherwise {
            escapes.extend(self.block(body));
        }
        self.control = outside;
        escapes
    }

    /// A loop: what leaves its body early decides about all of the body.
    fn looped(
        &mut self,
        factor: Factor,
        may_not_end: bool,
        body: impl FnOnce(&mut Self, Node) -> Vec<Escape>,
    ) -> Vec<Escape> {
        let outside = (self.control, self.loops);
        let inside = self.joined(&[self.control]);
        let head = self.joined(&[self.stop]);
        (self.control, self.stop) = (inside, head);
        self.loops = self.enter(factor);
        let mut escapes = body(self, inside);
        for escape in &escapes {
            self.taint(escape.control, inside);
        }
        self.taint(self.stop, head);
        escapes.retain(|escape| escape.way != Way::Break);
        self.stop = if may_not_end { self.joined(&[self.stop, inside]) } else { self.joined(&[self.stop]) };
        (self.control, self.loops) = outside;
        escapes
    }

    fn assign(&mut self, targets: &[AssignTarget], values: &[Expr]) {
        let places: Vec<Option<(Node, Node)>> = targets
            .iter()
            .map(|target| match target {
                AssignTarget::Index(base, key) => Some((self.expression(base), self.expression(key))),
                AssignTarget::Global(name) => {
                    let globals = self.solver.object(ObjectKind::Globals);
                    let base = self.constant(&Cell::object(globals));
                    Some((base, self.constant(&Cell::constant(Constant::Text(name.clone())))))
                }
                AssignTarget::Var(_) => None,
            })
            .collect();
        let values = self.values(values, targets.len());
        let at = self.at();
        for ((target, place), value) in targets.iter().zip(places).zip(values) {
            match (target, place) {
                (_, Some((base, key))) => {
                    self.solver.rule(Rule::Store { base, key, value, at });
                }
                (AssignTarget::Var(variable), None) => {
                    let to = self.solver.variable(self.frame, *variable);
                    self.solver.rule(Rule::Write { value, to, at });
                }
                _ => {}
            }
        }
    }

    /// Returns `values` from the function.
    fn results(&mut self, values: &[Expr]) {
        let (fixed, more) = self.list(values);
        let frame = &self.solver.frames[self.frame as usize];
        let (results, more_results, stop_out) = (frame.results, frame.more_results, frame.stop_out);
        let nothing = self.constant(&Cell::unknown(NIL));
        for (place, to) in results.iter().enumerate() {
            let from = fixed.get(place).copied().or(more).unwrap_or(nothing);
            self.solver.rule(Rule::Flow { from, to: *to });
            self.taint(self.control, *to);
        }
        for from in fixed.iter().skip(results.len()).copied().chain(more) {
            self.solver.rule(Rule::Flow { from, to: more_results });
        }
        self.taint(self.control, more_results);
        self.taint(self.stop, stop_out);
    }
}

/// Whether a statement among these jumps to the label.
fn jumps_to(block: &[Stat], label: &str) -> bool {
    block.iter().any(|statement| match statement {
        Stat::Goto(name) => **name == *label,
        Stat::Do(body)
        | Stat::While { body, .. }
        | Stat::Repeat { body, .. }
        | Stat::NumericFor { body, .. }
        | Stat::GenericFor { body, .. } => jumps_to(body, label),
        Stat::If { arms, otherwise } => {
            arms.iter().any(|(_, body)| jumps_to(body, label))
                || otherwise.as_ref().is_some_and(|body| jumps_to(body, label))
        }
        _ => false,
    })
}
