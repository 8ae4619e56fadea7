//! Requests to a model, journaled and paid for.

use luaplan_base::{Error, LimitName, Result};
use luaplan_bus::{RunBudget, ask_side_by_side};
use luaplan_journal::RunLog;
use luaplan_llm::{ChatReply, ChatRequest, LlmClient, count_tokens};

/// Sends all `requests` concurrently, journals the events in the order of the requests, and counts
/// their usage.
///
/// Before anything is sent, requests are admitted in their order: one whose prompt exceeds the rest of
/// the budget gets the limit's error instead. The answers share the rest of the budget evenly. So the
/// order of arrival changes neither.
///
/// # Errors
/// The journal's, and `limit_llm_tokens` or `limit_llm_cost` where the answers exceed the budget.
pub(super) async fn ask_all(
    client: &dyn LlmClient,
    requests: Vec<(ChatRequest, RunLog)>,
    budget: &RunBudget,
) -> Result<Vec<Result<ChatReply>>> {
    let left = budget.remaining(LimitName::LlmTokens);
    let mut prompts = 0_u64;
    let mut admitted: Vec<(ChatRequest, RunLog)> = Vec::new();
    let mut refused: Vec<Option<Error>> = Vec::new();
    for (request, log) in requests {
        let tokens: u64 = request.messages.iter().map(|message| count_tokens(&message.text)).sum();
        let wanted = prompts.saturating_add(tokens);
        // Each answer must have room for a token at least.
        if left <= wanted.saturating_add(admitted.len() as u64) {
            let observed = budget.used(LimitName::LlmTokens).saturating_add(wanted);
            refused.push(Some(exceeded(LimitName::LlmTokens, observed, budget)));
        } else if budget.remaining(LimitName::LlmCost) == 0 {
            refused.push(Some(exceeded(LimitName::LlmCost, budget.used(LimitName::LlmCost), budget)));
        } else {
            prompts = wanted;
            admitted.push((request, log));
            refused.push(None);
        }
    }
    let share = (left - prompts) / (admitted.len() as u64).max(1);
    let share = u32::try_from(share).unwrap_or(u32::MAX);
    for (request, _) in &mut admitted {
        request.output_tokens_max = request.output_tokens_max.min(share);
    }

    let mut answers = ask_side_by_side(client, &admitted).await?.into_iter();
    let replies: Vec<Result<ChatReply>> = refused
        .into_iter()
        .filter_map(|refusal| refusal.map_or_else(|| answers.next(), |error| Some(Err(error))))
        .collect();
    for reply in replies.iter().flatten() {
        budget.read_from_cache(reply.usage.cached_tokens);
        let tokens = reply.usage.input_tokens.saturating_add(reply.usage.output_tokens);
        for (name, amount) in
            [(LimitName::LlmTokens, tokens), (LimitName::LlmCost, reply.usage.cost_micro_usd)]
        {
            budget.spend(name, amount)?;
        }
    }
    Ok(replies)
}

fn exceeded(name: LimitName, observed: u64, budget: &RunBudget) -> Error {
    name.exceeded(budget.limits().get(name), observed)
}
