//! Literal targets and arguments against configuration and policy.

use std::sync::Arc;

use luaplan::app::{RunSpec, Work};
use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::json;

use super::{folder, found, plan};
use crate::app_parts::Bench;

const CODE: &str = "plan_target_refused";

const RECEIPT: &str = "if receipt.error then return receipt.error end";

fn mail(to: &str) -> String {
    plan(&format!(
        "local receipt = send_email{{to = {to}, subject = \"s\", body = \"b\" .. context.x}}\n  {RECEIPT}"
    ))
}

#[test]
fn a_recipient_that_is_not_allowed_is_found_where_it_is_written() {
    let folder = folder();
    for (to, at) in [
        ("\"boss@else.example\"", "\"boss@else.example\""),
        ("{\"a@shop.example\", \"boss@else.example\"}", "\"boss@else.example\""),
        ("{context.to, \"boss@else.example\"}", "\"boss@else.example\""),
        ("\"a@shop.example, Boss <boss@else.example>\"", "\"a@shop.example, Boss <boss@else.example>\""),
    ] {
        let told = found(&folder, &mail(to), CODE, &[]);
        assert_eq!(told.len(), 1, "{to}: {told:?}");
        let (severity, place, message) = &told[0];
        assert_eq!((severity.as_str(), place.as_str()), ("warning", at), "{message}");
        assert!(message.contains("recipient_denied") && message.contains("boss@else.example"), "{message}");
    }
    let variable = plan(&format!(
        "local to = \"boss@else.example\"\n  local receipt = send_email(to, \"s\", context.body)\n  {RECEIPT}"
    ));
    assert_eq!(found(&folder, &variable, CODE, &[])[0].1, "\"boss@else.example\"");
    let cc = plan(&format!(
        "local ok, receipt = pcall(send_email, {{to = context.to, cc = \"boss@else.example\", subject = \"s\", body = \"b\"}})\n  {RECEIPT}"
    ));
    assert_eq!(found(&folder, &cc, CODE, &[]).len(), 1, "guarded, and refused all the same");
    for fine in [
        "\"a@shop.example\"",
        "context.to",
        "context.to .. \"@else.example\"",
        "{\"a@shop.example\", context.b}",
    ] {
        assert_eq!(found(&folder, &mail(fine), CODE, &[]), [], "{fine}");
    }
}

#[test]
fn a_place_that_is_refused_with_some_values_is_advice() {
    let folder = folder();
    let each = plan(
        "for _, to in ipairs{\"a@shop.example\", \"boss@else.example\"} do\n    local receipt = send_email(to, \"s\", \"b\")\n    if receipt.error then print(receipt.error) end\n  end",
    );
    let told = found(&folder, &each, CODE, &[]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].2.contains("may fail with `recipient_denied`"), "{told:?}");
    let fallback = mail("context.to or \"boss@else.example\"");
    assert_eq!(found(&folder, &fallback, CODE, &[]).len(), 1);
    // What it is before its value is known reaches no call.
    let set_later = plan(&format!(
        "local to = \"\"\n  if context.late then to = \"a@shop.example\" else to = \"b@shop.example\" end\n  local receipt = send_email(to, \"s\", \"b\")\n  {RECEIPT}"
    ));
    assert_eq!(found(&folder, &set_later, CODE, &[]), []);
}

#[test]
fn a_host_is_known_from_the_beginning_of_an_address() {
    let folder = folder();
    let fetch = |url: &str| plan(&format!("local page = fetch_url({url})\n  return page"));
    for url in [
        "\"https://evil.example/\"",
        "\"https://evil.example/rates?day=\" .. context.day",
        "\"http://10.0.0.7/\"",
        "\"ftp://eu.rates.example/x\"",
        "{\"https://eu.rates.example/a\", \"https://evil.example/b\"}",
    ] {
        let told = found(&folder, &fetch(url), CODE, &[]);
        assert_eq!(told.len(), 1, "{url}: {told:?}");
        assert!(told[0].2.contains("url_blocked") || told[0].2.contains("url_invalid"), "{told:?}");
    }
    for fine in [
        "\"https://eu.rates.example/\" .. context.day",
        "\"https://\" .. context.host .. \"/x\"",
        "context.url",
    ] {
        assert_eq!(found(&folder, &fetch(fine), CODE, &[]), [], "{fine}");
    }
}

#[test]
fn statements_are_held_against_what_is_granted() {
    let folder = folder();
    let query = |arguments: &str| plan(&format!("local rows = query_db{{{arguments}}}\n  return rows"));
    for (arguments, what) in [
        ("sql = \"SELECT 1\", database = \"books\"", "database_unknown"),
        ("sql = \"DELETE FROM orders WHERE id = ?\", params = {context.id}", "query_refused"),
        ("sql = \"SELECT id FROM orders WHERE id = ?\", params = {context.id, 2}", "bad_arguments"),
        ("sql = \"SELECT id FROM orders WHERE id = :id\", params = {number = context.id}", "bad_arguments"),
        ("sql = \"SELECT load_extension('x')\", limit = context.limit", "query_refused"),
        ("table = \"orders\", where = \"id = ?; DROP TABLE orders\", params = {1}", "query_refused"),
    ] {
        let told = found(&folder, &query(arguments), CODE, &[]);
        assert_eq!(told.len(), 1, "{arguments}: {told:?}");
        assert!(told[0].2.contains(what), "{arguments}: {told:?}");
    }
    for fine in [
        "sql = \"SELECT id FROM orders WHERE id = ?\", params = {context.id}",
        "sql = \"SELECT id FROM orders WHERE id IN (?)\", params = {context.ids}",
        "sql = \"SELECT id FROM orders WHERE id = ?\", params = context.params",
        "sql = \"SELECT id FROM orders WHERE id = :id\", params = {id = context.id}",
        "sql = context.sql, params = {1, 2, 3}",
        "table = \"orders\", where = {status = context.status, id = {1, context.id}}, limit = context.n",
        "table = \"orders\", where = context.where, params = {1}",
        "table = \"orders\", columns = {\"id\", context.column}, order_by = context.order",
    ] {
        assert_eq!(found(&folder, &query(fine), CODE, &[]), [], "{fine}");
    }
    let steps = plan(
        "local sql = \"SELECT id FROM orders WHERE 1 = 1\"\n  local params = {}\n  if context.status then\n    sql = sql .. \" AND status = ?\"\n    params[#params + 1] = context.status\n  end\n  return query_db{sql = sql, params = params}",
    );
    assert_eq!(found(&folder, &steps, CODE, &[]), []);
}

#[test]
fn a_comment_with_a_reason_allows_it() {
    let folder = folder();
    let allowed = plan(&format!(
        "-- luaplan: allow({CODE}) the refusal is what is tried\n  local receipt = send_email(\"boss@else.example\", \"s\", \"b\")\n  {RECEIPT}"
    ));
    assert_eq!(found(&folder, &allowed, CODE, &[]), []);
    assert_eq!(found(&folder, &allowed, "plan_allow_unused", &[]), []);
}

#[test]
fn explain_says_what_will_be_refused_and_what_will_be_asked() {
    let folder = folder();
    let policy = "version = 1\n[[rule]]\nname = \"mails\"\ntool = \"send_email\"\ndecision = \"prompt\"\nreason = \"mails are looked at\"\n\
        [[rule]]\nname = \"no orders\"\ntool = \"query_db\"\ndecision = \"deny\"\nreason = \"orders are kept back\"\narguments.table = \"orders\"\n";
    folder.write("policy.toml", policy);
    folder.write("luaplan.toml", format!("[policy]\nfile = \"policy.toml\"\n{}", super::CONFIGURATION));
    let source = plan(
        "local one = query_db{table = \"orders\", limit = context.n}\n  local two = query_db{table = context.table}\n  local three = send_email(context.to, \"s\", \"b\")\n  local four = send_email(\"boss@else.example\", \"s\", \"b\")\n  return {one.error, two.error, three.error, four.error}",
    );
    folder.write("plan.lua", &source);
    let page = folder.run(&["explain", "plan.lua"]).exits(0);
    for told in [
        "(will be refused, `permission_denied`: the policy's rule `no orders` denies this call of `query_db`",
        "(will be asked: mails are looked at, by the rule `mails`)",
        "(will be refused, `recipient_denied`: boss@else.example",
    ] {
        assert!(page.out.contains(told), "{told}\n{page}");
    }
    let told = folder.run(&["explain", "plan.lua", "--json"]).exits(0).json();
    let kinds: Vec<Option<&str>> = (told["preview"]["calls"].as_array().unwrap().iter())
        .map(|call| call["forecast"]["kind"].as_str())
        .collect();
    assert_eq!(kinds, [Some("refused"), None, Some("asked"), Some("refused")], "{told:#}");
    let denied = found(&folder, &source, CODE, &[]);
    assert!(denied.iter().any(|(_, _, message)| message.contains("permission_denied")), "{denied:?}");
}

fn reply(plan: &str) -> RecordedReply {
    RecordedReply { matches: None, text: json!({ "plan": plan, "explanation": "x" }).to_string() }
}

#[tokio::test]
async fn a_model_is_told_and_a_saved_plan_runs_on() {
    let wrong = plan(
        "local receipt = send_email(\"boss@else.example\", \"s\", \"b\")\n  return receipt.error or \"sent\"",
    );
    let right = plan("return \"nothing to send\"");
    let model = Arc::new(RecordedClient::new("mails", vec![reply(&wrong), reply(&right)]));
    let bench = Bench::with(&[], Some(model)).await;
    let task = "mail boss@else.example";
    let outcome = bench.app.run(RunSpec { ..bench.request(Work::Task(task.to_owned())) }).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_json(), json!("nothing to send"), "{outcome:?}");
    let events = bench.events(&outcome.run_id).await;
    assert!(events.contains(&"repair_round"), "{events:?}");
    let saved = bench.run(&wrong).await;
    let told = saved.result.as_ref().unwrap().to_json().to_string();
    assert!(told.contains("not on the list"), "{told}");
}
