//! A `run` that is not the plan's entry.

use super::{Plan, Raised};

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let mut writes: Vec<_> = plan.walk.writes.iter().filter(|write| write.name == "run").collect();
    writes.sort_by_key(|write| write.span);
    let mut found = Vec::new();
    let mut places = writes.iter();
    if places.next().is_some() {
        for again in places {
            found.push(Raised::warning(
                again.span,
                "`run` is assigned again; the plan's entry is what it is last",
                "define `run` once, and give other functions other names",
            ));
        }
        if let Some(local) = plan.walk.local_run {
            found.push(Raised::warning(
                local,
                "this local `run` hides the plan's entry of the same name",
                "give the local variable another name",
            ));
        }
    }
    found
}
