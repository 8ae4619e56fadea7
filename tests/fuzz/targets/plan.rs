//! Any text as a plan: the check never falls over, what it lets pass compiles, and what runs ends.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use luaplan::base::{ErrorCode, Value};
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::plan::check;
use luaplan::support::{assert_not_ours, check_limits, run};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let mut catalog = Catalog::default();
    for spec in builtin_manifests().expect("the manifests") {
        catalog.insert(spec);
    }
    catalog
});

fuzz_target!(|data: &[u8]| {
    let source = String::from_utf8_lossy(data);
    let report = check(&source, "plan.lua", &CATALOG, &check_limits());
    for finding in &report.findings {
        assert!(!finding.message.is_empty() && finding.line as usize <= source.lines().count() + 1);
    }
    let stopped = run(&source, &Value::Null);
    assert_not_ours(&stopped);
    if let (true, Err(error)) = (report.is_ok(), &stopped.result) {
        // What a plan raises may quote anything; a source that does not compile has its own code.
        assert_ne!(error.code(), ErrorCode::PlanSyntax, "the check let pass: {error}");
    }
});
