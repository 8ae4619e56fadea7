//! The analysis and preview of a plan with twenty calls.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::Criterion;
use luaplan::catalog::Catalog;
use luaplan::plan::check;
use luaplan::plan::draw::{Graph, GraphFormat};
use luaplan::plan::preview::{PreviewOptions, preview};

use crate::parts::limits;

const PLAN: &str = include_str!("twenty_calls.lua");

pub(crate) fn bench(criterion: &mut Criterion) {
    let manifests = ["query_db", "fetch_url", "transform_data", "send_email", "call_llm"].map(|name| {
        let path = format!("{}/tools/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        luaplan::catalog::read_manifest(&std::fs::read_to_string(&path).unwrap(), &path).unwrap()
    });
    let catalog: Catalog = manifests.into_iter().collect();
    let plan = check(PLAN, "plan.lua", &catalog, &limits()).plan.unwrap();
    let always = BTreeMap::new();
    let options = PreviewOptions { tool_calls_max: 100, context: None, always: &always, agents: &[] };
    let found = preview(&plan, &catalog, options);
    assert_eq!(found.calls.len(), 20);
    let mut group = criterion.benchmark_group("explain");
    group.bench_function("preview_of_twenty_calls", |bencher| {
        bencher.iter(|| black_box(preview(&plan, &catalog, options)));
    });
    group.bench_function("svg_of_twenty_calls", |bencher| {
        bencher.iter(|| black_box(Graph::of(&found).draw(GraphFormat::Svg)));
    });
    group.finish();
}
