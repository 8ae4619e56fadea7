//! `transform_data` against templates and data that mean harm.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;

use luaplan::base::Value;
use luaplan::tools::transform_data::{TransformData, TransformDataSettings};
use serde_json::{Value as Json, json};

use crate::transform_data_parts::{call, failure, spec, text, tool, tool_with_folder};

/// Inputs that run script in a page that does not escape them.
const SCRIPTS: [&str; 12] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "\" autofocus onfocus=\"alert(1)",
    "</td></tr></table><script>alert(1)</script>",
    "<!--<img src=\"--><img src=x onerror=alert(1)//\">",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ 7 * 7 }}{% include 'x' %}",
    "<ScRiPt>alert(1)</sCrIpT>",
    "\u{0}<script>alert(1)</script>",
    "<a href=\"javascript:alert(1)\">x</a>",
];

#[tokio::test]
async fn no_value_escapes_from_html() {
    let tool = tool();
    let inline = "<table title=\"{{ rows[0].a }}\"><tr class='{{ rows[0].a }}'>{% for r in rows %}<td>{{ r.a }}{{ r }}{{ r|items|list }}\
                  {{ r.a|upper }}{{ r.a ~ r.a }}{{ [r.a]|join(r.a) }}{{ r.a|e }}</td>{% endfor %}</table>";
    for script in SCRIPTS {
        let input = json!([{"a": script, script: "key"}]);
        for template in ["", "summary_email", inline] {
            let html = text(&tool, input.clone(), template, "html").await;
            // With the markup that is ours taken away, none may be left.
            let ours = text(&tool, json!([{"a": "x", "y": "key"}]), template, "html").await;
            for (mark, allowed) in ["<", "\"", "'"].map(|mark| (mark, ours.matches(mark).count())) {
                assert!(html.matches(mark).count() <= allowed, "{mark} of {script} got through in {html}");
            }
            assert!(!html.contains("49"), "data was run as a template: {html}");
        }
    }
}

#[tokio::test]
async fn markup_in_data_stays_text_in_markdown() {
    let tool = tool();
    let input = json!([{"a": "<script>x</script> [link](http://evil) **bold** | pipe"}]);
    for template in ["", "{{ rows[0].a }}", "summary_email"] {
        let markdown = text(&tool, input.clone(), template, "markdown").await;
        assert!(markdown.contains("\\<script> ".trim_end()) && markdown.contains("\\[link\\]"), "{markdown}");
        assert!(markdown.contains("\\*\\*bold\\*\\* \\| pipe"), "{markdown}");
    }
}

/// Templates that grow or run without end where only instructions are counted.
fn bombs() -> Vec<String> {
    let doubling = |count: usize, step: &str| {
        format!("{{% set a = rows[0].a %}}{}{{{{ a|length }}}}", step.repeat(count))
    };
    let nested = |depth: usize| {
        format!("{}x{}", "{% for x in range(1000) %}".repeat(depth), "{% endfor %}".repeat(depth))
    };
    vec![
        "{% for i in range(1000000000) %}x{% endfor %}".to_owned(),
        "{% for i in range(100000) %}{% for j in range(100000) %}{{ i }}{% endfor %}{% endfor %}".to_owned(),
        nested(30),
        format!("{}{}", "{% if true %}".repeat(200), "{% endif %}".repeat(200)),
        "{{ 'a' * 1000000000 }}".to_owned(),
        "{{ 'a' * 90000000 }}".to_owned(),
        "{{ [1] * 90000000 }}".to_owned(),
        "{{ 90000000 * 'a' }}".to_owned(),
        doubling(60, "{% set a = a ~ a %}"),
        doubling(60, "{% set a = a + a %}"),
        format!("{{% set a = [rows] %}}{}{{{{ a }}}}", "{% set a = [a, a] %}".repeat(60)),
        format!("{{% set a = [1] %}}{}{{{{ a == a }}}}", "{% set a = [a, a] %}".repeat(60)),
        format!("{{% set a = [1] %}}{}{{{{ a|tojson }}}}", "{% set a = {'x': a, 'y': a} %}".repeat(60)),
        format!("{{% set a = [1] %}}{}{{{{ a|length }}}}", "{% set a = a + a %}".repeat(60)),
        format!("{{% set a = 'x' %}}{}{{{{ a|length }}}}", "{% set a = a|replace('x', 'xxxxxxxxxx') %}".repeat(30)),
        format!("{{% set a = 'x' %}}{}{{{{ a|length }}}}", "{% set a = [a, a]|join %}".repeat(60)),
        format!("{{{{ range(100000)|join('{}')|length }}}}", "x".repeat(20_000)),
        format!("{{{{ ('a' ~ 'a')|replace('', '{}')|replace('', '{}')|length }}}}", "x".repeat(9_000), "y".repeat(9_000)),
        "{% set ns = namespace(a='xxxxxxxxxxxxxxxx') %}{% for i in range(1000) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}".to_owned(),
        "{% set ns = namespace() %}{% set ns.self = ns %}{{ ns }}".to_owned(),
        "{% set ns = namespace() %}{% set ns.self = ns %}".to_owned(),
        "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}".to_owned(),
        "{% set ns = namespace(a=[]) %}{% for i in range(90000) %}{% set ns.a = [ns.a] %}{% endfor %}".to_owned(),
        "{{ [1, 2]|batch(1000000000, 'x') }}".to_owned(),
        "{{ [1, 2]|slice(1000000000) }}".to_owned(),
        "{{ 'a\nb'|indent(1000000000) }}".to_owned(),
        "{{ '%1000000000d'|format(1) }}".to_owned(),
        "{{ rows|map('format', 1)|list }}".to_owned(),
        "{{ rows|chain(rows)|list }}".to_owned(),
        "{{ rows|tojson(indent=1000000000) }}".to_owned(),
        "{{ range(100000)|map('replace', '', rows[0].a)|join|length }}".to_owned(),
        "{% for i in range(100000) %}{% if range(100000)|sort == range(100000)|list %}{% endif %}{% endfor %}".to_owned(),
        "{% for i in range(90000) %}{{ range(100000)|select('in', range(100000))|list|length }}{% endfor %}".to_owned(),
        "{% for i in range(90000) %}{{ 5 in range(100000) }}{{ 'x' in rows[0].a }}{% endfor %}".to_owned(),
        "{% for x in rows recursive %}{{ loop(rows) }}{% endfor %}".to_owned(),
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}".to_owned(),
        "{% set x %}{% for i in range(100000) %}{{ rows }}{% endfor %}{% endset %}".to_owned(),
        "{% filter upper %}{% for i in range(100000) %}{{ rows }}{% endfor %}{% endfilter %}".to_owned(),
        "{% call m() %}x{% endcall %}".to_owned(),
        "{% include 'summary_email.html.j2' %}{{ 1 }}".to_owned(),
        "{% extends 'summary_email.html.j2' %}{{ 1 }}".to_owned(),
        "{% import 'summary_email.html.j2' as x %}{{ 1 }}".to_owned(),
        "{% block a %}{{ 1 }}{% endblock %}".to_owned(),
        "{% autoescape false %}{{ 1 }}{% endautoescape %}".to_owned(),
        "{{ debug() }}".to_owned(),
        "{{ dict(a=1) }}".to_owned(),
        "{{ rows.append(1) }}".to_owned(),
        "{{ ''.__class__.__mro__ }}".to_owned(),
        "{{ lipsum.__globals__ }}".to_owned(),
        format!("{{% for i in range(100000) %}}{}{{% endfor %}}", "raw text ".repeat(3_000)),
        format!("{{{{ {}1{} }}}}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("{{{{ {}1{} }}}}", "[".repeat(10_000), "]".repeat(10_000)),
        "{{ ('a' * 90000000) ~ ('a' * 90000000) }}".to_owned(),
        "{{ (1 ~ 1) * 90000000 }}".to_owned(),
        "{{ (1,) * 90000000 }}".to_owned(),
        "{{ ([1] * 90000000) == ([1] * 90000000) }}".to_owned(),
        "{{ rows[0].a|default('a' * 90000000) }}".to_owned(),
        "{{ (rows[0].a ~ '') * 90000 }}".to_owned(),
        "{{ range(*range(100000)) }}".to_owned(),
        "x".repeat(40_000) + "{{ 1 }}",
    ]
}

#[tokio::test]
async fn a_bomb_ends_with_a_code_and_not_with_the_process() {
    // Less fuel than the default, so that the test is short.
    let settings = TransformDataSettings { fuel: 100_000, ..Default::default() };
    let tool = TransformData::new(spec(), settings, ".".as_ref()).unwrap();
    let input = json!([{"a": "x".repeat(1000)}, {"a": "%1000000000d"}]);
    for bomb in bombs() {
        let shown: String = bomb.chars().take(120).collect();
        let failure = match call(&tool, json_value(&input), &bomb, "text").await {
            Ok(value) => panic!("{shown} gave {} bytes", value.as_bytes().unwrap().len()),
            Err(failure) => failure,
        };
        let codes = ["template_failed", "result_too_large", "bad_arguments"];
        assert!(codes.contains(&failure.code.as_str()), "{shown}: {failure:?}");
        assert!(!failure.retryable, "{shown}");
        if failure.code == "result_too_large" {
            let seen = failure.details["observed"].to_json().as_u64().unwrap();
            assert!(seen < 3 * 1024 * 1024, "{shown} could write {seen} bytes");
        }
    }
}

#[tokio::test]
async fn deep_templates_do_not_exhaust_the_stack() {
    let tool = tool();
    for template in [
        format!("{{{{ {}x }}}}", "not ".repeat(8_000)),
        format!("{{{{ {}1 }}}}", "-".repeat(30_000)),
        format!("{{{{ x{} }}}}", ".a".repeat(15_000)),
        format!("{{{{ rows[0].a{} }}}}", "~1".repeat(16_000) + &"|upper".repeat(10)),
        format!("{{{{ 1{} }}}}", " if 1".repeat(5_000)),
        format!("{{{{ nothing{} }}}}", "|trim".repeat(6_000)),
        format!("{{{{ 1{} }}}}", "+1".repeat(16_000)),
        format!("{{{{ rows[0].a{} }}}}", "+rows[0].a".repeat(3_000)),
        format!("{{% set a = [1] %}}{}{{{{ a|length }}}}", "{% set a = [a] %}".repeat(1_500)),
        format!("{{% set a = [1] %}}{}", "{% set a = a + [1] %}".repeat(1_500)),
        format!("{{{{ rows{} }}}}", "|reverse".repeat(3_500)),
        format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 2 %}".repeat(2_500)),
    ] {
        let outcome = call(&tool, json_value(&json!([{"a": "x"}])), &template, "text").await;
        if let Err(failure) = outcome {
            let codes = ["template_failed", "result_too_large"];
            assert!(codes.contains(&failure.code.as_str()), "{}: {failure:?}", &template[..80]);
        }
    }
}

fn json_value(json: &Json) -> Value {
    Value::from_json(json.clone()).unwrap()
}

#[tokio::test]
async fn fuel_and_output_caps_say_the_limit_and_what_was_seen() {
    let settings = TransformDataSettings { fuel: 1_000, output_bytes_max: 100, ..Default::default() };
    let tool = TransformData::new(spec(), settings, ".".as_ref()).unwrap();
    let number =
        |failure: &luaplan::base::ToolFailure, name: &str| failure.details[name].to_json().as_i64().unwrap();
    let fuel = failure(&tool, json!([]), "{% for i in range(1000) %}{% endfor %}", "text").await;
    assert_eq!((fuel.code.as_str(), number(&fuel, "limit")), ("template_failed", 1_000));
    assert!(number(&fuel, "observed") > 1_000);
    for (template, format) in [
        ("{{ input }}", "text"),
        ("{{ input }}", "html"),
        ("", "json"),
        ("", "csv"),
        ("summary_email", "html"),
    ] {
        let output = failure(&tool, json!(["x".repeat(200)]), template, format).await;
        assert_eq!((output.code.as_str(), number(&output, "limit")), ("result_too_large", 100), "{template}");
        assert!(number(&output, "observed") > 100);
    }
}

#[tokio::test]
async fn a_template_of_the_folder_cannot_run_away_either() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("templates");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("loop.j2"), "{% include 'loop.j2' %}").unwrap();
    fs::write(folder.join("wide.j2"), "{% for i in range(100) %}{% include 'wider.j2' %}{% endfor %}")
        .unwrap();
    fs::write(folder.join("wider.j2"), "{% for i in range(100000) %}text text text text{% endfor %}")
        .unwrap();
    fs::write(folder.join("macro.j2"), "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").unwrap();
    fs::write(folder.join("out.j2"), "{% include '../secret.j2' %}").unwrap();
    fs::write(folder.join("etc.j2"), "{% include '/etc/passwd' %}").unwrap();
    fs::write(folder.join("big.j2"), vec![b'x'; 300 * 1024]).unwrap();
    fs::write(home.path().join("secret.j2"), "secret").unwrap();
    let tool = tool_with_folder(home.path());
    for (name, code) in [
        ("loop", "template_failed"),
        ("wide", "result_too_large"),
        ("macro", "template_failed"),
        ("out", "template_failed"),
        ("etc", "template_failed"),
        ("big", "template_unknown"),
    ] {
        assert_eq!(failure(&tool, json!({}), name, "").await.code, code, "{name}");
    }
}

#[tokio::test]
async fn input_that_is_too_deep_or_too_large_is_refused() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert_eq!(failure(&tool(), deep, "", "json").await.code, "value_too_deep");
    let large: Json = json!(vec!["x".repeat(1024 * 1024); 20]);
    assert_eq!(failure(&tool(), large, "{{ 1 }}", "").await.code, "value_too_large");
}

#[tokio::test]
async fn arguments_of_the_wrong_kind_are_refused() {
    let tool = tool();
    assert_eq!(failure(&tool, json!([]), "", "pdf").await.code, "bad_arguments");
    let list: Value = [("input", Value::Null), ("template", Value::Array(Vec::new()))].into_iter().collect();
    let outcome = luaplan::bus::Tool::call(&tool, crate::support::invocation(list)).await;
    assert_eq!(outcome.unwrap_err().code, "bad_arguments");
}
