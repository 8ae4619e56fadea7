//! Chooses the tools of a prompt where not all fit.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value as Json;

use luaplan_base::Value;
use luaplan_catalog::{Catalog, ToolSpec, named_in, prompt_stubs, search};
use luaplan_llm::count_tokens;

use super::planning::{PlanningRequest, ToolRules};

/// So many of the nearest tools are always shown.
const SHOWN_MIN: usize = 5;
/// Keys of the context below this depth do not count as words of the task.
const KEY_DEPTH_MAX: usize = 3;
const KEYS_MAX: usize = 200;
/// The approximate size of the section beside the tools: the note on omitted tools.
const FIXED_TOKENS: u64 = 95;

/// The note on shapes that were learned.
const SEEN: &str = "A result marked `-- seen` is not declared: earlier calls returned that, others may not. Its names are data.\n\n";

/// No declarations have more bytes a token than this; so a longer text surely does not fit and need not be
/// counted.
const BYTES_PER_TOKEN_MAX: u64 = 8;

/// The tools of a prompt during trimming.
pub(super) struct ToolChoice<'a> {
    catalog: &'a Catalog,
    rules: &'a [ToolRules],
    /// Most critical first.
    order: Vec<Arc<ToolSpec>>,
    /// The first so many are never omitted.
    kept_min: usize,
    /// How many of `order` are shown.
    shown: usize,
    bare: bool,
    section: String,
    tokens: u64,
}

impl<'a> ToolChoice<'a> {
    /// Every tool. Tools that `conversation`, the task or the context names stay. Beyond `budget_tokens`
    /// their size is an estimate.
    pub(super) fn all(request: &PlanningRequest<'a>, conversation: &str, budget_tokens: u64) -> Self {
        let catalog = request.catalog;
        let words = words_of(request);
        let context = request.context.to_json().to_string();
        let named: BTreeSet<&str> = [request.task, &context, conversation]
            .into_iter()
            .flat_map(|text| named_in(catalog, text))
            .collect();
        let ranked = search(catalog, &words);
        let mut others: Vec<&str> = catalog.names().collect();
        others.sort_unstable();
        let order: IndexSet<&str> = named
            .iter()
            .copied()
            .chain(ranked.iter().map(|found| found.spec.name.as_str()))
            .chain(others)
            .collect();
        let order: Vec<Arc<ToolSpec>> =
            order.into_iter().filter_map(|name| catalog.get(name).cloned()).collect();
        let mut choice = Self {
            catalog,
            rules: request.tool_rules,
            kept_min: named.len().max(SHOWN_MIN).min(order.len()),
            shown: order.len(),
            order,
            bare: false,
            section: String::new(),
            tokens: 0,
        };
        choice.section = choice.write();
        let least = choice.section.len() as u64 / BYTES_PER_TOKEN_MAX;
        choice.tokens = if least > budget_tokens { least } else { count_tokens(&choice.section) };
        choice
    }

    /// The prompt's section.
    pub(super) fn section(&self) -> &str {
        &self.section
    }

    /// The tokens of the section.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Whether every tool is shown, so that the section is the same for each task.
    pub(super) fn is_whole(&self) -> bool {
        self.shown == self.order.len()
    }

    /// The names of the omitted tools, the least relevant first.
    pub(super) fn left_out(&self) -> Vec<String> {
        self.order.iter().skip(self.shown).rev().map(|spec| spec.name.clone()).collect()
    }

    /// Keeps the most relevant tools that take at most `tokens_max` together, and those that must stay.
    /// Says whether it omitted any.
    pub(super) fn leave_out(&mut self, tokens_max: u64) -> bool {
        let before = self.shown;
        let mut used = FIXED_TOKENS;
        let mut fitting = 0;
        while fitting < before {
            let Some(spec) = self.order.get(fitting) else { break };
            used += count_tokens(&self.stub(spec));
            if used > tokens_max && fitting >= self.kept_min {
                break;
            }
            fitting += 1;
        }
        self.shown = fitting;
        self.refresh();
        while self.tokens > tokens_max && self.shown > self.kept_min {
            self.shown -= 1;
            self.refresh();
        }
        self.shown < before
    }

    /// Cuts descriptions to their first sentences, and those of parameters entirely. Says whether that
    /// changed anything.
    pub(super) fn strip_descriptions(&mut self) -> bool {
        if self.bare || self.order.is_empty() {
            return false;
        }
        self.bare = true;
        self.refresh();
        true
    }

    fn stub(&self, spec: &ToolSpec) -> String {
        if self.bare { without_descriptions(spec).prompt_stub() } else { spec.prompt_stub() }
    }

    fn refresh(&mut self) {
        self.section = self.write();
        self.tokens = count_tokens(&self.section);
    }

    /// In the catalog's order, not the ranking's, so that servers stay together.
    fn write(&self) -> String {
        if self.order.is_empty() {
            return "## Tools\n\nThere are none: the program only computes.".to_owned();
        }
        let shown: BTreeSet<&str> =
            self.order.iter().take(self.shown).map(|spec| spec.name.as_str()).collect();
        let kept: Catalog = self
            .catalog
            .iter()
            .filter(|spec| shown.contains(spec.name.as_str()))
            .map(|spec| if self.bare { without_descriptions(spec) } else { (**spec).clone() })
            .collect();
        format!(
            "## Tools\n\n{}{}```lua\n{}\n```{}",
            self.note(),
            if kept.iter().any(|spec| spec.seen.is_some()) { SEEN } else { "" },
            prompt_stubs(&kept).trim(),
            self.rules_of(&shown)
        )
    }

    /// What is to be known of the shown tools as they are set up, while there is room for descriptions.
    fn rules_of(&self, shown: &BTreeSet<&str>) -> String {
        let told = self.rules.iter().filter(|of| !self.bare && shown.contains(of.tool.as_str()));
        let lines: Vec<String> =
            told.map(|of| format!("- `{}`: {}.", of.tool, of.rules.join("; "))).collect();
        if lines.is_empty() {
            String::new()
        } else {
            format!("\n\nAs they are set up here:\n{}", lines.join("\n"))
        }
    }

    /// The note to the model on omitted tools.
    fn note(&self) -> String {
        let all = self.order.len();
        if self.shown == all {
            return String::new();
        }
        format!(
            "{} of {all} tools are declared here: those nearest to the task. The check knows all {all} and a plan \
             may call any of them, but a name or parameter that is only guessed is refused. Where none of these \
             does a part of the task, let `run` end with `error(\"…\")` that says what is missing.\n\n",
            self.shown
        )
    }
}

/// The words a request is about: its task, and the keys of its context.
pub(super) fn words_of(request: &PlanningRequest<'_>) -> String {
    let mut keys = Vec::new();
    collect_keys(request.context, KEY_DEPTH_MAX, &mut keys);
    let answers: Vec<&str> = request.answered.iter().map(|answered| answered.answer.as_str()).collect();
    format!("{}\n{}\n{}", request.task, answers.join("\n"), keys.join(" "))
}

/// A tool with the first sentence of its description, without its parameters' and without what was seen of its results.
#[must_use]
pub fn without_descriptions(spec: &ToolSpec) -> ToolSpec {
    let mut spec = spec.clone();
    let end = spec.description.find(". ").map_or(spec.description.len(), |end| end + 1);
    spec.description.truncate(end);
    strip(&mut spec.params);
    strip(&mut spec.result);
    spec.seen = None;
    spec
}

fn strip(schema: &mut Json) {
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        for property in properties.values_mut() {
            strip(property);
            if let Some(members) = property.as_object_mut() {
                members.shift_remove("description");
            }
        }
    }
    if let Some(items) = schema.get_mut("items") {
        strip(items);
    }
}

fn collect_keys<'a>(value: &'a Value, depth: usize, keys: &mut Vec<&'a str>) {
    if depth == 0 || keys.len() >= KEYS_MAX {
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                keys.push(key);
                collect_keys(value, depth - 1, keys);
            }
        }
        // One item stands for all.
        Value::Array(items) => items.iter().take(1).for_each(|item| collect_keys(item, depth, keys)),
        _ => {}
    }
}
