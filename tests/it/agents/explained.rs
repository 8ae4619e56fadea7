//! `explain` looks into the plans of agents, and says so where it cannot.

use luaplan::catalog::TargetKind;
use luaplan::journal::{EventBody, JournalRead as _, RecordFilter};
use luaplan::plan::preview::{AgentPlan, AgentReach, Preview, TargetPattern, Texts};
use serde_json::json;

use super::{Agents, COUNTER, READER};

const BOSS: &str = "function run(context)
  local got = call_agent(\"counter\", { above = 1, tell = context.tell })
  if got.error then error(got.error) end
  return got
end";

/// Asks a fixed host and mails what context says.
const FETCHER: &str = "function run(context)
  local page = fetch_url(\"https://rates.example.com/daily\")
  if page.error then return nil end
  for i = 1, 2 do send_email{ to = \"ops@example.com\", subject = \"rates\", body = page } end
  return query_db{ sql = \"SELECT name FROM people\" }
end";

fn explained(agents: &Agents, source: &str) -> Preview {
    let limits = agents.bench.limits();
    let explanation = agents.bench.app.plans().explain(source, "plan", &limits, None);
    explanation.preview.unwrap_or_else(|| panic!("{:?}", explanation.findings))
}

fn agent<'a>(preview: &'a Preview, name: &str) -> &'a AgentReach {
    preview.agents.iter().find(|agent| agent.name == name).unwrap_or_else(|| panic!("{name}: {preview:?}"))
}

fn refusal(agent: &AgentReach) -> &str {
    match &agent.work {
        AgentPlan::Refused { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn places_calls_and_limits_of_an_agent_are_named() {
    let tools: &[&str] = &["fetch_url", "query_db", "send_email"];
    let agents =
        Agents::new(&[("fetcher", FETCHER, tools)], &[("agents.fetcher.limits.tool_calls", "4")]).await;
    let preview = explained(&agents, "function run() return call_agent('fetcher') end");
    for (tool, kind, what) in [
        ("fetch_url", TargetKind::Host, "rates.example.com"),
        ("send_email", TargetKind::Recipient, "ops@example.com"),
        ("query_db", TargetKind::Table, "people"),
    ] {
        assert!(preview.announces(tool, kind, what), "{what}: {preview:?}");
        assert!(!preview.announces(tool, kind, "other"), "{preview:?}");
        assert!(preview.targets.iter().any(|target| target.covers(kind, what)), "{preview:?}");
    }
    let AgentPlan::Saved(plan) = &agent(&preview, "fetcher").work else { panic!("{preview:?}") };
    let calls: Vec<(&str, Option<u64>)> =
        plan.calls.iter().map(|call| (call.tool.as_str(), call.calls_max)).collect();
    assert_eq!(calls, [("fetch_url", Some(1)), ("send_email", Some(2)), ("query_db", Some(1))]);
    assert_eq!(json!(agent(&preview, "fetcher").limits), json!({ "tool_calls": 4 }));
    let page = preview.page(Texts::Short);
    for part in [
        "hosts       rates.example.com",
        "recipients  ops@example.com",
        "tables      people",
        "fetcher, by fetcher.lua, may call fetch_url, query_db, send_email",
        "limits       tool_calls 4",
        "2. send_email, line 4 (send, at most 2 times)",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
    let data = serde_json::to_value(&preview).unwrap();
    assert_eq!(data["agents"][0]["work"]["plan"], "saved", "{data}");
    assert_eq!(data["agents"][0]["work"]["calls"][0]["targets"][0]["what"], "rates.example.com", "{data}");
}

#[tokio::test]
async fn agents_of_agents_are_looked_into_as_deep_as_they_are_called() {
    let all: &[&str] = &["call_agent", "query_db", "send_email"];
    let counter: &[&str] = &["query_db", "send_email"];
    let plan = "function run(context) return call_agent('boss', context) end";
    let two = Agents::new(&[("boss", BOSS, all), ("counter", COUNTER, counter)], &[]).await;
    let preview = explained(&two, plan);
    let found: Vec<(&str, u32)> =
        preview.agents.iter().map(|agent| (agent.name.as_str(), agent.depth)).collect();
    assert_eq!(found, [("boss", 1), ("counter", 2)]);
    // Whom the innermost tells stands in a context that is not the plan's.
    assert!(preview.announces("query_db", TargetKind::Table, "users"));
    let recipients: Vec<&TargetPattern> = (preview.targets.iter())
        .filter(|target| target.kind == TargetKind::Recipient)
        .map(|target| &target.reach)
        .collect();
    assert_eq!(recipients, [&TargetPattern::Any]);
    assert!(preview.page(Texts::Short).contains("hands on to  counter"), "{}", preview.page(Texts::Short));

    let one =
        Agents::new(&[("boss", BOSS, all), ("counter", COUNTER, counter)], &[("agent_depth", "1")]).await;
    let preview = explained(&one, plan);
    assert!(refusal(agent(&preview, "counter")).contains("`agent_depth` is 1"), "{preview:?}");
    assert!(!preview.announces("query_db", TargetKind::Table, "users"));

    // One that may do more than the agent that calls it is never started.
    let narrow: &[&str] = &["call_agent", "query_db"];
    let widens = Agents::new(&[("boss", BOSS, narrow), ("counter", COUNTER, counter)], &[]).await;
    let preview = explained(&widens, plan);
    assert!(refusal(agent(&preview, "counter")).contains("may call send_email, which its caller may not"));
    // The plan itself may call it.
    let both = "function run(context) local a = call_agent('boss', context) return { a, call_agent('counter', context) } end";
    let preview = explained(&widens, both);
    assert!(matches!(agent(&preview, "counter").work, AgentPlan::Saved(_)), "{preview:?}");

    // Agents that call each other are named once.
    let other = "function run(context) return call_agent('boss', context) end";
    let round = BOSS.replace("counter", "other");
    let circle = Agents::new(&[("boss", &round, all), ("other", other, all)], &[("agent_depth", "8")]).await;
    assert_eq!(explained(&circle, plan).agents.len(), 2);
}

#[tokio::test]
async fn what_is_not_known_may_be_anything_and_what_is_refused_is_nothing() {
    let agents = Agents::new(
        &[("sender", COUNTER, &["query_db"])],
        &[("agents.writer", "{ task = \"write\", tools = [\"fetch_url\", \"send_email\"] }")],
    )
    .await;
    let preview = explained(&agents, "function run() return call_agent('writer') end");
    assert_eq!(agent(&preview, "writer").work, AgentPlan::Unknown);
    for (tool, kind) in [("fetch_url", TargetKind::Host), ("send_email", TargetKind::Recipient)] {
        assert!(preview.announces(tool, kind, "anyone") && !preview.announces("query_db", kind, "anyone"));
        let any = preview.targets.iter().find(|target| target.kind == kind).unwrap();
        assert_eq!(any.reach, TargetPattern::Any);
    }
    assert!(
        preview.page(Texts::Short).contains("writer: its plan is not known before it runs"),
        "{}",
        preview.page(Texts::Short)
    );

    let preview = explained(&agents, "function run() return call_agent('sender') end");
    let reason = refusal(agent(&preview, "sender"));
    assert!(
        reason.contains("sender.lua is refused by the check: line 5") && reason.contains("send_email"),
        "{reason}"
    );
    assert!(preview.targets.is_empty() && preview.sleeps_max_seconds.is_none(), "{preview:?}");
}

/// What was reached is compared with what was said before.
#[tokio::test]
async fn a_run_reaches_nothing_that_was_not_announced() {
    let tools: &[&str] = &["call_agent", "query_db", "send_email"];
    let agents = Agents::new(
        &[("boss", BOSS, tools), ("counter", COUNTER, tools), ("reader", READER, &["query_db"])],
        &[],
    )
    .await;
    let plan = "function run() local a = call_agent('boss', { tell = \"admin@company.com\" }) local b = call_agent('reader', { above = 2 }) return { a, b } end";
    let preview = explained(&agents, plan);
    let outcome = agents.bench.run(plan).await;
    outcome.result.unwrap();
    let mut reached = 0;
    for record in agents.bench.app.journal().records(RecordFilter::default()).await.unwrap() {
        let EventBody::ToolCallStarted { tool, arguments, .. } = record.event.body else { continue };
        let place = match tool.as_str() {
            "query_db" => (TargetKind::Table, &arguments["table"]),
            "send_email" => (TargetKind::Recipient, &arguments["to"]),
            _ => continue,
        };
        reached += 1;
        assert!(preview.announces(&tool, place.0, place.1.as_str().unwrap()), "{tool} {arguments}");
    }
    assert_eq!(reached, 3);
}
