//! `call_llm(prompt)`: a model's answer as text, or as a value that follows a schema, paid from the run's budget.
//!
//! The answer is untrusted data: the tool returns its bytes unchanged and acts on none of them. The
//! model sees the prompt and the data given with it, marked as such, and nothing else of the run.
//!
//! **Never here:** providers, prices, retries (the client does those), prompts for plans, tools
//! or context for the model.

mod request;
mod structured;

use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::{CallOutcome, Error, ErrorCode, LimitName, Result, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Invocation, RunBudget, Tool, ask_model, short_list};
use luaplan_catalog::{ToolSpec, check_document};
use luaplan_llm::{ChatReply, LlmClient};

use self::request::{AnswerForm, LlmArguments};

/// The tool.
pub struct CallLlm {
    spec: ToolSpec,
    client: Arc<dyn LlmClient>,
    depth_max: u32,
}

impl CallLlm {
    /// The tool that `spec` describes. A run nested in `depth_max` or more model calls may not call
    /// again; a run that a caller started has depth 0.
    #[must_use]
    pub fn new(spec: ToolSpec, client: Arc<dyn LlmClient>, depth_max: u32) -> Self {
        Self { spec, client, depth_max }
    }

    async fn answer(&self, invocation: &Invocation) -> Result<Value, ToolFailure> {
        let asked = LlmArguments::read(&invocation.arguments)?;
        asked.model.map_or(Ok(()), |name| self.knows(name))?;
        let budget = &invocation.budget;
        if budget.llm_depth >= self.depth_max {
            let message = format!("this run is nested in {} model calls already", budget.llm_depth);
            return Err(Error::new(ErrorCode::LlmDepth, message)
                .with_limit(self.depth_max, budget.llm_depth)
                .into());
        }
        let output_tokens_max = fit(budget, &asked)?;
        let reply = ask_model(&*self.client, &asked.request(output_tokens_max), &invocation.log).await;
        let reply = reply.map_err(failure)?;
        pay(budget, &reply)?;
        match &asked.form {
            AnswerForm::Text => Ok(Value::String(reply.text)),
            AnswerForm::Json => json_text(&reply.text).map(Value::from),
            AnswerForm::Schema(schema) => {
                let document = serde_json::from_str(json_text(&reply.text)?).unwrap_or_default();
                check_document(schema, &document)
                    .map_err(|why| unusable(format!("the model's answer does not follow `schema`: {why}")))?;
                Ok(Value::from_json(document)?)
            }
        }
    }

    /// Whether the model that the plan names is configured.
    fn knows(&self, name: &str) -> Result<(), ToolFailure> {
        let names = self.client.model_names();
        if names.iter().any(|known| known == name) {
            return Ok(());
        }
        let known = match names.as_slice() {
            [] => "no model has a name here: leave `model` out".to_owned(),
            names => format!("the models are {}", names.join(", ")),
        };
        let message = format!("there is no model `{name}`; {known}");
        Err(ToolFailure::new(ErrorCode::BadArguments, message))
    }
}

#[async_trait]
impl Tool for CallLlm {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn could_call(&self, arguments: &Value) -> Result<(), ToolFailure> {
        LlmArguments::read(arguments)?.model.map_or(Ok(()), |name| self.knows(name))
    }

    fn could_ever_call(&self, call: &ForeseenCall) -> Result<(), ToolFailure> {
        if let Some(Value::String(name)) = call.known.get("model").filter(|_| call.is_certain("model")) {
            self.knows(name)?;
        }
        if call.is_whole() { self.could_call(&call.arguments()) } else { Ok(()) }
    }

    fn planning_rules(&self) -> Vec<String> {
        match self.client.model_names() {
            names if names.is_empty() => Vec::new(),
            names => vec![format!("values of `model`: {}", short_list(&names))],
        }
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.answer(&invocation).await
    }
}

/// The longest answer that the budget still pays for, at most the length asked for.
///
/// Concurrent calls each see the rest of the budget now, so together they can exceed it by at most
/// one answer each; the one that does ends the run.
fn fit(budget: &RunBudget, asked: &LlmArguments<'_>) -> Result<u32> {
    budget.check(LimitName::LlmCost, 1)?;
    let prompt_tokens = asked.prompt_tokens();
    budget.check(LimitName::LlmTokens, prompt_tokens + 1)?;
    let left = budget.remaining(LimitName::LlmTokens).saturating_sub(prompt_tokens);
    Ok(u32::try_from(left).unwrap_or(u32::MAX).min(asked.output_tokens_max))
}

/// Counts tokens and cost before either limit refuses, as both are spent.
fn pay(budget: &RunBudget, reply: &ChatReply) -> Result<()> {
    let usage = reply.usage;
    budget.read_from_cache(usage.cached_tokens);
    let tokens = budget.spend(LimitName::LlmTokens, usage.input_tokens.saturating_add(usage.output_tokens));
    let cost = budget.spend(LimitName::LlmCost, usage.cost_micro_usd);
    tokens.and(cost)
}

fn failure(error: Error) -> ToolFailure {
    let retryable = matches!(
        error.code(),
        ErrorCode::LlmRateLimited
            | ErrorCode::LlmTimeout
            | ErrorCode::LlmUnavailable
            | ErrorCode::LlmStreamCut
            | ErrorCode::LlmInvalidReply
    );
    let failure = ToolFailure::from(error);
    if retryable { failure.retryable() } else { failure }
}

/// The one JSON document in an answer: the whole of it, or what one code fence around it holds.
fn json_text(answer: &str) -> Result<&str, ToolFailure> {
    let trimmed = answer.trim();
    let fenced = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let text = fenced.map_or(trimmed, |inside| {
        let (tag, content) = inside.split_once('\n').unwrap_or(("", inside));
        if tag.trim().chars().all(char::is_alphanumeric) { content.trim() } else { inside.trim() }
    });
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).map(drop);
    is_json.map(|()| text).map_err(|error| invalid(&format!("something else: {error}")))
}

fn invalid(what: &str) -> ToolFailure {
    unusable(format!("the model was asked for JSON and answered {what}"))
}

fn unusable(message: String) -> ToolFailure {
    ToolFailure::new(ErrorCode::LlmInvalidReply, message).retryable()
}
