use std::path::Path;

use luaplan_catalog::{Catalog, load_folder};

use super::super::examples::{EXAMPLES, fitting};
use super::limits;

#[test]
fn every_worked_example_passes_the_check_against_the_shipped_tools() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
    let catalog: Catalog = load_folder(&folder).unwrap_or_default().into_iter().collect();
    for example in EXAMPLES {
        let Some(missing) = example.tools.iter().find(|tool| catalog.get(tool).is_none()) else {
            let report = luaplan_plan::check(example.source, example.name, &catalog, &limits());
            assert_eq!(report.findings, [], "{}", example.name);
            continue;
        };
        // Only a build without all built-in tools may leave an example out.
        assert!(!folder.join(format!("{missing}.toml")).exists(), "{} lacks {missing}", example.name);
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: example {}, because there is no manifest of {missing}", example.name);
        }
    }
}

#[test]
fn an_example_is_shown_only_where_its_tools_are() {
    let names: Vec<&str> = fitting(&super::catalog()).map(|example| example.name).collect();
    assert_eq!(names, ["retry_parallel"]);
    assert_eq!(fitting(&Catalog::default()).count(), 0);
}
