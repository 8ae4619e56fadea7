//! The most times something happens: the product of loops and calls.

use std::collections::HashMap;

use super::solver::Solver;
use super::state::{Factor, FrameId, Key, ObjectKind};
use super::value::{Constant, NUMBER, TEXT};

/// `retry` refuses more attempts.
const ATTEMPTS_MAX: u64 = 10;

/// A maximum, or no bound.
pub(super) type Bound = Option<u64>;

fn times(one: Bound, other: Bound) -> Bound {
    match (one, other) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (Some(one), Some(other)) => one.checked_mul(other),
        _ => None,
    }
}

fn plus(one: Bound, other: Bound) -> Bound {
    one?.checked_add(other?)
}

impl Solver<'_> {
    /// The most calls of each site, for a plan that starts in the frames of `roots`.
    pub(super) fn bounds(&self, roots: &[FrameId]) -> Vec<Bound> {
        let runs = self.runs(roots);
        let mut bounds = vec![Some(0); self.sites.len()];
        let mut counted: HashMap<(FrameId, u32, u32), Bound> = HashMap::new();
        for used in &self.uses {
            let often = times(self.repeated(used.loops), self.factor(&used.factor));
            let key = (used.from, used.site, used.loops);
            let known = counted.entry(key).or_insert(Some(0));
            *known = plus(*known, often);
        }
        for ((frame, site, _), often) in counted {
            let run = runs.get(&frame).copied().unwrap_or(Some(0));
            if let Some(bound) = bounds.get_mut(site as usize) {
                *bound = plus(*bound, times(run, often));
            }
        }
        bounds
    }

    /// How often each frame runs.
    fn runs(&self, roots: &[FrameId]) -> HashMap<FrameId, Bound> {
        let mut incoming: HashMap<FrameId, Vec<(FrameId, Bound)>> = HashMap::new();
        for link in &self.links {
            let often = times(self.repeated(link.loops), self.factor(&link.factor));
            incoming.entry(link.to).or_default().push((link.from, often));
        }
        let mut runs = HashMap::new();
        for frame in 0..u32::try_from(self.frames.len()).unwrap_or(0) {
            self.run_of(frame, roots, &incoming, &mut runs, &mut Vec::new());
        }
        runs
    }

    fn run_of(
        &self,
        frame: FrameId,
        roots: &[FrameId],
        incoming: &HashMap<FrameId, Vec<(FrameId, Bound)>>,
        runs: &mut HashMap<FrameId, Bound>,
        path: &mut Vec<FrameId>,
    ) -> Bound {
        if let Some(known) = runs.get(&frame) {
            return *known;
        }
        const PATH_MAX: usize = 400;
        if path.contains(&frame) || path.len() > PATH_MAX {
            return None;
        }
        path.push(frame);
        let mut bound = Some(roots.iter().filter(|root| **root == frame).count() as u64);
        for (from, often) in incoming.get(&frame).into_iter().flatten() {
            let outer = self.run_of(*from, roots, incoming, runs, path);
            bound = plus(bound, times(outer, *often));
        }
        path.pop();
        runs.insert(frame, bound);
        bound
    }

    fn repeated(&self, loops: u32) -> Bound {
        let mut bound = Some(1);
        let mut at = loops;
        while at != 0 {
            let (outer, factor) = self.loops.get(at as usize)?;
            bound = times(bound, self.factor(factor));
            at = *outer;
        }
        bound
    }

    fn factor(&self, factor: &Factor) -> Bound {
        match factor {
            Factor::Never => Some(0),
            Factor::Once => Some(1),
            Factor::Unbounded => None,
            Factor::Numeric(limits) => self.numeric(limits),
            Factor::Items(list) => self.items(*list),
            Factor::Iterated(iterator, state) => {
                let iterator = self.peek(*iterator);
                let plain = iterator.objects.iter().all(
                    |object| matches!(&self.get(*object).kind, ObjectKind::Builtin(name) if matches!(&**name, "next" | "ipairs next")),
                );
                if plain && !iterator.objects.is_empty() { self.items(*state) } else { None }
            }
            Factor::Retries(retries) => {
                let Some(numbers) = self.integers(*retries) else { return Some(ATTEMPTS_MAX) };
                let most = numbers.into_iter().max().unwrap_or(0);
                Some(u64::try_from(most).unwrap_or(0).saturating_add(1).min(ATTEMPTS_MAX))
            }
            Factor::Attempts(attempts) => {
                let whole = self.integers(*attempts).and_then(|numbers| numbers.into_iter().max());
                Some(
                    whole
                        .and_then(|most| u64::try_from(most).ok())
                        .map_or(ATTEMPTS_MAX, |most| most.min(ATTEMPTS_MAX)),
                )
            }
        }
    }

    fn integers(&self, node: u32) -> Option<Vec<i64>> {
        let cell = self.peek(node);
        if cell.unknown & (NUMBER | TEXT) != 0 || !cell.objects.is_empty() {
            return None;
        }
        let numbers = cell.constants.iter().map(|constant| match constant {
            Constant::Int(number) => Some(*number),
            _ => None,
        });
        numbers.collect()
    }

    fn numeric(&self, limits: &[u32; 3]) -> Bound {
        let [starts, ends, steps] = limits.map(|limit| self.integers(limit));
        let mut most = 0;
        for start in starts? {
            for end in ends.as_ref()? {
                for step in steps.as_ref()? {
                    let (start, end, step) = (i128::from(start), i128::from(*end), i128::from(*step));
                    if step == 0 {
                        continue;
                    }
                    let count = ((end - start) / step + 1).max(0);
                    // A truncated negative quotient would count one round where there is none.
                    let none = if step > 0 { start > end } else { start < end };
                    most = most.max(if none { 0 } else { u64::try_from(count).ok()? });
                }
            }
        }
        Some(most)
    }

    /// The most entries of the tables that a node may be.
    fn items(&self, node: u32) -> Bound {
        let cell = self.peek(node);
        let mut most = 0;
        for object in &cell.objects {
            let object = self.get(*object);
            let written = object.fields.iter().filter(|(key, node)| {
                matches!(key, Key::Int(_) | Key::Text(_)) && *self.peek(**node) != Default::default()
            });
            let metatable = !self.peek(object.metatable).objects.is_empty();
            if !object.fixed || metatable || !matches!(object.kind, ObjectKind::Table(..)) {
                return None;
            }
            most = most.max(written.count() as u64);
        }
        Some(most)
    }
}
