//! Templates of calls, compiled and held against what is known of their data before anything runs.

use std::sync::Arc;

use luaplan::app::{RunSpec, Work};
use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::json;

use super::{folder, found, plan};
use crate::app_parts::Bench;

const CODE: &str = "plan_template_refused";

fn fill(data: &str, template: &str) -> String {
    plan(&format!("local page = transform_data{{input = {data}, template = {template}}}\n  return page"))
}

#[test]
fn a_fault_is_found_where_it_is_written() {
    let folder = folder();
    for (data, template, at, what) in [
        ("context.x", "\"{{ total|nubmer(2) }}\"", "nubmer", "there is no filter `nubmer`"),
        (
            "context.x",
            "[[\n{% for r in rows %}\n{{ r.a|uppr }}{% endfor %}]]",
            "uppr",
            "there is no filter `uppr`",
        ),
        ("context.x", "\"{% if x is evn %}x{% endif %}\"", "evn", "there is no test `evn`"),
        ("context.x", "\"{{ xs|map('uper')|join }}\"", "uper", "there is no filter `uper`"),
        ("context.x", "\"{% for x in xs %}{{ x }}\"", "", "end of input"),
        ("context.x", "\"{% fro x in xs %}{% endfor %}\"", "fro", "unknown statement"),
        ("context.x", "\"{{ repeat(3) }}\"", "{", "there is no function but"),
        ("{title = context.t}", "\"<{{ titel }}>\"", "titel", "the data have no `titel`"),
        ("{shop = {town = \"x\"}}", "\"{{ shop.city }}\"", "city", "`shop` has no `city`"),
        ("{rows = {{a = 1}, {a = 2, b = 3}}}", "\"{% for r in rows %}{{ r.c }}{% endfor %}\"", "c", "no `c`"),
        ("{{day = \"x\"}}", "\"{{ rows|map(attribute='date')|join }}\"", "date", "the items have no `date`"),
        ("{{a = 1}}", "\"{{ rows.a }}\"", "a", "a list has no `a`"),
        ("{{a = 1}}", "\"{{ rows|number(2) }}\"", "number", "given a list"),
        ("\"2026-01-01\"", "\"{{ input|date('x') }}\"", "", "date"),
    ] {
        let told = found(&folder, &fill(data, template), CODE, &[]);
        assert_eq!(told.len(), 1, "{template}: {told:?}");
        assert!(told[0].2.contains(what) && told[0].0 == "warning", "{template}: {told:?}");
        assert!(at.is_empty() || told[0].1 == at, "{template}: {told:?}");
    }
}

#[test]
fn what_a_template_asks_for_or_cannot_be_known_passes() {
    let folder = folder();
    for (data, template) in [
        ("context.x", "\"{{ anything.at.all|upper }}\""),
        (
            "{a = 1}",
            "\"{{ b|default('') }}{% if b %}{{ b.c }}{% endif %}{% if b is defined %}{{ b }}{% endif %}\"",
        ),
        ("{a = context.a}", "\"{{ a.b.c }}{% for x in a %}{{ x.y }}{% endfor %}\""),
        ("{a = 1}", "\"{% set t = a %}{% with u = t %}{{ u }}{{ t }}{% endwith %}{{ b or a }}\""),
        (
            "{xs = {{k = \"a\", n = 1}}}",
            "\"{% for k, g in xs|groupby('k') %}{{ k }}{{ g|sum(attribute='n') }}{% endfor %}\"",
        ),
        (
            "{xs = {{k = \"a\"}}}",
            "\"{% for x in xs if x.z %}{{ x.z }}{% endfor %}{{ xs|map(attribute='k')|join }}\"",
        ),
        ("{a = 1}", "context.template"),
        ("{a = 1}", "\"{% raw %}{{ b|c }}{% endraw %}{# {{ d }} #}\""),
        (
            "{n = 1000000}",
            "\"{% for i in range(100000) %}{% for j in range(100) %}x{% endfor %}{% endfor %}\"",
        ),
    ] {
        assert_eq!(found(&folder, &fill(data, template), CODE, &[]), [], "{template}");
    }
    // Data that get their keys later, by their names or by names that are worked out.
    for steps in [
        "local data = {a = 1}\n  data.b = 2",
        "local data = {}\n  for _, k in ipairs{\"a\", \"b\"} do data[k] = k end",
        "local data = {a = 1}\n  local function put(t) t.b = 2 end\n  put(data)",
    ] {
        let source = plan(&format!("{steps}\n  return transform_data(data, \"{{{{ b }}}}\")"));
        assert_eq!(found(&folder, &source, CODE, &[]), [], "{steps}");
    }
}

#[test]
fn a_name_is_that_of_a_template() {
    let folder = folder();
    let named = |name: &str| found(&folder, &fill("context.x", name), CODE, &[]);
    let told = named("\"sumary_email\", format = \"html\"");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].1, "\"sumary_email\"", "{told:?}");
    assert_eq!(named("\"summary_email\", format = \"html\""), []);
    assert_eq!(named("\"name,age\", format = \"csv\""), []);
    assert_eq!(named("\"letter\", format = context.format"), [], "columns of CSV have no other form");
    std::fs::create_dir(folder.join("templates")).unwrap();
    folder.write("templates/letter.html.j2", "<p>{{ x }}</p>");
    let configuration =
        format!("[tools.transform_data]\ntemplates_dir = \"templates\"\n{}", super::CONFIGURATION);
    folder.write("luaplan.toml", configuration);
    assert_eq!(found(&folder, &fill("context.x", "\"letter\", format = \"html\""), CODE, &[]), []);
    let columns = found(&folder, &fill("{{name = 1}}", "\"name,age\", format = \"csv\""), CODE, &[]);
    assert_eq!(columns.len(), 1, "{columns:?}");
}

#[test]
fn a_branch_that_few_fillings_come_to_is_advice() {
    let folder = folder();
    let source = plan(
        "local t = \"{% if kind == 'a' %}{{ extra }}{% endif %}{{ kind }}\"\n  return {transform_data({kind = \"a\", extra = 1}, t), transform_data({kind = \"b\"}, t)}",
    );
    let told = found(&folder, &source, CODE, &[]);
    assert!(told.len() <= 1 && told.iter().all(|(severity, ..)| severity == "warning"), "{told:?}");
}

fn reply(plan: &str) -> RecordedReply {
    RecordedReply { matches: None, text: json!({ "plan": plan, "explanation": "x" }).to_string() }
}

#[tokio::test]
async fn a_model_hears_of_its_template_and_a_saved_plan_runs() {
    let wrong = plan(
        "local page = transform_data({total = 7}, \"{{ total|nubmer(2) }}\")\n  if type(page) ~= \"string\" then return page.error end\n  return page",
    );
    let right = wrong.replace("nubmer", "number");
    let model = Arc::new(RecordedClient::new("templates", vec![reply(&wrong), reply(&right)]));
    let bench = Bench::with(&[], Some(model)).await;
    let outcome = bench.app.run(RunSpec { ..bench.request(Work::Task("write it".to_owned())) }).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_json(), json!("7.00"), "{outcome:?}");
    let events = bench.events(&outcome.run_id).await;
    assert!(events.contains(&"repair_round"), "{events:?}");
    let saved = bench.run(&wrong).await;
    assert!(saved.result.as_ref().unwrap().to_json().to_string().contains("nubmer"), "{saved:?}");
}
