//! Autonomous runs go on until their task is done, and the mode of a run changes while it runs. Real parts, real services, real
//! processes; the model's answers are scripted.

mod judged;
mod killed;
mod nodes;
mod switched;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use luaplan::app::{PlanningOptions, RunSpec, Work};
use luaplan::base::Result;
use luaplan::bus::{Circumstances, Mode};
use luaplan::engine::RunOutcome;
use luaplan::journal::{EventBody, Record};
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage};
use serde_json::json;

use crate::app_parts::Bench;

/// Gives its answers in order, and keeps what it was asked.
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) fn new(answers: &[String]) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.iter().cloned().collect()), asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl LlmClient for Scripted {
    async fn chat(
        &self,
        request: &ChatRequest,
        _progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let asked: Vec<&str> = request.messages.iter().map(|message| message.text.as_str()).collect();
        self.asked.lock().unwrap().push(asked.join("\n"));
        let text = self.answers.lock().unwrap().pop_front().unwrap_or_else(|| panic!("{}", asked.join("\n")));
        Ok(ChatReply {
            text,
            usage: TokenUsage { input_tokens: 10, output_tokens: 1, ..TokenUsage::default() },
            provider: "test".to_owned(),
            model: "scripted".to_owned(),
            duration: Duration::ZERO,
            recorded: false,
        })
    }

    fn name(&self) -> String {
        "test/scripted".to_owned()
    }
}

/// A model's answer with a plan.
pub(crate) fn plan(source: &str) -> String {
    json!({ "plan": source, "explanation": "x" }).to_string()
}

/// A model's answer whether a task is done.
pub(crate) fn verdict(done: bool, reason: &str) -> String {
    json!({ "done": done, "reason": reason }).to_string()
}

/// An autonomous run of a task, on a database, a picture server and a mailbox.
pub(crate) async fn run_in(bench: &Bench, planning: PlanningOptions) -> RunOutcome {
    let circumstances = Circumstances { mode: Mode::Autonomous, ..Circumstances::default() };
    let work = Work::Task("Report on the users.".to_owned());
    bench.app.run(RunSpec { circumstances, planning, ..bench.request(work) }).await
}

/// Number, most, and what was said where it was judged.
type Told = (u32, u32, Option<(bool, String)>);

/// The iterations on record.
pub(crate) fn iterations(records: &[Record]) -> Vec<Told> {
    let iteration = |record: &Record| match &record.event.body {
        EventBody::Iteration { iteration, iterations_max, done, observation, .. } => {
            let said = done.map(|done| (done, observation.clone().unwrap_or_default()));
            Some((*iteration, *iterations_max, said))
        }
        _ => None,
    };
    records.iter().filter_map(iteration).collect()
}

/// How often an event is on record.
pub(crate) fn count(records: &[Record], name: &str) -> usize {
    records.iter().filter(|record| record.event.body.name() == name).count()
}
