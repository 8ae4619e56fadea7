//! What tools return and what the context holds stays out of prompts, whatever goes wrong.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use luaplan::app::{PlanningOptions, RunSpec, Work};
use luaplan::base::{Result, Value};
use luaplan::journal::EventBody;
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage};
use serde_json::json;

use crate::app_parts::Bench;

/// In the context, and in a row of the demo's database.
const IN_CONTEXT: &str = "canary-4f1d9a";
const IN_A_ROW: &str = "user3@example.com";

/// Answers from a list, the last one for good, and keeps every prompt.
pub(crate) struct Listening {
    answers: Mutex<VecDeque<String>>,
    prompts: Mutex<Vec<String>>,
}

impl Listening {
    pub(crate) fn new(plans: &[&str]) -> Arc<Self> {
        let answers = plans.iter().map(|plan| json!({ "plan": plan }).to_string()).collect();
        Arc::new(Self { answers: Mutex::new(answers), prompts: Mutex::default() })
    }

    pub(crate) fn heard(&self, text: &str) -> usize {
        self.prompts.lock().unwrap().iter().filter(|prompt| prompt.contains(text)).count()
    }
}

#[async_trait]
impl LlmClient for Listening {
    async fn chat(
        &self,
        request: &ChatRequest,
        _progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let prompt: Vec<&str> = request.messages.iter().map(|message| message.text.as_str()).collect();
        self.prompts.lock().unwrap().push(prompt.join("\n"));
        let mut answers = self.answers.lock().unwrap();
        let text = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Ok(ChatReply {
            text: text.unwrap_or_default(),
            usage: TokenUsage::default(),
            provider: "test".to_owned(),
            model: "listening".to_owned(),
            duration: Duration::ZERO,
            recorded: false,
        })
    }

    fn name(&self) -> String {
        "test/listening".to_owned()
    }
}

/// Raises what the context and a row hold.
const RAISES: &str = "function run(context)
  local rows = query_db{table = \"users\"}
  if rows.error then error(rows.error) end
  local text = \"\"
  for _, row in ipairs(rows) do text = text .. \" \" .. row.email end
  error(\"cannot go on with \" .. context.customer.id .. \":\" .. text)
end";

/// Uses a failure whose text holds what the context holds.
const MISUSES: &str = "function run(context)
  local rows = query_db{table = \"users\"}
  local more = query_db{sql = \"SELECT x FROM users WHERE \" .. context.customer.id}
  if rows.error then return rows.error end
  return #more
end";

/// Does not pass the check.
const REFUSED: &str = "function run(context) return query_dbs{table = context.customer.id} end";

const GOOD: &str = "function run(context) return {ok = true} end";

async fn plan_with(
    settings: &[(&str, &str)],
    candidates: u32,
) -> (Arc<Listening>, Bench, luaplan::engine::RunOutcome) {
    let model = Listening::new(&[RAISES, REFUSED, MISUSES, GOOD]);
    let bench = Bench::with(settings, Some(Arc::clone(&model) as _)).await;
    let context = json!({"customer": {"id": IN_CONTEXT, "notes": [IN_CONTEXT, {"deep": IN_CONTEXT}]}});
    let request = RunSpec {
        context: Some(Value::from_json(context).unwrap()),
        planning: PlanningOptions { candidates: Some(candidates), ..PlanningOptions::default() },
        ..bench.request(Work::Task("Report on the users.".to_owned()))
    };
    let outcome = bench.app.run(request).await;
    (model, bench, outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_prompt_holds_what_tools_or_the_context_said() {
    let (model, bench, outcome) = plan_with(&[("planner.replans", "3")], 1).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert_eq!(model.prompts.lock().unwrap().len(), 4);
    for canary in [IN_CONTEXT, IN_A_ROW, "4f1d9a"] {
        assert_eq!(model.heard(canary), 0, "{canary} reached the model");
    }
    // What the model needs is told all the same.
    assert_eq!(model.heard("failed on line 6 with `plan_error`: \"cannot go on with …\""), 1);
    assert_eq!(model.heard("6 |   error("), 1);
    assert_eq!(model.heard("\n1. query_db, line 2: ok"), 2);
    assert_eq!(model.heard("2. query_db, line 3: failed, `"), 1);
    assert_eq!(model.heard("`tool_error_used`"), 1);
    // Words of the schema: what rows are called and of which kind, and what the database says about the statement.
    let last = model.prompts.lock().unwrap().last().cloned().unwrap_or_default();
    for told in ["   it returned: list of {", "name: string", "   its message: \"database `…"] {
        assert!(last.contains(told), "{told}: {last}");
    }
    let rounds: Vec<(u32, u32, String)> = bench
        .records(&outcome.run_id)
        .await
        .into_iter()
        .filter_map(|record| match record.event.body {
            EventBody::ReplanRound { attempt, attempts_max, code, .. } => {
                Some((attempt, attempts_max, code.to_string()))
            }
            _ => None,
        })
        .collect();
    let expected = [(1, 3, "plan_error".to_owned()), (2, 3, "tool_error_used".to_owned())];
    assert_eq!(rounds, expected, "each new plan is on record and bounded");
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_and_a_reviewer_see_no_data_either() {
    let settings = [("planner.replans", "3"), ("planner.reviewer", "true")];
    let (model, bench, outcome) = plan_with(&settings, 3).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert!(model.prompts.lock().unwrap().len() >= 4);
    for canary in [IN_CONTEXT, IN_A_ROW, "4f1d9a"] {
        assert_eq!(model.heard(canary), 0, "{canary} reached the model");
    }
    assert!(bench.events(&outcome.run_id).await.contains(&"candidate_judged"));
}

#[tokio::test(flavor = "multi_thread")]
async fn data_of_a_failed_run_is_shared_only_where_the_configuration_says_so() {
    let settings = [("planner.replans", "3"), ("planner.share_run_data", "true")];
    let (model, _bench, outcome) = plan_with(&settings, 1).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert!(model.heard(IN_CONTEXT) > 0, "the message of the failed run is told");
    assert!(model.heard(IN_A_ROW) > 0, "and what the tools said");
}
