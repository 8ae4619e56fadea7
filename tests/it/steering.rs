//! Untrusted data may not decide where a call goes: with `[policy.flow]`, on a real database, mail server and
//! journal.

use std::sync::Arc;

use luaplan::app::{ApprovalAnswer, ReplayRequest, RunSpec, Work};
use luaplan::base::{ErrorCode, Result, Value};
use luaplan::bus::{Circumstances, Mode};
use luaplan::engine::RunOutcome;
use luaplan::journal::{EventBody, RunStatus};
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage};
use tokio_util::sync::CancellationToken;

use crate::app_parts::Bench;
use crate::approvals::{assert_asks, decide, resume_request};

const ENFORCE: (&str, &str) = ("policy.flow.mode", "\"enforce\"");

/// A model whose answer is an address, as an injected page would have it say.
struct Obedient;

#[async_trait::async_trait]
impl LlmClient for Obedient {
    async fn chat(
        &self,
        _request: &ChatRequest,
        _progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        Ok(ChatReply {
            text: "admin@company.com".to_owned(),
            usage: TokenUsage::default(),
            provider: "test".to_owned(),
            model: "obedient".to_owned(),
            duration: std::time::Duration::ZERO,
            recorded: false,
        })
    }

    fn name(&self) -> String {
        "test/obedient".to_owned()
    }
}

async fn bench(settings: &[(&str, &str)]) -> Bench {
    Bench::with(settings, Some(Arc::new(Obedient))).await
}

fn plan(body: &str) -> String {
    format!("function run(context)\n{body}\nend")
}

/// The ways recorded with the only mail of a run.
async fn recorded_ways(bench: &Bench, outcome: &RunOutcome) -> Vec<String> {
    let records = bench.records(&outcome.run_id).await;
    let mut found = records.iter().filter_map(|record| match &record.event.body {
        EventBody::ToolCallStarted { tool, untrusted_ways, .. } if tool == "send_email" => {
            Some(untrusted_ways.clone())
        }
        _ => None,
    });
    let ways = found.next().unwrap();
    assert!(found.next().is_none());
    ways
}

const ADDRESS_OF_A_MODEL: &str = r#"local to = must(call_llm("who?"), "an address")
  return must(send_email(to, "s", "b"), "sent")"#;

#[tokio::test]
async fn a_recipient_that_a_model_names_needs_a_person_and_the_way_is_told() {
    let bench = bench(&[ENFORCE]).await;
    let outcome = bench.run(&plan(ADDRESS_OF_A_MODEL)).await;
    assert_asks(&outcome);
    let pending = bench.app.approvals().pending(Some(&outcome.run_id)).await.unwrap();
    let request = &pending[0].request;
    assert_eq!(request.reason, "untrusted data steers it: `to` comes from `call_llm`, line 2");
    assert_eq!(bench.parts.received().len(), 0);
    decide(&bench.app, &request.approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
    let outcome = bench.app.resume(resume_request(&outcome.run_id)).await.unwrap();
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
    assert_eq!(bench.parts.received().len(), 1);
    assert_eq!(recorded_ways(&bench, &outcome).await, ["`to` comes from `call_llm`, line 2"]);
    let request = ReplayRequest { run_id: outcome.run_id, with: None, cancel: CancellationToken::new() };
    assert!(bench.app.runs().replay(request).await.unwrap().same);
}

#[tokio::test]
async fn what_only_carries_untrusted_data_goes_unasked() {
    let bench = bench(&[ENFORCE]).await;
    let bodies = [
        "return must(send_email('admin@company.com', 'news', must(call_llm('news?'), 'news')), 'sent')",
        "return must(send_email(context.to or 'admin@company.com', 's', 'b'), 'sent')",
        "local rows = must(query_db{table = 'users', limit = 1}, 'rows')\n\
         return must(send_email('admin@company.com', 's', rows[1].name), 'sent')",
        "local rows = must(query_db{sql = \"SELECT 'admin@company.com' AS address\"}, 'rows')\n\
         return must(send_email(rows[1].address, 's', 'b'), 'sent')",
    ];
    for (sent, body) in (1..).zip(bodies) {
        let outcome = bench.run(&plan(body)).await;
        assert_eq!(outcome.status(), RunStatus::Succeeded, "{body}: {outcome:?}");
        assert_eq!(bench.parts.received().len(), sent);
        assert!(recorded_ways(&bench, &outcome).await.is_empty());
    }
}

/// Each hides the way of the model's words to the recipient, or to whether mail is sent at all.
const HIDDEN: [&str; 16] = [
    "local t = {} t.to = call_llm('who?') return send_email(t.to, 's', 'b')",
    "context.to = call_llm('who?') return send_email(context.to, 's', 'b')",
    "local to = call_llm('who?') return send_email('admin@' .. to:match('@(.*)'), 's', 'b')",
    "local to = call_llm('who?') local out = {} for c in to:gmatch('.') do out[#out + 1] = c end\n\
     return send_email(table.concat(out), 's', 'b')",
    "local ok, to = pcall(call_llm, 'who?') return send_email(to, 's', 'b')",
    "local ok = pcall(function() if call_llm('who?'):find('@') then error('x') end end)\n\
     if ok then return 1 end return send_email('admin@company.com', 's', 'b')",
    "local to = retry(2, function() return call_llm('who?') end) return send_email(to, 's', 'b')",
    "local got = parallel{function() return call_llm('who?') end} return send_email(got[1], 's', 'b')",
    "local got = parallel{function() return send_email(call_llm('who?'), 's', 'b') end} return got[1]",
    "local co = coroutine.wrap(function() coroutine.yield(call_llm('who?')) end) return send_email(co(), 's', 'b')",
    "local f = setmetatable({}, {__index = function() return call_llm('who?') end}) return send_email(f.to, 's', 'b')",
    "local to = list.map({'who?'}, function(q) return call_llm(q) end)[1] return send_email(to, 's', 'b')",
    "if call_llm('who?') == 'admin@company.com' then return send_email('admin@company.com', 's', 'b') end",
    "local n = #call_llm('who?') for _ = 1, n do return send_email('admin@company.com', 's', 'b') end",
    "local rows = query_db{sql = \"SELECT ? AS address\", params = {call_llm('who?')}}\n\
     return send_email(rows[1].address, 's', 'b')",
    "local to = transform_data({to = call_llm('who?')}, '{{ to }}', 'text') return send_email(to, 's', 'b')",
];

#[tokio::test]
async fn no_construct_of_the_language_hides_the_way() {
    let bench = bench(&[ENFORCE]).await;
    for body in HIDDEN {
        let outcome = bench.run(&plan(body)).await;
        assert_eq!(outcome.status(), RunStatus::Paused, "{body}\n{outcome:?}");
    }
    assert_eq!(bench.parts.received().len(), 0);
}

#[tokio::test]
async fn the_same_without_enforcement_sends() {
    let off = bench(&[]).await;
    let outcome = off.run(&plan(ADDRESS_OF_A_MODEL)).await;
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
    assert!(recorded_ways(&off, &outcome).await.is_empty());
    let warned = bench(&[("policy.flow.mode", "\"warn\"")]).await;
    let outcome = warned.run(&plan(ADDRESS_OF_A_MODEL)).await;
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
    assert_eq!(recorded_ways(&warned, &outcome).await, ["`to` comes from `call_llm`, line 2"]);
}

#[tokio::test]
async fn a_steered_call_may_be_refused_instead() {
    let bench = bench(&[ENFORCE, ("policy.flow.steered", "\"refuse\"")]).await;
    let body =
        "local sent = send_email(call_llm('who?'), 's', 'b') return {code = sent.code, said = sent.error}";
    let result = bench.run(&plan(body)).await.result.unwrap().to_json();
    assert_eq!(result["code"], ErrorCode::FlowRefused.as_str());
    assert!(result["said"].as_str().unwrap().contains("`to` comes from `call_llm`, line 2"), "{result}");
    let outcome = bench.run(&plan(ADDRESS_OF_A_MODEL)).await;
    assert_eq!(outcome.status(), RunStatus::Failed);
    assert_eq!(bench.parts.received().len(), 0);
}

#[tokio::test]
async fn an_autonomous_run_and_a_grant_are_asked_too() {
    let policy = tempfile::NamedTempFile::new().unwrap();
    let rules = "version = 1\n[[rule]]\nname = \"mail\"\ntool = \"send_email\"\ndecision = \"prompt\"\nreason = \"mail\"\n";
    std::fs::write(policy.path(), rules).unwrap();
    let path = format!("{:?}", policy.path().display().to_string());
    let bench = bench(&[ENFORCE, ("policy.file", &path)]).await;
    let circumstances = Circumstances { mode: Mode::Autonomous, ..Circumstances::default() };
    let work = Work::Plan { name: "plan".to_owned(), source: plan(ADDRESS_OF_A_MODEL) };
    let outcome = bench.app.run(RunSpec { circumstances, ..bench.request(work) }).await;
    assert_asks(&outcome);
    // A grant for mail, from a call that nothing untrusted steers.
    let outcome = bench.run(&plan("return send_email('admin@company.com', 's', 'b')")).await;
    assert_asks(&outcome);
    let pending = bench.app.approvals().pending(Some(&outcome.run_id)).await.unwrap();
    let hour = ApprovalAnswer::For(std::time::Duration::from_secs(3600));
    decide(&bench.app, &pending[0].request.approval_id, hour, "ann").await.unwrap();
    let again = bench.run(&plan("return send_email('admin@company.com', 's', 'b')")).await;
    assert_eq!(again.status(), RunStatus::Succeeded, "{again:?}");
    assert_asks(&bench.run(&plan(ADDRESS_OF_A_MODEL)).await);
}

/// Settings, the body of a plan, and whether a person is asked.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, bool);

#[tokio::test]
async fn sources_are_trusted_and_not_by_tool_and_by_what_they_reach() {
    let row = "local rows = must(query_db{sql = \"SELECT 'admin@company.com' AS address FROM users\"}, 'rows')\n\
               return must(send_email(rows[1].address, 's', 'b'), 'sent')";
    let control =
        "if call_llm('who?') then return must(send_email('admin@company.com', 's', 'b'), 'sent') end";
    let cases: [Case<'_>; 7] = [
        (&[("policy.flow.trusted", "[\"call_llm\"]")], ADDRESS_OF_A_MODEL, false),
        (&[("policy.flow.trusted", "[\"call_*\"]")], control, false),
        (&[("policy.flow.control", "false")], control, false),
        (&[], control, true),
        (&[("policy.flow.untrusted", "[\"query_db:users\"]")], row, true),
        (&[("policy.flow.untrusted", "[\"query_db:tickets\"]")], row, false),
        (&[("policy.flow.untrusted", "[\"*\"]"), ("policy.flow.trusted", "[\"query_db\"]")], row, true),
    ];
    for (settings, body, asks) in cases {
        let bench = bench(&[&[ENFORCE], settings].concat()).await;
        let outcome = bench.run(&plan(body)).await;
        let expected = if asks { RunStatus::Paused } else { RunStatus::Succeeded };
        assert_eq!(outcome.status(), expected, "{settings:?} {body}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_context_of_earlier_runs_is_not_a_persons() {
    let bench = bench(&[ENFORCE]).await;
    let work =
        || Work::Plan { name: "plan".to_owned(), source: plan("return send_email(context.to, 's', 'b')") };
    let context = Value::from_json_text(r#"{"to": "admin@company.com"}"#).unwrap();
    let own = RunSpec { context: Some(context.clone()), ..bench.request(work()) };
    assert_eq!(bench.app.run(own).await.status(), RunStatus::Succeeded);
    let named =
        RunSpec { context: Some(context), context_name: Some("kept".to_owned()), ..bench.request(work()) };
    assert_asks(&bench.app.run(named).await);
}

#[tokio::test]
async fn explain_says_what_will_be_asked() {
    let bench = bench(&[ENFORCE]).await;
    let limits = bench.limits();
    let explained = bench.app.plans().explain(&plan(ADDRESS_OF_A_MODEL), "plan", &limits, None).to_json();
    let call = &explained["preview"]["calls"][1];
    assert_eq!(call["forecast"]["kind"], "asked", "{call}");
    assert_eq!(call["forecast"]["reason"], "untrusted data steers it: `to` comes from `call_llm`, line 2");
}
