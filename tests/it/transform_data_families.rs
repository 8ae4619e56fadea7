//! Hostile templates by families: each filter with each argument that could make it large, each construct that
//! could run on, each way out of a value. A call ends with a text within its cap or with a code.
use luaplan::base::Value;
use luaplan::tools::transform_data::{TransformData, TransformDataSettings};
use serde_json::json;

use crate::transform_data_parts::{call, spec};

const OUTPUT_MAX: u64 = 64 * 1024;

/// The templates of the file: a line with `FILTER` stands for one with each of the filters.
fn templates() -> Vec<String> {
    let text = include_str!("../cases/transform_data/hostile.txt");
    let lines = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let filters: Vec<&str> =
        lines().filter_map(|line| line.strip_prefix("filters: ")).flat_map(|line| line.split(' ')).collect();
    lines()
        .filter(|line| !line.starts_with("filters: "))
        .flat_map(|line| match line.contains("FILTER") {
            true => filters.iter().map(|filter| line.replace("FILTER", filter)).collect(),
            false => vec![line.to_owned()],
        })
        .collect()
}

#[tokio::test]
async fn every_template_ends_within_its_cap_or_with_a_code() {
    let settings = TransformDataSettings { fuel: 20_000, output_bytes_max: OUTPUT_MAX, ..Default::default() };
    let tool = TransformData::new(spec(), settings, ".".as_ref()).unwrap();
    let input = json!([{"a": "x".repeat(500), "n": 7}, {"a": "%1000000000d", "n": null}, {"a": "{{ 7 * 191 }}", "n": -1.5}]);
    let templates = templates();
    assert!(templates.len() >= 264, "the case file lost templates: {}", templates.len());
    let mut refused = 0;
    for template in &templates {
        match call(&tool, Value::from_json(input.clone()).unwrap(), template, "text").await {
            Ok(value) => {
                let text = value.as_str().unwrap();
                assert!(text.len() as u64 <= OUTPUT_MAX, "{template} wrote {} bytes", text.len());
                assert!(!text.contains("1337"), "{template}: data was run as a template");
                assert!(!text.contains("root:"), "{template}: {text}");
            }
            Err(failure) => {
                refused += 1;
                let codes = ["template_failed", "result_too_large", "template_unknown"];
                assert!(codes.contains(&failure.code.as_str()), "{template}: {failure:?}");
                assert!(!failure.retryable, "{template}");
            }
        }
    }
    assert!(refused >= 100, "only {refused} were refused");
}
