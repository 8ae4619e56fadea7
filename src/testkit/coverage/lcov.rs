//! Coverage in the tracefile form of LCOV.

use std::fmt::Write as _;

use super::{Coverage, PlanCoverage};

impl Coverage {
    /// One section a plan: `DA` counts the runs of the plan in which a line ran; each place that calls a
    /// tool is a block of two branches in `BRDA`, the calls that succeeded and those that failed.
    #[must_use]
    pub fn to_lcov(&self) -> String {
        let mut text = String::new();
        for plan in &self.plans {
            section(plan, &mut text);
        }
        text
    }
}

fn section(plan: &PlanCoverage, text: &mut String) {
    let name: String = plan.plan.chars().filter(|character| !character.is_control()).collect();
    let _ = writeln!(text, "TN:\nSF:{name}");
    let mut taken = 0;
    for (block, site) in plan.sites.iter().enumerate() {
        for (branch, count) in [site.calls - site.failures, site.failures].into_iter().enumerate() {
            let shown = if site.calls == 0 { "-".to_owned() } else { count.to_string() };
            let _ = writeln!(text, "BRDA:{},{block},{branch},{shown}", site.line);
            taken += usize::from(count > 0);
        }
    }
    if !plan.sites.is_empty() {
        let _ = writeln!(text, "BRF:{}\nBRH:{taken}", plan.sites.len() * 2);
    }
    for (line, runs) in &plan.lines {
        let _ = writeln!(text, "DA:{line},{runs}");
    }
    let (run, total) = plan.lines_run();
    let _ = writeln!(text, "LF:{total}\nLH:{run}\nend_of_record");
}
