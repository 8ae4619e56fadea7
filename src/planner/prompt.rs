//! The prompt: its parts in fixed order, fitted into a budget of tokens.

use std::fmt;

use serde_json::Value as Json;

use super::examples::{Example, fitting};
use super::library::{LibraryStub, split};
use super::shape::shape;
use super::{PlannerSettings, PlanningRequest};
use crate::base::{Error, ErrorCode, LimitName, Limits, Result};
use crate::catalog::{Catalog, ToolSpec, stubs};
use crate::llm::count_tokens;

const RULES: &str = include_str!("rules.md");
/// How deep the context's shape is shown, and how deep after each trimming step.
const SHAPE_DEPTHS: [usize; 4] = [6, 3, 2, 1];

/// A composed prompt.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Rules, tools and library.
    pub system: String,
    /// Context shape, examples and task.
    pub user: String,
    /// How it was fitted.
    pub budget: PromptBudget,
}

/// How a prompt was fitted into its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptBudget {
    /// The most it may have.
    pub budget_tokens: u64,
    /// What it has, with what is said after it.
    pub used_tokens: u64,
    /// Its parts in order.
    pub parts: Vec<PromptPart>,
    /// What was cut, in the order it was cut: `example:NAME`, `library:NAME`, `context:depth N`,
    /// `tools:descriptions`.
    pub trimmed: Vec<String>,
}

/// One part of a prompt and what it takes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PromptPart {
    /// `rules`, `tools`, `library`, `context`, `examples`, `task` or `conversation`.
    pub name: &'static str,
    /// Its tokens.
    pub tokens: u64,
}

impl fmt::Display for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# system\n\n{}\n\n# user\n\n{}", self.system, self.user)
    }
}

/// The parts while they are being cut to size.
struct Draft<'a> {
    rules: String,
    tools: String,
    tools_trimmed: bool,
    libraries: Vec<LibraryStub>,
    context_depth: usize,
    context: String,
    examples: Vec<&'a Example>,
    task: String,
    reserved: u64,
}

/// Composes the prompt for `request` so that it and `reserved` tokens fit `budget_tokens`.
pub(super) fn compose(
    settings: &PlannerSettings,
    request: &PlanningRequest<'_>,
    budget_tokens: u64,
    reserved: u64,
) -> Result<Prompt> {
    let mut draft = Draft {
        rules: format!("{}\n{}", RULES.trim_end(), limits_text(request.limits)),
        tools: stubs(request.catalog),
        tools_trimmed: false,
        libraries: split(settings.library_stubs),
        context_depth: 0,
        context: String::new(),
        examples: fitting(request.catalog).collect(),
        task: request.task.trim().to_owned(),
        reserved,
    };
    draft.show_context(request, 0);
    let mut trimmed = Vec::new();
    let mut parts = draft.parts();
    while sum(&parts) > budget_tokens {
        match draft.trim(request) {
            Some(what) => trimmed.push(what),
            None => return Err(too_long(budget_tokens, &parts)),
        }
        parts = draft.parts();
    }
    let used_tokens = sum(&parts);
    Ok(Prompt {
        system: draft.system(),
        user: draft.user(),
        budget: PromptBudget { budget_tokens, used_tokens, parts, trimmed },
    })
}

impl Draft<'_> {
    fn show_context(&mut self, request: &PlanningRequest<'_>, step: usize) {
        self.context_depth = step;
        self.context = shape(request.context, SHAPE_DEPTHS.get(step).copied().unwrap_or(1));
    }

    /// Cuts the least critical part that is left and names it. Rules, the tools' signatures and
    /// the task are never cut.
    fn trim(&mut self, request: &PlanningRequest<'_>) -> Option<String> {
        if let Some(example) = self.examples.pop() {
            return Some(format!("example:{}", example.name));
        }
        if let Some(library) = self.libraries.pop() {
            return Some(format!("library:{}", library.name));
        }
        while let Some(depth) = SHAPE_DEPTHS.get(self.context_depth + 1) {
            let before = self.context.len();
            self.show_context(request, self.context_depth + 1);
            if self.context.len() < before {
                return Some(format!("context:depth {depth}"));
            }
        }
        if !self.tools_trimmed {
            self.tools_trimmed = true;
            self.tools = stubs(&without_descriptions(request.catalog));
            return Some("tools:descriptions".to_owned());
        }
        None
    }

    fn context_section(&self) -> String {
        section("Context", None, &format!("context: {}", self.context))
    }

    fn library(&self) -> String {
        self.libraries.iter().map(|library| library.text.as_str()).collect::<Vec<_>>().join("\n\n")
    }

    fn examples(&self) -> String {
        let one = |example: &&Example| {
            format!("Task: {}\n```lua\n{}\n```", example.task, example.source.trim_end())
        };
        self.examples.iter().map(one).collect::<Vec<_>>().join("\n\n")
    }

    fn parts(&self) -> Vec<PromptPart> {
        let part = |name, text: &str| PromptPart { name, tokens: count_tokens(text) };
        vec![
            part("rules", &self.rules),
            part("tools", &section("Tools", Some("lua"), &self.tools)),
            part("library", &section("Library", Some("lua"), &self.library())),
            part("context", &self.context_section()),
            part("examples", &section("Examples", None, &self.examples())),
            part("task", &section("Task", None, &self.task)),
            PromptPart { name: "conversation", tokens: self.reserved },
        ]
    }

    fn system(&self) -> String {
        let tools = section("Tools", Some("lua"), &self.tools);
        join([self.rules.clone(), tools, section("Library", Some("lua"), &self.library())])
    }

    fn user(&self) -> String {
        join([
            self.context_section(),
            section("Examples", None, &self.examples()),
            section("Task", None, &self.task),
        ])
    }
}

fn section(title: &str, fence: Option<&str>, text: &str) -> String {
    match (text.trim(), fence) {
        ("", _) => String::new(),
        (text, Some(language)) => format!("## {title}\n\n```{language}\n{text}\n```"),
        (text, None) => format!("## {title}\n\n{text}"),
    }
}

fn join<const N: usize>(sections: [String; N]) -> String {
    let kept: Vec<String> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    kept.join("\n\n")
}

fn sum(parts: &[PromptPart]) -> u64 {
    parts.iter().map(|part| part.tokens).sum()
}

/// The limits a writer of plans can do something about.
fn limits_text(limits: &Limits) -> String {
    let limit = |name: LimitName| format!("{} {} of `{name}`", limits.get(name), name.unit());
    let names = [LimitName::ToolCalls, LimitName::Wall, LimitName::Source, LimitName::Output];
    format!("- Limits of the run: {}.", names.map(limit).join(", "))
}

/// The same tools with the first sentence of their descriptions and without their parameters'.
fn without_descriptions(catalog: &Catalog) -> Catalog {
    let bare = |spec: &ToolSpec| {
        let mut spec = spec.clone();
        let end = spec.description.find(". ").map_or(spec.description.len(), |end| end + 1);
        spec.description.truncate(end);
        strip(&mut spec.params);
        strip(&mut spec.result);
        spec
    };
    catalog.iter().map(|spec| bare(spec)).collect()
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

fn too_long(budget_tokens: u64, parts: &[PromptPart]) -> Error {
    let observed = sum(parts);
    Error::new(
        ErrorCode::LlmContextOverflow,
        format!("rules, tools and task take {observed} tokens; the prompt may have {budget_tokens}"),
    )
    .with_limit(budget_tokens, observed)
    .with_help("shorten the task, enable fewer tools, or raise `llm.prompt_tokens`")
    .with_detail("parts", serde_json::to_value(parts).unwrap_or_default())
}
