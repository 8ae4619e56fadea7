//! The tools of plans, as `run_lua` declares them.

use luaplan_catalog::{Catalog, ToolKind, ToolSpec, stubs};
use luaplan_llm::count_tokens;
use luaplan_planner::without_descriptions;

/// The most tokens of declarations in an assistant's context. Clients show every tool's description to
/// their model on every turn.
pub(super) const TOKENS_MAX: u64 = 4_000;

/// How many names of undeclared tools are listed.
const NAMES_MAX: usize = 200;

/// Declarations of as many tools as fit into `tokens_max`: in full where all fit, else with first
/// sentences only; built-in tools first, as plans without them do little. Omitted tools are listed by
/// name while the list is short.
pub(super) fn declare(catalog: &Catalog, tokens_max: u64) -> String {
    let full = stubs(catalog);
    if count_tokens(&full) <= tokens_max {
        return fenced(&full);
    }
    let mut order: Vec<ToolSpec> = catalog.iter().map(|spec| without_descriptions(spec)).collect();
    order.sort_by_key(|spec| spec.kind != ToolKind::Builtin);
    let (mut shown, mut left_out, mut used) = (Vec::new(), Vec::new(), 0);
    for spec in order {
        let tokens = count_tokens(&spec.stub());
        if used + tokens <= tokens_max {
            used += tokens;
            shown.push(spec);
        } else {
            left_out.push(spec.name);
        }
    }
    let mut text = fenced(&stubs(&shown.into_iter().collect()));
    if !left_out.is_empty() {
        let count = left_out.len();
        left_out.truncate(NAMES_MAX);
        let more = if count > NAMES_MAX { ", …" } else { "" };
        text.push_str(&format!(
            "\n\n{count} more tools are not declared here; find their declarations with `search_tools` before you \
             use them, as guessed names and parameters are refused: {}{more}",
            left_out.join(", ")
        ));
    }
    text
}

fn fenced(stubs: &str) -> String {
    format!("```lua\n{}\n```", stubs.trim())
}
