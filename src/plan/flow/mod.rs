//! What flows where in a checked plan, without running it.
//!
//! [`analyse`] says for each argument of each tool call which places of the context and which call
//! results may flow into it, and which decide whether the call is made. It is sound: what it omits
//! has no influence. Where it cannot tell it over-approximates, up to "everything from everything"
//! for plans that look up globals by names made at run time.
//!
//! How: `lower` resolves names; `build` turns each function body into rules between cells, once for
//! each place that calls it as long as that stays small; `solver` runs the rules until no cell grows
//! any more. Assignments only ever add, so the order of statements matters for control alone.
//!
//! **Not followed:** what a tool does to the world that another tool sees, and which limit ends a run.

mod bounds;
mod build;
mod calls;
mod expressions;
mod extract;
mod frames;
mod heap;
mod known;
mod library;
mod list_functions;
mod lists;
mod lower;
mod made;
mod origin;
mod program;
mod protected;
mod rules;
mod sites;
mod solver;
mod state;
mod tables;
mod value;
mod variables;

use std::rc::Rc;

use emmylua_parser::{LuaAstNode, LuaChunk};

pub use extract::{Argument, CallSite, Flow, Leaf};
pub use known::Possible;
pub use origin::{ContextPath, Origin, Slice};

use luaplan_catalog::Catalog;

use crate::CheckedPlan;
use crate::names::globals;
use solver::Solver;
use state::Rule;
use state::{At, FrameId, Key, Node, ObjectKind};
use value::{ANY, Cell, Constant};

/// Finds what flows where in `plan`, for the tools of `catalog`.
///
/// Bounded in time and memory for every source: for a plan that would take too much,
/// [`Flow::gave_up`] is true.
#[must_use]
pub fn analyse(plan: &CheckedPlan, catalog: &Catalog) -> Flow {
    analyse_source(plan.source(), catalog)
}

/// As [`analyse`], for a source that the check may refuse: what it would do if it ran.
#[must_use]
pub fn analyse_source(source: &str, catalog: &Catalog) -> Flow {
    let Ok(syntax) = luaplan_syntax::syntax_tree(source) else { return Flow::of_anything(catalog) };
    let Some(chunk) = LuaChunk::cast(syntax) else { return Flow::of_anything(catalog) };
    let program = lower::lower(&chunk, source);
    let mut solver = Solver::new(&program, catalog);
    let globals = solver.globals();
    let (chunk, result, context) = solver.start(globals);
    solver.solve();
    if solver.lost {
        return Flow::of_anything(catalog);
    }
    solver.bind_all();
    extract::extract(&mut solver, chunk, result, context)
}

impl Solver<'_> {
    /// The globals of a plan.
    fn globals(&mut self) -> Node {
        let globals = self.object(ObjectKind::Globals);
        let put = |solver: &mut Self, name: &str, kind: Option<ObjectKind>| {
            let field = solver.field(globals, &Key::Text(name.into()));
            let cell = match kind {
                Some(kind) => Cell::object(solver.object(kind)),
                None => Cell::unknown(ANY),
            };
            solver.add(field, &cell);
        };
        for name in globals::CORE.into_iter().chain(globals::PLAN_FUNCTIONS) {
            let kind = match name {
                "_G" => Some(ObjectKind::Globals),
                "_VERSION" => None,
                name => Some(ObjectKind::Builtin(name.into())),
            };
            put(self, name, kind);
        }
        let libraries = globals::LIBRARIES.into_iter().map(|(name, _)| name).chain(globals::PLAN_LIBRARIES);
        for name in libraries {
            put(self, name, Some(ObjectKind::Library(name.into())));
        }
        for name in globals::PLAN_VALUES {
            put(self, name, None);
        }
        let names: Vec<Rc<str>> = self.catalog.names().map(Rc::from).collect();
        for name in names {
            match name.split_once('.') {
                None => put(self, &name, Some(ObjectKind::Tool(name.clone()))),
                Some((server, member)) => {
                    let group = self.object(ObjectKind::Library(format!("{server} (tools)").into()));
                    let field = self.field(group, &Key::Text(member.into()));
                    let tool = self.object(ObjectKind::Tool(name.clone()));
                    self.add(field, &Cell::object(tool));
                    put(self, server, Some(ObjectKind::Library(format!("{server} (tools)").into())));
                }
            }
        }
        self.node_of(&Cell::object(globals))
    }

    /// Runs the chunk, then calls `run` with the context. Gives the chunk's frame, and the nodes of the
    /// result and of the context.
    fn start(&mut self, globals: Node) -> (FrameId, Node, Node) {
        let chunk = self.frame(0, None, None, 0);
        self.build(chunk);
        let context = self.object(ObjectKind::Context(Vec::new().into()));
        let context = self.node_of(&Cell::object(context));
        let (run, result, control, stop, after) =
            (self.node(), self.node(), self.node(), self.node(), self.node());
        let stop_out = self.frames[chunk as usize].stop_out;
        self.rule(Rule::Taint { from: stop_out, to: stop });
        self.rule(Rule::Taint { from: stop, to: after });
        let at = At { frame: chunk, control, stop: after, loops: 0 };
        let key = self.node_of(&Cell::constant(Constant::Text("run".into())));
        self.rule(Rule::Index { base: globals, key, to: run, at });
        self.rule(Rule::Call {
            place: u32::MAX,
            callee: run,
            arguments: vec![context],
            rest: None,
            results: vec![result],
            more: None,
            before: stop,
            at,
        });
        self.result_stops = after;
        (chunk, result, context)
    }
}

#[cfg(test)]
mod tests;
