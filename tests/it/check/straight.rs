//! Correct plans in the straight styles that models write: nothing is found in them but what is marked as advice that
//! is right, and each runs to success on the mocks beside them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use luaplan::base::{RunId, SystemClock, SystemRandomness, Value};
use luaplan::engine::{DriveRequest, drive};
use luaplan::journal::{MemoryJournal, Redactor, RunLog};
use luaplan::testkit::MockTools;

use super::corpus::{checked, plans, shown, tools};
use super::{cases, limits};

/// The folder of the corpus, and of the file that answers its calls.
const FOLDER: &str = "straight";

#[test]
fn nothing_is_found_in_straight_plans() {
    let (plans, catalog) = (plans(FOLDER), tools());
    assert!(plans.len() >= 200, "only {} plans", plans.len());
    let mut wrong = String::new();
    for plan in &plans {
        let found: Vec<_> = checked(plan, &catalog).findings;
        wrong.extend(found.iter().filter(|finding| !plan.is_marked(finding)).map(|it| shown(plan, it)));
    }
    assert!(wrong.is_empty(), "in {} plans:\n{wrong}", plans.len());
}

#[test]
fn straight_plans_differ() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for plan in plans(FOLDER) {
        // Names and texts taken away, two plans of one form are the same.
        let form: String = plan.source.chars().filter(|c| !c.is_alphanumeric()).collect();
        if let Some(other) = seen.insert(form, plan.name.clone()) {
            panic!("{} has the form of {other}", plan.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn straight_plans_run_to_success_on_mocks() {
    let catalog = Arc::new(tools());
    let mut wrong = String::new();
    for plan in &plans(FOLDER) {
        let Some(accepted) = checked(plan, &catalog).plan else {
            let _ = writeln!(wrong, "{}: refused by the check", plan.name);
            continue;
        };
        let mocks = MockTools::from_file(&cases().join(FOLDER).join("mocks.json"), &catalog).unwrap();
        let log = RunLog::new(
            RunId::generate(),
            Arc::new(MemoryJournal::default()),
            Arc::new(SystemClock),
            Arc::new(SystemRandomness),
            Arc::new(Redactor::without_secrets()),
            Vec::new(),
        );
        let context = plan.context.clone().unwrap_or_else(|| Value::from_json_text("{}").unwrap());
        let names = catalog.names().map(str::to_owned).collect();
        let request = DriveRequest::new(accepted, context, names, limits());
        let outcome = drive(request, &*mocks.handler(), &log).await;
        if let Some(error) = outcome.error() {
            let _ = writeln!(wrong, "{}: {error}", plan.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
