//! Which lines and call sites of a plan its tests reach.
//!
//! A statement stands for the line it starts on. It ran if any instruction of its own did; the
//! statements inside its blocks and functions count separately.

mod lcov;
mod lines;
mod sites;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use luaplan_catalog::Catalog;

use super::probe::ObservedRun;
use lines::Statement;
pub(super) use sites::Site;

/// What the tests of one plan reached.
#[derive(Debug, Clone)]
pub struct PlanCoverage {
    /// The plan's file, named as test files are.
    pub plan: String,
    /// For each line that can run, in how many runs of the plan it did.
    pub lines: BTreeMap<u32, u64>,
    /// Where the plan calls tools.
    pub(super) sites: Vec<Site>,
}

/// What the tests of all plans reached.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// One for each plan, in the order of their tests.
    pub plans: Vec<PlanCoverage>,
}

/// Collects what runs of one plan reach.
#[derive(Debug)]
pub(super) struct Gatherer {
    statements: Vec<Statement>,
    coverage: PlanCoverage,
}

impl Gatherer {
    /// For a plan that has not run yet. A source that is not Lua has no lines that can run.
    pub(super) fn new(plan: &str, source: &str, catalog: &Catalog) -> Self {
        let (statements, sites) = match luaplan_syntax::syntax_tree(source) {
            Ok(tree) => (lines::statements(&tree, source), sites::sites(&tree, source, catalog)),
            Err(_) => (Vec::new(), Vec::new()),
        };
        let lines = statements.iter().map(|statement| (statement.line, 0)).collect();
        Self { statements, coverage: PlanCoverage { plan: plan.to_owned(), lines, sites } }
    }

    /// Adds one run.
    pub(super) fn add(&mut self, run: &ObservedRun) {
        let ran: BTreeSet<u32> = self
            .statements
            .iter()
            .filter(|statement| statement.has_run(&run.lines))
            .map(|statement| statement.line)
            .collect();
        for line in ran {
            *self.coverage.lines.entry(line).or_default() += 1;
        }
        for call in &run.calls {
            sites::count(&mut self.coverage.sites, call);
        }
    }

    /// The coverage of all runs.
    pub(super) fn finish(self) -> PlanCoverage {
        self.coverage
    }
}

impl PlanCoverage {
    /// How many lines ran, of how many that can.
    #[must_use]
    pub fn lines_run(&self) -> (usize, usize) {
        (self.lines.values().filter(|runs| **runs > 0).count(), self.lines.len())
    }

    /// The lines that did not run, as ranges of first and last line. Lines that cannot run (an empty line,
    /// an `end`) do not split a range.
    #[must_use]
    pub fn not_run(&self) -> Vec<(u32, u32)> {
        let mut stretches: Vec<(u32, u32)> = Vec::new();
        let mut is_open = false;
        for (line, runs) in &self.lines {
            match (*runs, stretches.last_mut()) {
                (0, Some(last)) if is_open => last.1 = *line,
                (0, _) => stretches.push((*line, *line)),
                _ => {}
            }
            is_open = *runs == 0;
        }
        stretches
    }

    fn to_json(&self) -> Json {
        let (run, total) = self.lines_run();
        let not_run: Vec<Json> =
            self.not_run().into_iter().map(|(first, last)| json!([first, last])).collect();
        let sites: Vec<Json> = self.sites.iter().map(Site::to_json).collect();
        json!({
            "plan": self.plan,
            "lines": {"total": total, "run": run, "percent": percent(run, total), "not_run": not_run},
            "calls": sites,
        })
    }
}

impl Coverage {
    /// Lines that ran in hundredths of those that can, over all plans; 100 where none can.
    #[must_use]
    pub fn percent(&self) -> f64 {
        let (run, total) = self.lines_run();
        percent(run, total)
    }

    fn lines_run(&self) -> (usize, usize) {
        let each = self.plans.iter().map(PlanCoverage::lines_run);
        each.fold((0, 0), |(run, total), plan| (run + plan.0, total + plan.1))
    }

    /// `{"lines": {"total","run","percent"}, "calls": {"total","called","failed"}, "plans": [{"plan",
    /// "lines": {"total","run","percent","not_run": [[first,last]]}, "calls": [{"line","tool","calls",
    /// "failures","state"}]}]}`; the state is `never called`, `called` or `failed path taken`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let (run, total) = self.lines_run();
        let sites = || self.plans.iter().flat_map(|plan| &plan.sites);
        json!({
            "lines": {"total": total, "run": run, "percent": percent(run, total)},
            "calls": {
                "total": sites().count(),
                "called": sites().filter(|site| site.calls > 0).count(),
                "failed": sites().filter(|site| site.failures > 0).count(),
            },
            "plans": self.plans.iter().map(PlanCoverage::to_json).collect::<Vec<_>>(),
        })
    }
}

/// With one decimal, never rounded up to 100.
fn percent(run: usize, total: usize) -> f64 {
    if run >= total {
        return 100.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of lines are small")]
    let share = run as f64 * 1000.0 / total as f64;
    share.floor() / 10.0
}

#[cfg(test)]
mod tests;
