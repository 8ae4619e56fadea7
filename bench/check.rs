//! The check of a plan of 40 lines.

use std::hint::black_box;

use criterion::{BatchSize, Criterion};
use luaplan::catalog::Catalog;
use luaplan::plan::check;

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
    // What Lua takes to compile the same text.
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
