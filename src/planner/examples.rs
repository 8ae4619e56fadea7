//! Worked examples for the prompt. A test holds them to the check.

use luaplan_catalog::Catalog;
use luaplan_llm::count_tokens;

/// The most tokens of all examples together; the first is shown in any case.
const TOKENS_MAX: u64 = 260;

/// A task with a plan that does it well.
pub(super) struct Example {
    pub(super) name: &'static str,
    pub(super) task: &'static str,
    /// The tools it calls; the prompt shows it only where the catalog has all of them.
    pub(super) tools: &'static [&'static str],
    pub(super) source: &'static str,
}

/// In the order they are shown; the last is cut first.
pub(super) const EXAMPLES: [Example; 3] = [
    Example {
        name: "query_report_email",
        task: "Mail the list of active users to the address in the context.",
        tools: &["query_db", "transform_data", "send_email"],
        source: include_str!("examples/query_report_email.lua"),
    },
    Example {
        name: "fetch_each",
        task: "Fetch the given pages and tell how long each is and which failed.",
        tools: &["fetch_url"],
        source: include_str!("examples/fetch_each.lua"),
    },
    Example {
        name: "retry_parallel",
        task: "Add up all orders and count the refunds; the database is sometimes busy.",
        tools: &["query_db"],
        source: include_str!("examples/retry_parallel.lua"),
    },
];

impl Example {
    /// As the prompt shows it.
    pub(super) fn text(&self) -> String {
        format!("Task: {}\n```lua\n{}\n```", self.task, self.source.trim_end())
    }
}

/// The first examples that only use tools of `catalog`, as many as a prompt has room for.
pub(super) fn fitting(catalog: &Catalog) -> Vec<&'static Example> {
    let mut used = 0;
    EXAMPLES
        .iter()
        .filter(|example| example.tools.iter().all(|tool| catalog.get(tool).is_some()))
        .enumerate()
        .take_while(|(at, example)| {
            used += count_tokens(&example.text());
            *at == 0 || used <= TOKENS_MAX
        })
        .map(|(_, example)| example)
        .collect()
}
