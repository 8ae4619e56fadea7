//! Agents: runs that plans start, on the real parts, each with its own records below its caller's.

mod explained;
mod granted;
mod kills;
mod rests;

use std::path::Path;

use luaplan::app::{RunSpec, Work};
use luaplan::base::{RunId, Value};
use luaplan::engine::RunOutcome;
use luaplan::journal::{EventBody, JournalRead as _, RunState, RunStatus};

use crate::app_parts::Bench;

/// Counts users above an age; a mail tells how many where the context says to whom.
pub(crate) const COUNTER: &str = r#"function run(context)
  local rows = query_db{ table = "users", where = "age > ?", params = { context.above } }
  if rows.error then error(rows.error) end
  if context.tell then
    local sent = send_email(context.tell, "counted " .. context.above, tostring(#rows))
    if sent.error then error("not told: " .. sent.error) end
  end
  return { count = #rows }
end"#;

/// The same without mail.
pub(crate) const READER: &str = r#"function run(context)
  local rows = query_db{ table = "users", where = "age > ?", params = { context.above } }
  if rows.error then error(rows.error) end
  return { count = #rows }
end"#;

/// An agent's settings as TOML.
pub(crate) fn agent(folder: &Path, name: &str, source: &str, tools: &[&str]) -> (String, String) {
    let file = folder.join(format!("{name}.lua"));
    std::fs::write(&file, source).unwrap();
    let path = file.display().to_string();
    (format!("agents.{name}"), format!("{{ plan = {path:?}, tools = {tools:?} }}"))
}

/// An application whose agents are these: name, plan, tools.
pub(crate) struct Agents {
    pub(crate) bench: Bench,
    _plans: tempfile::TempDir,
}

impl Agents {
    pub(crate) async fn new(agents: &[(&str, &str, &[&str])], further: &[(&str, &str)]) -> Self {
        let plans = tempfile::tempdir().unwrap();
        let own: Vec<(String, String)> =
            agents.iter().map(|(name, source, tools)| agent(plans.path(), name, source, tools)).collect();
        let settings = own.iter().map(|(key, text)| (key.as_str(), text.as_str()));
        let settings: Vec<(&str, &str)> = settings.chain(further.iter().copied()).collect();
        Self { bench: Bench::with(&settings, None).await, _plans: plans }
    }

    pub(crate) fn request(&self, source: &str) -> RunSpec {
        self.bench.request(Work::Plan { name: "plan".to_owned(), source: source.to_owned() })
    }

    pub(crate) async fn state(&self, run_id: &RunId) -> RunState {
        self.bench.app.journal().run_state(run_id).await.unwrap().unwrap()
    }

    /// The runs that the calls of a run started, in the order of the calls.
    pub(crate) async fn children(&self, run_id: &RunId) -> Vec<RunState> {
        let mut children = Vec::new();
        for record in self.bench.records(run_id).await {
            if let EventBody::AgentStarted { child_run_id, .. } = record.event.body {
                children.push(self.state(&child_run_id).await);
            }
        }
        // Those of one `parallel` start in any order.
        children.sort_by_key(|child: &RunState| child.parent.as_ref().unwrap().call_id.clone());
        children
    }

    pub(crate) fn mails(&self) -> usize {
        self.bench.parts.received().len()
    }
}

pub(crate) fn result(outcome: RunOutcome) -> serde_json::Value {
    outcome.result.unwrap().to_json()
}

#[tokio::test]
async fn an_agent_gives_a_value_or_an_error_value_and_has_records_of_its_own() {
    let agents = Agents::new(
        &[("counter", READER, &["query_db"]), ("broken", "function run() error('no luck') end", &[])],
        &[],
    )
    .await;
    let source = r#"function run(context)
  local young = call_agent("counter", { above = 20 })
  if young.error then return young.error end
  local both = parallel{
    function() return call_agent{ name = "counter", context = { above = 30 } } end,
    function() return call_agent("broken") end,
  }
  if both[1].error then return both[1].error end
  return { young = young.count, old = both[1].count, code = both[2].code, said = both[2].error }
end"#;
    let outcome = agents.bench.run(source).await;
    let run_id = outcome.run_id.clone();
    let result = result(outcome);
    assert_eq!((&result["old"], &result["code"]), (&4.into(), &"plan_error".into()), "{result}");
    assert!(result["said"].as_str().unwrap().contains("agent `broken` failed"), "{result}");
    let children = agents.children(&run_id).await;
    let ends: Vec<_> = children
        .iter()
        .map(|child| {
            let parent = child.parent.as_ref().unwrap();
            assert_eq!(parent.run_id, run_id);
            (parent.call_id.as_str(), parent.agent.as_str(), child.status)
        })
        .collect();
    let expected = [
        ("1", "counter", RunStatus::Succeeded),
        ("2.1", "counter", RunStatus::Succeeded),
        ("2.2", "broken", RunStatus::Failed),
    ];
    assert_eq!(ends, expected);
    // What they called counts as the caller's calls too: three of its own, two of theirs.
    assert_eq!(agents.state(&run_id).await.usage.unwrap().tool_calls, 5);
    let request = luaplan::app::ReplayRequest {
        run_id,
        with: None,
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let report = agents.bench.app.runs().replay(request).await.unwrap();
    assert!(
        report.differences.iter().all(|what| what.contains("instructions")) || report.same,
        "{report:#?}"
    );
    assert!(report.same, "{report:#?}");
}

#[tokio::test]
async fn cancel_reaches_an_agent_under_way() {
    let source = "function run() return retry(10, function() error('again') end) end";
    let agents = Agents::new(&[("stubborn", source, &[])], &[]).await;
    let request = agents.request("function run() return call_agent('stubborn') end");
    let (run_id, cancel) = (request.run_id.clone(), request.cancel.clone());
    let mut events = agents.bench.app.history().hub().subscribe();
    let (outcome, ()) = tokio::join!(agents.bench.app.run(request), async {
        while events.recv().await.unwrap().event.body.name() != "step_retry_scheduled" {}
        cancel.cancel();
    });
    assert_eq!(outcome.status(), RunStatus::Cancelled);
    let children = agents.children(&run_id).await;
    assert_eq!(children.len(), 1);
    assert_eq!(children[0].status, RunStatus::Cancelled);
}

#[tokio::test]
async fn mocks_answer_for_agents_by_their_names() {
    let agents = Agents::new(&[("counter", READER, &["query_db"])], &[]).await;
    let mocks = serde_json::json!([
        { "tool": "call_agent", "when": { "name": "counter" }, "returns": { "count": 7 } },
    ]);
    let handler =
        luaplan::testkit::MockTools::from_json(mocks, agents.bench.app.tools().catalog()).unwrap().handler();
    let source = "function run() local got = call_agent('counter', { above = 1 }) return got.count end";
    let request = RunSpec { handler: Some(handler), ..agents.request(source) };
    let outcome = agents.bench.app.run(request).await;
    assert_eq!(result(outcome), 7);
}

#[tokio::test]
async fn an_agent_with_a_task_is_planned_for_each_call() {
    use luaplan::llm::{RecordedClient, RecordedReply};
    let plan = "function run(context) return { doubled = context.n * 2 } end";
    let text = serde_json::json!({ "plan": plan, "explanation": "x" }).to_string();
    let reply = || RecordedReply { matches: Some("double the number".to_owned()), text: text.clone() };
    let model = std::sync::Arc::new(RecordedClient::new("double", vec![reply(), reply()]));
    let settings = [("agents.doubler", "{ task = \"double the number n\" }")];
    let bench = Bench::with(&settings, Some(model)).await;
    let source = r#"function run(context)
  local one, two = call_agent("doubler", { n = 2 }), call_agent("doubler", { n = 21 })
  if one.error or two.error then return one.error or two.error end
  return { one.doubled, two.doubled }
end"#;
    let outcome = bench.run_with(source, Some(Value::default()), bench.limits()).await;
    assert_eq!(result(outcome), serde_json::json!([4, 42]));
}

#[tokio::test]
async fn starting_over_counts_what_agents_did_and_not_that_they_were_called() {
    let both: [(&str, &str, &[&str]); 2] =
        [("reader", READER, &["query_db"]), ("counter", COUNTER, &["query_db", "send_email"])];
    let agents = Agents::new(&both, &[]).await;
    let app = &agents.bench.app;
    let reads = agents.request("function run() return call_agent('reader', { above = 30 }) end");
    let run_id = reads.run_id.clone();
    result(app.run(reads).await);
    assert!(
        app.runs().start_over(&run_id, false).await.is_ok(),
        "an agent that reads leaves nothing to be done again"
    );

    let plan = "function run() return call_agent('counter', { above = 30, tell = 'admin@company.com' }) end";
    let writes = agents.request(plan);
    let run_id = writes.run_id.clone();
    result(app.run(writes).await);
    let refused = app.runs().start_over(&run_id, false).await.err().expect("a mail went out");
    assert_eq!(refused.code(), luaplan::base::ErrorCode::EffectsRepeat);
    let child = agents.children(&run_id).await.remove(0).run_id;
    let named = &refused.details()["calls"][0];
    assert_eq!((&named["tool"], &named["run_id"]), (&"send_email".into(), &child.as_str().into()));
    assert!(refused.message().contains(child.as_str()), "{refused}");
    assert!(
        refused.help().contains(&format!("luaplan reset {run_id} --repeat-effects")),
        "{}",
        refused.help()
    );
}
