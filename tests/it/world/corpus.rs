//! Plans over a shop, right and with one fault each, held against the real database: `tests/cases/world`.
//!
//! `cargo test --test it world::corpus -- --nocapture` prints how many faults are found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use luaplan::app::config::{LoadOptions, load};
use luaplan::app::{App, AppParts, PlanOf};
use luaplan::base::Value;
use luaplan::plan::{Finding, Severity};
use serde::Deserialize;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::app_parts::environment;
use crate::postgres_support::Database;

/// Of the faults of these codes every one is found.
const WHOLE: [&str; 5] =
    ["sql_refused", "target_refused", "template_refused", "plan_bad_argument", "plan_wrong_kind"];

/// Findings that a right plan never has, however bad they are.
const OF_THE_WORLD: [&str; 7] = [
    "plan_target_refused",
    "plan_sql_refused",
    "plan_sql_unasked",
    "plan_template_refused",
    "plan_unknown_field",
    "plan_wrong_kind",
    "plan_bad_argument",
];

#[derive(Deserialize)]
struct Faults {
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    plan: String,
    find: String,
    replace: String,
    kind: String,
    code: String,
    why: String,
}

struct Plan {
    source: String,
    context: Option<Value>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn plans(folder: &Path) -> BTreeMap<String, Plan> {
    let mut plans = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(file).unwrap();
        for part in text.split("--- ").skip(1) {
            let (name, source) = part.split_once('\n').unwrap();
            let context = source.strip_prefix("-- context: ").map(|rest| rest.lines().next().unwrap());
            let context = context.map(|json| Value::from_json_text(json).unwrap());
            plans.insert(name.to_owned(), Plan { source: source.to_owned(), context });
        }
    }
    plans
}

async fn found(app: &App, source: &str, context: Option<&Value>) -> Vec<Finding> {
    let limits = &app.config().limits;
    let plan = PlanOf { tenant: "local", name: "plan", source, limits, context };
    app.plans().check_live_for(plan).await.unwrap().findings
}

#[tokio::test]
async fn right_plans_pass_and_faults_are_found() {
    let Some(database) = Database::new("plans over a shop").await else { return };
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let sql = std::fs::read_to_string(root().join("bench/planning/shop.sql")).unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    let cases = root().join("tests/cases/world");
    let home = tempfile::tempdir().unwrap();
    let mut surroundings = environment(home.path());
    surroundings.variables.insert("SHOP_DATABASE_URL".to_owned(), database.url());
    let options = LoadOptions { file: Some(cases.join("config.toml")), flags: Vec::new() };
    let loaded = load(&surroundings, &options).unwrap();
    let app = App::open_with(&loaded, &surroundings, AppParts::default()).await.unwrap();

    let plans = plans(&cases.join("right"));
    let mut wrong = Vec::new();
    for (name, plan) in &plans {
        for finding in found(&app, &plan.source, plan.context.as_ref()).await {
            let is_of_the_world = OF_THE_WORLD.contains(&finding.code.as_str());
            // That no database can look at such a statement is true of a plan that is right, too.
            let is_unknown = finding.message.contains("put together while the plan runs");
            if finding.severity == Severity::Error || (is_of_the_world && !is_unknown) {
                wrong.push(format!("{name}, line {}: {}: {}", finding.line, finding.code, finding.message));
            }
        }
    }

    let text = std::fs::read_to_string(cases.join("faults.toml")).unwrap();
    let Faults { fault: faults } = toml::from_str(&text).unwrap();
    let mut shares: BTreeMap<(String, String), (u32, u32)> = BTreeMap::new();
    let mut missed = Vec::new();
    for fault in &faults {
        let plan = &plans[&fault.plan];
        let source = plan.source.replacen(&fault.find, &fault.replace, 1);
        assert_ne!(source, plan.source, "{}: {}", fault.plan, fault.find);
        let findings = found(&app, &source, plan.context.as_ref()).await;
        let is_it = |finding: &&Finding| match fault.code.as_str() {
            "" => finding.severity == Severity::Error || finding.code == "plan_target_refused",
            // What no database need be asked about, such as a quote that is left open, is refused before.
            "sql_refused" if finding.message.contains("query_refused") => true,
            code => finding.code == code || finding.code == format!("plan_{code}"),
        };
        let is_found = findings.iter().any(|finding| is_it(&finding));
        let share = shares.entry((fault.kind.clone(), fault.code.clone())).or_default();
        *share = (share.0 + u32::from(is_found), share.1 + 1);
        if !is_found {
            let line = format!("{} `{}`: {}: {}", fault.code, fault.replace, fault.plan, fault.why);
            eprintln!("not found: {line}");
            if WHOLE.contains(&fault.code.as_str()) {
                missed.push(line);
            }
        }
    }
    for ((kind, code), (found, all)) in &shares {
        eprintln!("{kind:8} {code:20} {found} of {all}");
    }
    assert!(wrong.is_empty(), "{} plans that are right are not: {wrong:#?}", plans.len());
    assert!(missed.is_empty(), "{missed:#?}");
    database.cut_connections().await;
}
