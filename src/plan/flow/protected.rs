//! Functions that call others in special ways: protected, repeated, in parallel, as coroutines.

use super::rules::KeyPart;
use super::solver::Solver;
use super::state::{At, Factor, Key, Node, ObjectId, ObjectKind, RuleId, Want};
use super::value::{ANY, BOOL, Cell, Constant, NIL, Taint};

impl Solver<'_> {
    /// A call of the argument at `skip`; the returned node collects its errors.
    fn guarded(&mut self, want: &Want, callee: Node, skip: usize, part: u32) -> (Want, Node) {
        let failing = self.failing(want);
        let results: Vec<Node> = (0..4).map(|place| self.helper(want.part(part + place))).collect();
        let more = self.helper(want.part(part + 4));
        let (fixed, rest) = want.skip(skip);
        let inner = Want {
            fixed,
            rest,
            results,
            more: Some(more),
            before: failing,
            at: At { stop: failing, ..want.at },
            guard: Some(want.at.stop),
            factor: Factor::Once,
            tag: want.part(part + 5),
            ..want.clone()
        };
        self.call(callee, &inner);
        // The run may also end inside.
        let taint = self.read(failing).taint;
        self.add_taint(want.at.stop, &taint);
        (inner, failing)
    }

    pub(super) fn protected(&mut self, name: &str, want: &Want) {
        let Some(callee) = want.argument(0) else { return };
        let skip = if name == "xpcall" { 2 } else { 1 };
        let (inner, failing) = self.guarded(want, callee, skip, 20);
        let mut taint = self.read(failing).taint;
        taint.add(&self.read(inner.at.control).taint);
        let called = self.read(callee);
        taint.add(&self.scalar(&called));
        let mut succeeded = Cell::unknown(BOOL);
        succeeded.taint = taint;
        self.give(want, 0, &succeeded);
        let raised = self.raised;
        let mut problem = self.read(raised);
        problem.add(&Cell::unknown(ANY));
        problem.taint.add(&taint);
        if name == "xpcall"
            && let Some(handler) = want.argument(1)
        {
            let (argument, answer, control) =
                (self.helper(want.part(40)), self.helper(want.part(41)), self.helper(want.part(42)));
            self.add(argument, &problem);
            let outside = self.read(want.at.control).taint;
            self.add_taint(control, &outside);
            self.add_taint(control, &taint);
            let handled = Want {
                fixed: vec![argument],
                rest: None,
                results: vec![answer],
                more: None,
                before: failing,
                at: At { stop: failing, control, ..want.at },
                guard: Some(want.at.stop),
                tag: want.part(43),
                ..want.clone()
            };
            self.call(handler, &handled);
            problem.add(&self.read(answer));
        }
        for (place, node) in inner.results.iter().chain(&inner.more).enumerate() {
            let mut cell = self.read(*node);
            cell.taint.add(&taint);
            if place == 0 {
                cell.add(&problem);
            }
            self.give(want, place + 1, &cell);
        }
    }

    pub(super) fn retried(&mut self, want: &Want) {
        let (Some(times), Some(callee)) = (want.argument(0), want.argument(1)) else { return };
        let control = self.helper(want.part(50));
        let times_cell = self.read(times);
        let times_taint = self.scalar(&times_cell);
        let mut again = want.clone();
        again.at.control = control;
        let failing = self.failing(want);
        let results: Vec<Node> = (0..4).map(|place| self.helper(want.part(51 + place))).collect();
        let more = self.helper(want.part(55));
        let (fixed, rest) = want.skip(2);
        let inner = Want {
            fixed,
            rest,
            results,
            more: Some(more),
            before: failing,
            at: At { stop: failing, ..again.at },
            guard: Some(want.at.stop),
            factor: Factor::Attempts(times),
            tag: want.part(56),
            ..again
        };
        self.call(callee, &inner);
        let mut taint = self.read(failing).taint;
        taint.add(&times_taint);
        let first = self.read(inner.results[0]);
        taint.add(&self.scalar(&first));
        let outside = self.read(want.at.control).taint;
        self.add_taint(control, &taint);
        self.add_taint(control, &outside);
        self.paused(want.at.frame, &taint);
        let mut raising = self.read(failing).taint;
        raising.add(&times_taint);
        self.may_raise(want.at, &raising);
        for (place, node) in inner.results.iter().chain(&inner.more).enumerate() {
            let mut cell = self.read(*node);
            cell.taint.add(&taint);
            self.give(want, place, &cell);
        }
    }

    /// `step`: a call of the second argument, protected and retried, where the steps before went well.
    pub(super) fn stepped(&mut self, want: &Want) {
        let Some(callee) = want.argument(1) else { return };
        let (all_taint, _) = self.everything_in(want);
        let options = self.cell(want, 2);
        let retries = self.index(&options, &Cell::constant(Constant::Text("retries".into())), want.at);
        let retries_node = self.helper(want.part(50));
        self.add(retries_node, &retries);
        let control = self.helper(want.part(51));
        let failing = self.failing(want);
        let results: Vec<Node> = (0..4).map(|place| self.helper(want.part(52 + place))).collect();
        let more = self.helper(want.part(56));
        let mut inner = Want {
            fixed: Vec::new(),
            rest: None,
            results,
            more: Some(more),
            before: failing,
            at: At { stop: failing, ..want.at },
            guard: Some(want.at.stop),
            factor: Factor::Retries(retries_node),
            tag: want.part(57),
            ..want.clone()
        };
        inner.at.control = control;
        self.call(callee, &inner);
        let (steps, failed) = (self.steps, self.read(failing).taint);
        let first = self.read(inner.results[0]);
        // Which attempt is the last, and what the steps are that later ones depend on.
        let mut taint = self.read(steps).taint;
        taint.add(&failed);
        taint.add(&all_taint);
        taint.add(&self.scalar(&first));
        taint.add(&self.read(want.at.control).taint);
        self.add_taint(control, &taint);
        self.add_taint(steps, &taint);
        self.paused(want.at.frame, &taint);
        // A name may be used, and what it depends on unknown; and the run may also end inside.
        self.may_raise(want.at, &taint);
        self.add_taint(want.at.stop, &failed);
        let raised = self.raised;
        let mut problem = self.read(raised);
        problem.add(&Cell::unknown(ANY));
        for (place, node) in inner.results.iter().chain(&inner.more).enumerate() {
            let mut cell = self.read(*node);
            if place == 0 {
                cell.add(&problem);
            }
            cell.taint.add(&taint);
            self.give(want, place, &cell);
        }
    }

    /// Notes what decides about a pause in a branch of `parallel`.
    pub(super) fn paused(&mut self, frame: u32, taint: &Taint) {
        if self.is_beside(frame) {
            let timing = self.timing;
            self.add_taint(timing, taint);
        }
    }

    pub(super) fn side_by_side(&mut self, want: &Want) {
        let Some(functions) = want.argument(0) else { return };
        let table = self.read(functions);
        let taint = self.scalar(&table);
        let failing = self.failing(want);
        let made = self.object(ObjectKind::Table(self.now, 1 + want.tag));
        for object in &table.objects {
            let shape = self.get(*object).shape;
            self.read(shape);
            let data = self.get(*object);
            let mut entries: Vec<(Option<Key>, Node)> =
                data.fields.iter().map(|(key, node)| (Some(key.clone()), *node)).collect();
            let fixed = data.fixed;
            entries.extend([(None, data.items), (None, data.unknown)]);
            for (place, (key, node)) in (60_u32..).zip(entries) {
                let functions = self.read(node);
                if functions == Cell::default() {
                    continue;
                }
                let result = self.helper(want.part(place.wrapping_mul(101)));
                let branch = Want {
                    fixed: Vec::new(),
                    rest: None,
                    results: vec![result],
                    more: None,
                    before: failing,
                    at: At { stop: failing, ..want.at },
                    guard: Some(want.at.stop),
                    beside: true,
                    factor: if key.is_some() && fixed { Factor::Once } else { Factor::Unbounded },
                    tag: want.part(place.wrapping_mul(101).wrapping_add(1)),
                    ..want.clone()
                };
                self.call(node, &branch);
                let mut answer = self.read(result);
                answer.taint.add(&self.scalar(&functions));
                answer.taint.add(&taint);
                let part = key.map_or(KeyPart::Any, KeyPart::Known);
                self.store_into(made, &[part], &answer);
            }
        }
        let mut raising = self.read(failing).taint;
        raising.add(&taint);
        for object in &table.objects {
            for node in self.cells_of(*object) {
                let inside = self.read(node);
                raising.add(&self.scalar(&inside));
            }
        }
        self.may_raise(want.at, &raising);
        let mut result = Cell::object(made);
        result.taint = taint;
        self.give(want, 0, &result);
    }

    pub(super) fn coroutine(&mut self, name: &str, want: &Want) {
        let turns = self.turns;
        match name {
            "coroutine.create" | "coroutine.wrap" => {
                let made = self.object(ObjectKind::Coroutine(self.now));
                self.coroutines.insert(self.now, want.at);
                if let Some(body) = want.argument(0) {
                    let body = self.read(body);
                    let taint = self.scalar(&body);
                    let to = self.get(made).unknown;
                    self.add(to, &body);
                    self.may_raise(want.at, &taint);
                }
                self.give(want, 0, &Cell::object(made));
            }
            "coroutine.resume" => {
                let Some(which) = want.argument(0) else { return };
                let cell = self.read(which);
                let control = self.helper(want.part(70));
                let (outside, taint) = (self.read(want.at.control).taint, self.scalar(&cell));
                self.add_taint(control, &outside);
                self.add_taint(control, &taint);
                let (fixed, rest) = want.skip(1);
                let mut inner = Want { fixed, rest, ..want.clone() };
                inner.at.control = control;
                for object in &cell.objects {
                    if let ObjectKind::Coroutine(made_by) = self.kind(*object) {
                        self.resume(*object, made_by, &inner, true);
                    }
                }
                self.may_raise(want.at, &taint);
            }
            "coroutine.yield" => {
                let (yielded, resumed) = (self.yielded, self.resumed);
                for node in want.fixed.iter().copied().chain(want.rest) {
                    let cell = self.read(node);
                    self.add(yielded, &cell);
                }
                let decides = self.decides(want.at);
                let stops = self.read(want.at.stop).taint;
                self.add_taint(turns, &decides);
                self.add_taint(turns, &stops);
                let mut back = self.read(resumed);
                back.taint.add(&self.read(turns).taint);
                back.add_value(&Cell::unknown(NIL));
                self.give_all(want, &back);
            }
            _ => {
                let decides = self.decides(want.at);
                self.add_taint(turns, &decides);
                let (mut taint, objects) = self.everything_in(want);
                taint.add(&self.read(turns).taint);
                let mut result = Cell::unknown(ANY);
                result.taint = taint;
                for object in objects {
                    result.add_value(&Cell::object(object));
                }
                if name == "coroutine.running" {
                    let made: Vec<RuleId> = self.coroutines.keys().copied().collect();
                    for by in made {
                        let object = self.object(ObjectKind::Coroutine(by));
                        result.add_value(&Cell::object(object));
                    }
                }
                self.may_raise(want.at, &taint);
                self.give_all(want, &result);
            }
        }
    }

    /// Resumes a coroutine: the whole body, as the analysis does not know where it yields.
    pub(super) fn resume(&mut self, coroutine: ObjectId, made_by: RuleId, want: &Want, has_flag: bool) {
        let turns = self.turns;
        let decides = self.decides(want.at);
        self.add_taint(turns, &decides);
        let resumed = self.resumed;
        for node in want.fixed.iter().copied().chain(want.rest) {
            let cell = self.read(node);
            self.add(resumed, &cell);
        }
        let body = self.get(coroutine).unknown;
        let failing = self.failing(want);
        let control = self.helper(want.part(71));
        let (turns_taint, outside) = (self.read(turns).taint, self.read(want.at.control).taint);
        self.add_taint(control, &turns_taint);
        self.add_taint(control, &outside);
        let results: Vec<Node> = (0..4).map(|place| self.helper(want.part(72 + place))).collect();
        let more = self.helper(want.part(76));
        let inner = Want {
            results,
            more: Some(more),
            before: failing,
            at: At { stop: failing, control, ..want.at },
            guard: Some(want.at.stop),
            factor: Factor::Never,
            tag: want.part(77),
            ..want.clone()
        };
        let functions = self.read(body);
        for object in &functions.objects {
            match self.kind(*object) {
                ObjectKind::Closure(..) => self.enter(*object, &inner, made_by),
                _ => self.apply(*object, &Want { factor: Factor::Once, ..inner.clone() }),
            }
        }
        let mut taint = self.read(failing).taint;
        taint.add(&self.scalar(&functions));
        self.add_taint(turns, &taint);
        taint.add(&self.read(turns).taint);
        self.may_raise(want.at, &taint);
        let (yielded, raised) = (self.yielded, self.raised);
        let mut other = self.read(yielded);
        other.add(&self.read(raised));
        other.add(&Cell::unknown(ANY));
        other.taint.add(&taint);
        let first = usize::from(has_flag);
        if has_flag {
            let mut flag = Cell::unknown(BOOL);
            flag.taint = taint;
            self.give(want, 0, &flag);
        }
        for (place, node) in inner.results.iter().chain(&inner.more).enumerate() {
            let mut cell = self.read(*node);
            let in_it = self.scalar(&cell);
            self.add_taint(turns, &in_it);
            cell.add(&other);
            self.give(want, place + first, &cell);
        }
    }
}
