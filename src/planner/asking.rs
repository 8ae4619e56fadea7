//! One request to a model, journaled and paid for.

use crate::base::{Error, LimitName, Result};
use crate::bus::{RunBudget, ask_model};
use crate::journal::RunLog;
use crate::llm::{ChatReply, ChatRequest, LlmClient, count_tokens};

/// Asks `client`, journals what happens, and counts what it used.
///
/// # Errors
/// The client's, the journal's, and `limit_llm_tokens` or `limit_llm_cost`: before the request
/// where the prompt alone would go over, after it where the answer did.
pub(super) async fn ask(
    client: &dyn LlmClient,
    mut request: ChatRequest,
    log: &RunLog,
    budget: &RunBudget,
) -> Result<ChatReply> {
    let prompt_tokens: u64 = request.messages.iter().map(|message| count_tokens(&message.text)).sum();
    let left = budget.remaining(LimitName::LlmTokens);
    if left <= prompt_tokens {
        let observed = budget.used(LimitName::LlmTokens).saturating_add(prompt_tokens);
        return Err(exceeded(LimitName::LlmTokens, observed, budget));
    }
    if budget.remaining(LimitName::LlmCost) == 0 {
        return Err(exceeded(LimitName::LlmCost, budget.used(LimitName::LlmCost), budget));
    }
    let output_left = u32::try_from(left - prompt_tokens).unwrap_or(u32::MAX);
    request.output_tokens_max = request.output_tokens_max.min(output_left);

    let reply = ask_model(client, &request, log).await?;
    let tokens = reply.usage.input_tokens.saturating_add(reply.usage.output_tokens);
    for (name, amount) in [(LimitName::LlmTokens, tokens), (LimitName::LlmCost, reply.usage.cost_micro_usd)] {
        budget.spend(name, amount)?;
    }
    Ok(reply)
}

fn exceeded(name: LimitName, observed: u64, budget: &RunBudget) -> Error {
    name.exceeded(budget.limits().get(name), observed)
}
