//! The check of plans, with types: the cost of a plan once its thread has loaded the declarations of the tools.

use std::hint::black_box;

use criterion::{BatchSize, Criterion};
use luaplan::base::Value;
use luaplan::catalog::Catalog;
use luaplan::plan::{CheckInput, check, check_with};

use crate::parts::{bare_lua, limits};

const PLAN: &str = include_str!("check_plan.lua");

pub(crate) fn bench(criterion: &mut Criterion) {
    assert_eq!(PLAN.lines().count(), 40);
    let manifests = ["query_db", "fetch_url", "transform_data", "send_email", "call_llm"].map(|name| {
        let path = format!("{}/tools/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        luaplan::catalog::read_manifest(&std::fs::read_to_string(&path).unwrap(), &path).unwrap()
    });
    let catalog: Catalog = manifests.into_iter().collect();
    let limits = limits();
    let report = check(PLAN, "plan.lua", &catalog, &limits);
    assert!(report.is_ok(), "{:?}", report.findings);
    let mut group = criterion.benchmark_group("check");
    group.bench_function("plan_of_40_lines", |bencher| {
        bencher.iter(|| black_box(check(PLAN, "plan.lua", &catalog, &limits)));
    });
    let context = Value::from_json_text(
        r#"{"since": "2025-01-01", "to": "ops@example.com", "users": [{"id": 1, "name": "Ada"}, {"id": 2}]}"#,
    )
    .unwrap();
    group.bench_function("plan_of_40_lines_and_its_context", |bencher| {
        let input = CheckInput {
            source: PLAN,
            name: "plan.lua",
            catalog: &catalog,
            limits: &limits,
            context: Some(&context),
            task: None,
            results: &[],
        };
        bencher.iter(|| black_box(check_with(&input)));
    });
    // Every line again in functions of its own, ten times over.
    let body = PLAN.replace("function run(", "local function part(");
    let long = (0..10).map(|_| format!("do\n{body}\nend\n")).collect::<String>() + PLAN;
    assert!(check(&long, "plan.lua", &catalog, &limits).is_ok());
    group.bench_function("plan_of_460_lines", |bencher| {
        bencher.iter(|| black_box(check(&long, "plan.lua", &catalog, &limits)));
    });
    // The time Lua takes to compile the same text.
    group.bench_function("reference_lua_compiles", |bencher| {
        let lua = bare_lua();
        bencher.iter_batched(
            || (),
            |()| lua.load(PLAN).into_function().unwrap(),
            BatchSize::NumIterations(64),
        );
    });
    group.finish();
}
