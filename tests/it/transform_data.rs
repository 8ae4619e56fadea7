//! `transform_data` in each format, with and without templates.

use std::fs;

use luaplan::base::{ErrorCode, ToolFailure, Value};
use luaplan::tools::transform_data::{TransformData, TransformDataSettings};
use serde_json::{Value as Json, json};

use crate::transform_data_parts::{call, failure, spec, text, tool, tool_with_folder};

fn users() -> Json {
    json!([
        {"name": "Ana <Admin>", "email": "ana@example.com", "age": 41, "active": true},
        {"name": "Bo | Co", "email": null, "age": 35.5, "note": "line one\nline two"},
    ])
}

#[tokio::test]
async fn without_a_template_a_list_of_tables_becomes_a_table_in_every_format() {
    let tool = tool();
    assert_eq!(
        text(&tool, users(), "", "html").await,
        "<table>\n<thead><tr><th>name</th><th>email</th><th>age</th><th>active</th><th>note</th></tr></thead>\n<tbody>\n\
         <tr><td>Ana &lt;Admin&gt;</td><td>ana@example.com</td><td>41</td><td>true</td><td></td></tr>\n\
         <tr><td>Bo | Co</td><td></td><td>35.5</td><td></td><td>line one\nline two</td></tr>\n</tbody>\n</table>\n"
    );
    assert_eq!(
        text(&tool, users(), "", "markdown").await,
        "| name | email | age | active | note |\n| --- | --- | --- | --- | --- |\n\
         | Ana \\<Admin> | ana@example.com | 41 | true |  |\n| Bo \\| Co |  | 35.5 |  | line one line two |\n"
    );
    assert_eq!(
        text(&tool, users(), "", "").await,
        "name         email            age   active  note\n\
         Ana <Admin>  ana@example.com  41    true\n\
         Bo | Co                       35.5          line one line two\n"
    );
    assert_eq!(
        text(&tool, users(), "", "csv").await,
        "name,email,age,active,note\nAna <Admin>,ana@example.com,41,true,\nBo | Co,,35.5,,\"line one\nline two\"\n"
    );
    let json = text(&tool, users(), "", "json").await;
    assert!(json.starts_with("[\n  {\n    \"name\": \"Ana <Admin>\""), "{json}");
    assert_eq!(serde_json::from_str::<Json>(&json).unwrap(), users());
}

#[tokio::test]
async fn other_shapes_have_a_plain_form_too() {
    let tool = tool();
    assert_eq!(text(&tool, json!(["a<", 2]), "", "html").await, "<ul>\n<li>a&lt;</li>\n<li>2</li>\n</ul>\n");
    assert_eq!(text(&tool, json!(["a*", 2]), "", "markdown").await, "- a\\*\n- 2\n");
    assert_eq!(text(&tool, json!({"a": 1, "b": [1, 2]}), "", "text").await, "a: 1\nb: [1,2]\n");
    assert_eq!(
        text(&tool, json!({"a": "<"}), "", "html").await,
        "<table>\n<tbody>\n<tr><th>a</th><td>&lt;</td></tr>\n</tbody>\n</table>\n"
    );
    assert_eq!(text(&tool, json!("hi"), "", "text").await, "hi");
    assert_eq!(text(&tool, json!(null), "", "text").await, "");
    assert_eq!(text(&tool, json!([]), "", "csv").await, "");
    assert_eq!(text(&tool, json!([[1, "a"], [2]]), "", "csv").await, "1,a\n2\n");
    assert_eq!(text(&tool, json!(["x", "y"]), "", "csv").await, "value\nx\ny\n");
    assert_eq!(text(&tool, json!({"a": 1, "b": 2}), "", "csv").await, "a,b\n1,2\n");
}

#[tokio::test]
async fn a_template_text_sees_the_input_its_rows_and_its_keys() {
    let tool = tool();
    for (input, template, expected) in [
        (json!([{"n": 1}, {"n": 2}]), "{% for r in rows %}{{ r.n }};{% endfor %}", "1;2;"),
        (json!([{"n": 1}]), "{% for r in items %}{{ r.n }}{% endfor %}{{ input|length }}", "11"),
        (
            json!({"name": "Ana", "total": 3}),
            "{{ name }}: {{ total * 2 }} of {{ input.total }}",
            "Ana: 6 of 3",
        ),
        (
            json!([{"a": 1, "b": null}]),
            "{{ rows[0].b }}|{{ rows[0].c|default('-') }}|{{ rows[0].a == 1 }}",
            "|-|true",
        ),
        (
            json!([1, 2, 3]),
            "{% set ns = namespace(sum=0) %}{% for x in rows %}{% set ns.sum = ns.sum + x %}{% endfor %}{{ ns.sum }}",
            "6",
        ),
        (
            json!([3, 1, 2]),
            "{{ rows|sort|join(', ') }} {{ rows|sum }} {{ rows|map('string')|join }}",
            "1, 2, 3 6 312",
        ),
        (
            json!([{"a": 1, "t": "x"}, {"a": 5, "t": "y"}]),
            "{{ rows|selectattr('a', 'gt', 2)|map(attribute='t')|join }}",
            "y",
        ),
        (
            json!([{"t": "x", "v": 1}, {"t": "x", "v": 2}]),
            "{% for t, g in rows|groupby('t') %}{{ t }}={{ g|length }}{% endfor %}",
            "x=2",
        ),
        (
            json!({"a": 2}),
            "{% if 1 < a < 3 %}in{% else %}out{% endif %}{{ 'b' in 'abc' }}{{ a in [1, 2] }}",
            "intruetrue",
        ),
        (
            json!([1, 2]),
            "{% for x in rows %}{{ loop.index }}{{ ', ' if not loop.last }}{{ loop.cycle('a', 'b') }}{% endfor %}",
            "1, a2b",
        ),
        (json!({"a": {"x": 1, "y": 2}}), "{% for k, v in a|items %}{{ k }}{{ v }}{% endfor %}", "x1y2"),
        (json!({"s": "abc"}), "{{ s[1:] ~ '-' ~ s|upper }}{# note #}", "bc-ABC"),
        (json!("grüße 🌍"), "{{ input|upper }}\n{{ input|length }}", "GRÜSSE 🌍\n7"),
        (
            json!({"v": 2.5}),
            "{{ '%s' }}{{ v|round(1) }} {{ 7 // 2 }} {{ 7 % 2 }} {{ 2 ** 3 }}",
            "%s2.5 3 1 8",
        ),
        (json!([]), "{% for r in rows %}x{% else %}none{% endfor %}", "none"),
        (json!({"a": "x  y"}), "{{ a.b is defined }} {{ a|split|join('+') }}\n", "false x+y"),
    ] {
        assert_eq!(text(&tool, input, template, "text").await, expected, "{template}");
    }
}

#[tokio::test]
async fn bytes_show_their_size_and_a_failed_result_is_refused() {
    let tool = tool();
    let bytes: Value = [("picture", Value::Bytes(vec![0xff; 300].into()))].into_iter().collect();
    let shown = call(&tool, bytes, "{{ picture }}", "html").await.unwrap();
    assert_eq!(shown, Value::from("[300 bytes]"));
    let failed = Value::Failure(Box::new(ToolFailure::new(ErrorCode::HttpStatus, "status 404")));
    let failure = call(&tool, Value::Array(vec![failed]), "", "html").await.unwrap_err();
    assert_eq!(failure.code, "bad_arguments");
}

#[tokio::test]
async fn errors_in_a_template_name_its_line() {
    let tool = tool();
    for (template, line, part) in [
        ("a\n{{ rows.", 2, "end of input"),
        ("a\nb\n{% for x in %}{% endfor %}", 3, ""),
        ("a\n{{ nothing }}", 2, "default(\"\")"),
        ("{{ rows[0].missing }}", 1, "default(\"\")"),
        ("a\n\n{{ rows|nofilter }}", 3, "nofilter"),
        ("{{ 1 / 0 }}", 1, ""),
        ("{% if %}", 1, ""),
        ("{{ 'a' + 1 }}", 1, ""),
    ] {
        let failure = failure(&tool, json!([{"a": 1}]), template, "text").await;
        assert_eq!(failure.code, "template_failed", "{template}");
        assert_eq!(failure.details.get("line"), Some(&Value::Integer(line)), "{template}: {failure:?}");
        assert!(failure.message.contains(part), "{template}: {}", failure.message);
        assert!(!failure.message.contains('\n'), "{}", failure.message);
    }
}

#[tokio::test]
async fn named_templates_come_from_the_folder_by_name_and_format() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("templates");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("greet.html.j2"), "<p>{{ name }}</p>{% include 'foot.j2' %}").unwrap();
    fs::write(folder.join("greet.txt.j2"), "Hello {{ name }}").unwrap();
    fs::write(folder.join("foot.j2"), "<i>{{ name }}</i>").unwrap();
    fs::write(folder.join("macro.html.j2"), "{% macro b(x) %}<b>{{ x }}</b>{% endmacro %}{{ b(name) }}")
        .unwrap();
    fs::write(folder.join("broken.txt.j2"), "a\n{{ name").unwrap();
    fs::write(folder.join("secret.conf"), "hidden").unwrap();
    fs::write(home.path().join("outside.j2"), "outside").unwrap();
    std::os::unix::fs::symlink(home.path().join("outside.j2"), folder.join("link.j2")).unwrap();
    let tool = tool_with_folder(home.path());
    let input = json!({"name": "<Ana>"});
    assert_eq!(text(&tool, input.clone(), "greet", "").await, "<p>&lt;Ana&gt;</p><i>&lt;Ana&gt;</i>");
    assert_eq!(text(&tool, input.clone(), "greet", "text").await, "Hello <Ana>");
    assert_eq!(text(&tool, input.clone(), "foot", "").await, "<i><Ana></i>");
    assert_eq!(text(&tool, input.clone(), "foot", "html").await, "<i>&lt;Ana&gt;</i>");
    assert_eq!(text(&tool, input.clone(), "macro", "").await, "<b>&lt;Ana&gt;</b>");
    let broken = failure(&tool, input.clone(), "broken", "").await;
    assert_eq!((broken.code.as_str(), &broken.details["line"]), ("template_failed", &Value::Integer(2)));
    assert!(broken.message.contains("broken.txt.j2"), "{}", broken.message);

    fs::write(folder.join("summary_email.html.j2"), "own").unwrap();
    assert_eq!(text(&tool, input.clone(), "summary_email", "html").await, "own");
    for name in [
        "link",
        "../outside",
        "outside",
        "secret.conf",
        "secret",
        "greet.html",
        "/etc/passwd",
        "..",
        ".",
        "a/b",
        "a\\b",
        "Hello you",
        "greet\0",
    ] {
        let failure = failure(&tool, input.clone(), name, "").await;
        assert_eq!(failure.code, "template_unknown", "{name}");
        assert!(failure.message.contains("greet.html, greet.txt"), "{}", failure.message);
    }
    assert_eq!(failure(&tool, input, "greet", "json").await.code, "template_unknown");
}

#[test]
fn a_templates_folder_that_is_not_there_is_refused_when_the_tool_is_made() {
    let home = tempfile::tempdir().unwrap();
    let settings = TransformDataSettings { templates_dir: Some("none".into()), ..Default::default() };
    let error = TransformData::new(spec(), settings, home.path()).err().unwrap();
    assert_eq!(error.code(), ErrorCode::ConfigInvalid);
    assert!(error.message().contains("none"), "{error}");
}

#[tokio::test]
async fn the_summary_email_shows_any_rows() {
    let tool = tool();
    let html = text(&tool, users(), "summary_email", "html").await;
    for part in ["2 entries", ">Name</th>", ">Email</th>", "Ana &lt;Admin&gt;", ">41</td>", ">35.5</td>"] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    assert_eq!(text(&tool, users(), "summary_email", "").await, html);
    let one =
        text(&tool, json!({"title": "Daily", "rows": [{"profile_image_url": "x"}]}), "summary_email", "html")
            .await;
    assert!(
        one.contains("<h1")
            && one.contains("Daily")
            && one.contains("1 entry")
            && one.contains("Profile image url"),
        "{one}"
    );
    assert!(text(&tool, json!([]), "summary_email", "html").await.contains("There is nothing to show."));
    assert!(text(&tool, json!(["a", "b"]), "summary_email", "html").await.contains("<li>b</li>"));
    assert!(text(&tool, users(), "summary_email", "markdown").await.contains("| Bo \\| Co |"));
    assert!(text(&tool, users(), "summary_email", "text").await.contains("Name: Ana <Admin>\n"));
}

#[tokio::test]
async fn csv_survives_a_reader_and_its_columns_can_be_chosen() {
    let tool = tool();
    let nasty = ["a,b", "say \"x\"", "two\nlines", " spaced ", "grüße 🌍", "", ";", "tab\there", "'quoted'"];
    let rows: Vec<Json> = nasty.iter().map(|text| json!({"id": 1, "text": text})).collect();
    let inline = "id,text\n{% for r in rows %}{{ r.id }},{{ r.text }}\n{% endfor %}";
    for template in ["", "id, text", inline] {
        let csv = text(&tool, json!(rows), template, "csv").await;
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let read: Vec<String> = reader.records().map(|record| record.unwrap()[1].to_owned()).collect();
        assert_eq!(read, nasty, "{template}");
    }
    assert_eq!(text(&tool, users(), "age,name", "csv").await, "age,name\n41,Ana <Admin>\n35.5,Bo | Co\n");
    assert_eq!(text(&tool, users(), "age", "csv").await, "age\n41\n35.5\n");
    assert_eq!(failure(&tool, users(), "age,shoe", "csv").await.code, "bad_arguments");
    assert_eq!(failure(&tool, users(), "shoe", "csv").await.code, "template_unknown");
}

#[tokio::test]
async fn a_formula_in_csv_is_neutralised_unless_configuration_says_otherwise() {
    let rows = json!([{"a": "=1+1", "b": -5, "c": "-5", "d": "@x"}]);
    assert_eq!(text(&tool(), rows.clone(), "", "csv").await, "a,b,c,d\n'=1+1,-5,-5,'@x\n");
    assert_eq!(text(&tool(), rows.clone(), "{{ rows[0].a }},{{ rows[0].b }}", "csv").await, "'=1+1,-5");
    let settings = TransformDataSettings { csv_neutralise_formulas: false, ..Default::default() };
    let plain = TransformData::new(spec(), settings, ".".as_ref()).unwrap();
    assert_eq!(text(&plain, rows, "", "csv").await, "a,b,c,d\n=1+1,-5,-5,@x\n");
}

#[tokio::test]
async fn a_json_template_escapes_its_values_and_must_give_json() {
    let tool = tool();
    let input = json!({"name": "a\"b\\\n</script>", "n": null, "list": [1, 2]});
    let made =
        text(&tool, input.clone(), "{\"name\": {{ name }}, \"n\": {{ n }}, \"list\": {{ list }}}", "json")
            .await;
    assert_eq!(serde_json::from_str::<Json>(&made).unwrap(), input);
    let failure = failure(&tool, input, "{\"name\": {{ name }}", "json").await;
    assert_eq!(failure.code, "template_failed");
    assert!(failure.message.contains("not valid JSON"), "{}", failure.message);
}
