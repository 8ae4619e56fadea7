use luaplan_catalog::{Catalog, builtin_manifests};

use super::super::examples::{EXAMPLES, fitting};
use super::limits;

#[test]
fn every_worked_example_passes_the_check_against_the_shipped_tools() {
    let catalog: Catalog = builtin_manifests().unwrap().into_iter().collect();
    for example in EXAMPLES {
        let report = luaplan_plan::check(example.source, example.name, &catalog, &limits());
        assert_eq!(report.findings, [], "{}", example.name);
    }
}

#[test]
fn an_example_is_shown_only_where_its_tools_are() {
    let names: Vec<&str> = fitting(&super::catalog()).iter().map(|example| example.name).collect();
    assert_eq!(names, ["retry_parallel"]);
    assert_eq!(fitting(&Catalog::default()).len(), 0);
}
