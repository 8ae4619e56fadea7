//! Filters that people expect in templates, case by case from a file.

use serde_json::{Value as Json, json};

use crate::transform_data_parts::{failure, text, tool, tool_with_folder};

fn input() -> Json {
    json!([
        {"name": "Ana", "total": 1234.5, "exact": "12345678901234567890.125", "at": "2026-11-21T09:05:00+02:00", "left": null},
        {"name": "Bo", "total": 80, "exact": "-0.005", "at": "2026-01-02", "left": 3},
        {"name": "Cy", "total": 0.125, "exact": "7", "at": "2026-03-04T05:06:07Z", "left": 0},
    ])
}

#[tokio::test]
async fn each_filter_gives_what_its_case_says() {
    let tool = tool();
    let mut cases = 0;
    for line in include_str!("../cases/transform_data/filters.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (template, expected) = line.split_once(" --> ").unwrap_or_else(|| panic!("no arrow: {line}"));
        cases += 1;
        match expected.strip_prefix("error: ") {
            Some(reason) => {
                let failure = failure(&tool, input(), template, "text").await;
                assert_eq!(failure.code, "template_failed", "{template}: {failure:?}");
                assert!(failure.message.contains(reason), "{template}: {}", failure.message);
            }
            None => assert_eq!(text(&tool, input(), template, "text").await, expected, "{template}"),
        }
    }
    assert!(cases >= 60, "the case file lost cases: {cases}");
}

#[tokio::test]
async fn templates_of_the_folder_have_them_too() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("templates")).unwrap();
    let template = "{% for r in rows|sort(attribute='total') %}{{ r.total|number(2) }} {{ r.at|date('%d.%m.') }} \
                    {{ r.name|truncate(2, end='') }};{% endfor %}";
    std::fs::write(home.path().join("templates/report.txt.j2"), template).unwrap();
    let written = text(&tool_with_folder(home.path()), input(), "report", "").await;
    assert_eq!(written, "0.13 04.03. Cy;80.00 02.01. Bo;1,234.50 21.11. An;");
}

#[tokio::test]
async fn what_a_filter_writes_is_escaped_for_the_format() {
    let tool = tool();
    let input = json!({"bad": "<b>", "n": 5});
    for template in
        ["{{ '%s'|format(bad) }}", "{{ '%s' % bad }}", "{{ '%s'|safe|format(bad) }}", "{{ bad|truncate(9) }}"]
    {
        assert_eq!(text(&tool, input.clone(), template, "html").await, "&lt;b&gt;", "{template}");
    }
    assert_eq!(text(&tool, input, "{{ n|number(1, thousands='<', decimal='<') }}", "html").await, "5&lt;0");
}
