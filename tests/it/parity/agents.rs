//! The same calls by the run of an agent: what is done about them, and what is on record, is the same.

use std::path::Path;

use luaplan::base::{CallId, RunId};
use luaplan::engine::RunOutcome;
use luaplan::journal::{JournalRead as _, RecordFilter};
use serde_json::{Value as Json, json};

use super::{Kind, Stand, sorted_within_branches, told};

/// What denies every call of a tool.
const DENIED: &str =
    "version = 1\n[[rule]]\nname = \"never\"\ntool = \"TOOL\"\ndecision = \"deny\"\nreason = \"not here\"\n";

fn plan(kind: Kind) -> String {
    let argument = if kind == Kind::Builtin { "SELECT 'x' AS said" } else { "x" };
    let call = format!("{}{{sql = \"{argument}\"}}", kind.tool());
    format!(
        "function run(context)\n  local a = {call}\n  if a.error then return {{code = a.code}} end\n  local both = parallel{{function() return {call} end, function() return {call} end}}\n  local late = {call}\n  return {{a = a[1].said, b = both[2][1].said, late = late.code}}\nend"
    )
}

/// A tool of a kind and an agent that may call it, under a policy file where there is one.
async fn stand(kind: Kind, folder: &Path, policy: Option<&str>) -> Stand {
    std::fs::write(folder.join("worker.lua"), plan(kind)).unwrap();
    let file = folder.join("worker.lua").display().to_string();
    let agent = format!("{{ plan = {file:?}, tools = [{:?}] }}", kind.tool());
    let mut settings = vec![("agents.worker".to_owned(), agent)];
    if let Some(policy) = policy {
        std::fs::write(folder.join("policy.toml"), policy.replace("TOOL", kind.tool())).unwrap();
        settings.push((
            "policy.file".to_owned(),
            format!("{:?}", folder.join("policy.toml").display().to_string()),
        ));
    }
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    Stand::with(kind, &settings).await
}

/// The calls of a run, as the audit has them, and the result of the request that started it.
async fn seen(stand: &Stand, run_id: &RunId, outcome: RunOutcome) -> (Vec<String>, Json) {
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let records = stand.shop.app.journal().records(filter).await.unwrap();
    let calls = records.iter().filter(|record| record.event.body.call_id().is_some());
    let story = sorted_within_branches(calls.map(|record| told(&record.event.body)).collect());
    (story, outcome.result.unwrap().to_json())
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_an_agent_are_decided_limited_and_recorded_as_the_plans_own() {
    for policy in [None, Some(DENIED)] {
        for kind in Kind::ALL {
            let folder = tempfile::tempdir().unwrap();
            let own = stand(kind, folder.path(), policy).await;
            let outcome = own.shop.run(&plan(kind)).await;
            let run_id = outcome.run_id.clone();
            let expected = seen(&own, &run_id, outcome).await;
            // The rates anew.
            let through = stand(kind, folder.path(), policy).await;
            let outcome = through.shop.run("function run()\n  return call_agent(\"worker\", {})\nend").await;
            let child = outcome.run_id.of_call(&CallId::single(1));
            assert_eq!(seen(&through, &child, outcome).await, expected, "{kind:?} {policy:?}");
            let result = match policy {
                None => json!({"a": "x", "b": "x", "late": "rate_limited"}),
                Some(_) => json!({"code": "permission_denied"}),
            };
            assert_eq!(expected.1, result, "{kind:?}");
        }
    }
}
