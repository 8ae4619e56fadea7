//! The main job, whole: a plan and a task on a real database, HTTP server and mail server.

use std::sync::Arc;

use luaplan::app::Work;
use luaplan::base::ErrorCode;
use luaplan::demo::PictureServer;
use luaplan::journal::EventBody;
use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::json;

use crate::app_parts::Bench;

const SUMMARY_EMAIL: &str = include_str!("../../examples/summary_email/plan.lua");

/// BLAKE3 of the plan as it was handed over; it must run unchanged.
const SUMMARY_EMAIL_BLAKE3: &str = "00dda08330a639b3570f04c499bba808aed1580530fcd239ec1db86c08260a90";

#[tokio::test(flavor = "multi_thread")]
async fn the_summary_email_plan_runs_unchanged() {
    assert_eq!(blake3::hash(SUMMARY_EMAIL.as_bytes()).to_hex().as_str(), SUMMARY_EMAIL_BLAKE3);
    let bench = Bench::new().await;
    let outcome = bench.run(SUMMARY_EMAIL).await;
    let result = outcome.result.unwrap().to_json();
    assert_eq!(result["receipt"]["delivered"], json!(true));
    let mails = bench.parts.received();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to, ["admin@company.com"]);
    let bytes = std::fs::read(&mails[0].path).unwrap();
    let message = mail_parser::MessageParser::default().parse(&bytes).unwrap();
    assert_eq!(message.subject(), Some("User Summary"));
    let html = message.body_html(0).unwrap();
    assert!(html.contains("user3@example.com") && !html.contains("user1@example.com"), "{html}");
    let pictures: Vec<_> = message
        .attachments()
        .map(|part| {
            use mail_parser::MimeHeaders as _;
            (part.attachment_name().unwrap().to_owned(), part.contents().to_vec())
        })
        .collect();
    let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["user2.png", "user3.png", "user5.png", "user6.png"]);
    for (name, bytes) in &pictures {
        assert_eq!(bytes.as_slice(), PictureServer::bytes_of(name).unwrap(), "{name} arrived changed");
    }
    let events = bench.events(&outcome.run_id).await;
    let calls = events.iter().filter(|name| **name == "tool_call_finished").count();
    assert_eq!(calls, 4);
    assert_eq!(events.last(), Some(&"run_finished"));
    assert!(bench.app.journal().verify().await.unwrap().ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_send_that_nobody_looks_at_fails_the_run() {
    let bench = Bench::with(&[("tools.send_email.allow_recipients", "[\"nobody@company.com\"]")], None).await;
    let outcome = bench.run(SUMMARY_EMAIL).await;
    let error = outcome.error().unwrap();
    assert_eq!(error.code(), ErrorCode::ToolErrorIgnored, "{error}");
    assert!(error.message().contains("send_email"), "{error}");
    assert!(bench.parts.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_query_cannot_be_used_as_rows() {
    let bench = Bench::with(&[("tools.query_db.databases", "{ main = \"sqlite:absent.db\" }")], None).await;
    let outcome = bench.run(SUMMARY_EMAIL).await;
    let error = outcome.error().unwrap();
    assert_eq!(error.code(), ErrorCode::ToolErrorUsed, "{error}");
    assert!(error.message().contains("query_db"), "{error}");
    assert_eq!(error.details()["line"], json!(4));
    assert!(bench.parts.received().is_empty());
}

fn recorded(replies: &[&str]) -> Arc<RecordedClient> {
    let replies = replies
        .iter()
        .map(|plan| RecordedReply { matches: None, text: json!({ "plan": plan }).to_string() })
        .collect();
    Arc::new(RecordedClient::new("recorded", replies))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_planned_checked_repaired_and_run() {
    let wrong = SUMMARY_EMAIL.replace("query_db(", "query_dbase(");
    let bench = Bench::with(&[], Some(recorded(&[&wrong, SUMMARY_EMAIL]))).await;
    let work = Work::Task("mail a summary of the users over thirty".to_owned());
    let outcome = bench.app.run(bench.request(work)).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert_eq!(bench.parts.received().len(), 1);
    assert!(outcome.usage.llm_tokens > 0);
    let events = bench.events(&outcome.run_id).await;
    let planning: Vec<&str> = events.iter().copied().filter(|name| PLANNING.contains(name)).collect();
    assert_eq!(
        planning,
        [
            "run_started",
            "prompt_budget_computed",
            "prompt_composed",
            "llm_request_sent",
            "llm_response_received",
            "plan_proposed",
            "plan_checked",
            "repair_round",
            "prompt_budget_computed",
            "prompt_composed",
            "llm_request_sent",
            "llm_response_received",
            "plan_proposed",
            "plan_checked",
            "run_finished",
        ]
    );
}

const PLANNING: [&str; 9] = [
    "run_started",
    "prompt_budget_computed",
    "prompt_composed",
    "llm_request_sent",
    "llm_response_received",
    "plan_proposed",
    "plan_checked",
    "repair_round",
    "run_finished",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_a_model_stops_before_anything() {
    let bench = Bench::new().await;
    let outcome = bench.app.run(bench.request(Work::Task("do something".to_owned()))).await;
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::LlmNotConfigured);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_failed_is_planned_anew_with_calls_of_its_own() {
    let wrong =
        "function run(context)\n  local rows = query_db{table = 'users'}\n  error('no idea: ' .. #rows)\nend";
    let settings = [("planner.replans", "2")];
    let bench = Bench::with(&settings, Some(recorded(&[wrong, wrong, SUMMARY_EMAIL]))).await;
    let outcome = bench.app.run(bench.request(Work::Task("mail the summary".to_owned()))).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert_eq!(bench.parts.received().len(), 1);
    assert_eq!(outcome.usage.tool_calls, 6);
    let keys: Vec<String> = bench
        .records(&outcome.run_id)
        .await
        .iter()
        .filter_map(|record| match &record.event.body {
            EventBody::ToolCallStarted { call_id, idempotency_key, .. } => {
                Some(format!("{call_id} {idempotency_key}"))
            }
            _ => None,
        })
        .collect();
    let distinct: std::collections::BTreeSet<&String> = keys.iter().collect();
    assert_eq!(distinct.len(), 6, "calls of different plans share an id: {keys:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reaching_past_the_sandbox_is_on_record() {
    let bench = Bench::new().await;
    let outcome = bench.run("function run() return os.execute('true') end").await;
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::CheckRefused);
    let events = bench.events(&outcome.run_id).await;
    assert!(events.contains(&"sandbox_violation"), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_address_can_come_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let mut environment = crate::app_parts::environment(folder.path());
    let flags = vec![(
        "tools.query_db.databases".to_owned(),
        toml::Value::Table(toml::Table::from_iter([("main".to_owned(), toml::Value::from("env:APP_DB"))])),
    )];
    let options = luaplan::app::config::LoadOptions { file: None, flags };
    let loaded = luaplan::app::config::load(&environment, &options).unwrap();
    let absent = luaplan::app::config::Config::check(&loaded.raw, &environment).unwrap_err();
    assert_eq!(absent.code(), ErrorCode::ConfigInvalid);
    assert!(absent.message().contains("$APP_DB"), "{absent}");
    environment.variables.insert("APP_DB".to_owned(), "sqlite:app.db".to_owned());
    let config = luaplan::app::config::Config::check(&loaded.raw, &environment).unwrap();
    let databases = &config.tools["query_db"].settings["databases"];
    assert_eq!(databases["main"].as_str(), Some("sqlite:app.db"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_in_one_branch_does_not_forgive_a_failure_of_another() {
    let bench = Bench::new().await;
    let plan = "function run()
      local tries = 0
      parallel{
        function() fetch_url('http://127.0.0.1:1/') return 1 end,
        function()
          return retry(2, function()
            tries = tries + 1
            query_db{table = 'users', limit = 1}
            if tries < 2 then error('again') end
            return tries
          end)
        end,
      }
      return {tries = tries}
    end";
    let error = bench.run(plan).await.error().unwrap();
    assert_eq!(error.code(), ErrorCode::ToolErrorIgnored, "{error}");

    let plan = "function run()
      local tries = 0
      retry(2, function()
        tries = tries + 1
        if tries > 1 then return tries end
        parallel{function() return fetch_url('http://127.0.0.1:1/') end}
        error('again')
      end)
      return {tries = tries}
    end";
    let outcome = bench.run(plan).await;
    assert!(outcome.result.is_ok(), "a failed attempt has been dealt with: {:?}", outcome.result);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_raises_a_failed_call_names_its_code() {
    let bench = Bench::new().await;
    let query = "local rows = query_db{sql = \"SELECT nothing FROM nowhere\"}\n";
    let text =
        format!("function run() {query} if rows.error then error(\"no rows: \" .. rows.error) end end");
    let itself = format!("function run() {query} error(rows) end");
    for (source, code) in [(text, ErrorCode::PlanError), (itself, ErrorCode::ToolErrorUsed)] {
        let error = bench.run(&source).await.error().unwrap();
        assert_eq!((error.code(), &error.details()["cause"]), (code, &json!("query_failed")), "{error:?}");
    }
    let own = "function run() local rows = query_db{sql = \"SELECT nothing FROM nowhere\"} \
        if rows.error then error(\"nobody is left\") end end";
    let error = bench.run(own).await.error().unwrap();
    assert!(!error.details().contains_key("cause"), "{error:?}");
}
