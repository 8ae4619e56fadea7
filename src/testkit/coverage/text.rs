//! Coverage for people.

use std::fmt::Write as _;

use super::{Coverage, PlanCoverage};

/// How wide a row of stretches may be before the rest is only counted.
const STRETCHES_SHOWN: usize = 12;

impl Coverage {
    /// A table of the plans, then the call sites of each that no test reached in both ways.
    #[must_use]
    pub fn to_text(&self) -> String {
        let width = self.plans.iter().map(|plan| plan.plan.chars().count()).max().unwrap_or(0).max(4);
        let mut text = format!("coverage\n  {:<width$}    lines          not run\n", "plan");
        for plan in &self.plans {
            let (run, total) = plan.lines_run();
            let share = super::percent(run, total);
            let counts = format!("{run}/{total}");
            let not_run = stretches(plan);
            let _ = writeln!(text, "  {:<width$}  {share:>5.1} %  {counts:<7}  {not_run}", plan.plan);
        }
        for plan in &self.plans {
            sites(plan, &mut text);
        }
        let (run, total) = self.lines_run();
        let _ = writeln!(text, "{:.1} % of lines ({run} of {total})", self.percent());
        text
    }
}

/// `7, 12-15`.
fn stretches(plan: &PlanCoverage) -> String {
    let all = plan.not_run();
    let shown = all.iter().take(STRETCHES_SHOWN).map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if all.len() > STRETCHES_SHOWN {
        let _ = write!(text, ", and {} more", all.len() - STRETCHES_SHOWN);
    }
    if all.is_empty() { "-".to_owned() } else { text }
}

fn sites(plan: &PlanCoverage, text: &mut String) {
    if plan.sites.is_empty() {
        return;
    }
    let _ = writeln!(text, "calls of {}", plan.plan);
    let width = plan.sites.iter().map(|site| site.tool.chars().count()).max().unwrap_or(0);
    for site in &plan.sites {
        let counts = match (site.calls, site.failures) {
            (0, _) => String::new(),
            (calls, failures) => format!(" ({calls}, failed {failures})"),
        };
        let _ = writeln!(text, "  line {:<4} {:<width$}  {}{counts}", site.line, site.tool, site.state());
    }
}
