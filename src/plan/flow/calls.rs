//! What a call may reach, and how its frame is connected with the caller's.

use super::solver::Solver;
use super::state::{Factor, Link, Node, ObjectId, ObjectKind, Rule, RuleId, Want};
use super::value::{ANY, Cell, NIL};

impl Solver<'_> {
    /// Calls everything that `callee` may be.
    pub(super) fn call(&mut self, callee: Node, want: &Want) {
        let cell = self.read(callee);
        let taint = self.scalar(&cell);
        let mut want = want.clone();
        let control = self.helper(want.part(1));
        let outside = self.read(want.at.control).taint;
        self.add_taint(control, &outside);
        self.add_taint(control, &taint);
        want.at.control = control;
        let callable = |kind: &ObjectKind| {
            matches!(
                kind,
                ObjectKind::Closure(..)
                    | ObjectKind::Tool(_)
                    | ObjectKind::Builtin(_)
                    | ObjectKind::Coroutine(_)
                    | ObjectKind::Derived(_)
            )
        };
        if cell.unknown != 0 || cell.objects.iter().any(|object| !callable(&self.get(*object).kind)) {
            self.may_raise(want.at, &taint);
        }
        for object in &cell.objects {
            self.apply(*object, &want);
        }
        let mut operands = vec![cell.clone()];
        for node in want.fixed.iter().copied().chain(want.rest) {
            operands.push(self.read(node));
        }
        let of_metatables = self.metamethods(&cell.objects, &operands, want.part(2), want.at);
        self.give_all(&want, &of_metatables);
    }

    pub(super) fn apply(&mut self, object: ObjectId, want: &Want) {
        match self.kind(object) {
            ObjectKind::Closure(..) => {
                let by = self.now;
                self.enter(object, want, by);
            }
            ObjectKind::Tool(name) => self.tool(&name, want),
            ObjectKind::Builtin(name) => self.builtin(&name, want),
            ObjectKind::Coroutine(made_by) => self.resume(object, made_by, want, false),
            ObjectKind::Derived(_) => {
                let unknown = self.get(object).unknown;
                let inside = self.read(unknown);
                self.give_all(want, &inside);
            }
            _ => {}
        }
    }

    /// Connects a function's frame with the call.
    pub(super) fn enter(&mut self, closure: ObjectId, want: &Want, by: RuleId) {
        let Some(frame) = self.frame_for(closure, by, want.at.frame) else { return };
        if !self.linked.insert((self.now, frame, want.tag)) {
            return;
        }
        let program = self.program;
        let data = &self.frames[frame as usize];
        let parameters =
            program.functions.get(data.function as usize).map_or(&[][..], |function| &function.parameters);
        let (control, stop_in, stop_out, stop_before) =
            (data.control, data.stop_in, data.stop_out, data.stop_before);
        let (guarded, guarded_twice) = (data.guarded, data.guarded_twice);
        let (beside, varargs) = (data.beside, data.varargs);
        let (results, more_results) = (data.results, data.more_results);
        let caller = &self.frames[want.at.frame as usize];
        let outside = (caller.stop_before, caller.guarded, caller.beside);
        let twice_outside = caller.guarded_twice;
        for (place, parameter) in parameters.iter().enumerate() {
            let to = self.variable(frame, *parameter);
            match want.argument(place) {
                Some(from) => {
                    self.rule(Rule::Flow { from, to });
                }
                None => self.add(to, &Cell::unknown(NIL)),
            }
        }
        for from in want.fixed.iter().skip(parameters.len()).copied().chain(want.rest) {
            self.rule(Rule::Flow { from, to: varargs });
        }
        for (place, to) in want.results.iter().enumerate() {
            let from = results.get(place).copied().unwrap_or(more_results);
            self.rule(Rule::Flow { from, to: *to });
        }
        if let Some(more) = want.more {
            for from in results.iter().skip(want.results.len()).copied().chain([more_results]) {
                self.rule(Rule::Flow { from, to: more });
            }
        }
        self.rule(Rule::Taint { from: want.at.control, to: control });
        self.rule(Rule::Taint { from: want.before, to: stop_in });
        self.rule(Rule::Taint { from: stop_out, to: want.at.stop });
        self.rule(Rule::Taint { from: outside.0, to: stop_before });
        match want.guard {
            Some(before) => {
                self.rule(Rule::Taint { from: before, to: stop_before });
                self.add(guarded, &Cell::unknown(ANY));
                self.rule(Rule::Flow { from: outside.1, to: guarded_twice });
            }
            None => {
                self.rule(Rule::Flow { from: outside.1, to: guarded });
            }
        }
        self.rule(Rule::Flow { from: twice_outside, to: guarded_twice });
        if want.beside {
            self.add(beside, &Cell::unknown(ANY));
        } else {
            self.rule(Rule::Flow { from: outside.2, to: beside });
        }
        if !matches!(want.factor, Factor::Never) {
            let factor = want.factor.clone();
            self.links.push(Link { from: want.at.frame, loops: want.at.loops, factor, to: frame });
        } else if self.linked.insert((by, frame, u32::MAX))
            && let Some(made) = self.coroutines.get(&by)
        {
            self.links.push(Link { from: made.frame, loops: made.loops, factor: Factor::Once, to: frame });
        }
    }

    /// Gives the caller one result.
    pub(super) fn give(&mut self, want: &Want, place: usize, cell: &Cell) {
        if let Some(to) = want.results.get(place).copied().or(want.more) {
            self.add(to, cell);
        }
    }

    /// Gives the caller the same for every result.
    pub(super) fn give_all(&mut self, want: &Want, cell: &Cell) {
        if is_empty(cell) {
            return;
        }
        for to in want.results.iter().copied().chain(want.more) {
            self.add(to, cell);
        }
    }
}

fn is_empty(cell: &Cell) -> bool {
    *cell == Cell::default()
}
