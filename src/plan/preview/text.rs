//! A preview as a page for a reviewer at a terminal.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use luaplan_catalog::TargetKind;

use super::{AgentPlan, AgentReach, Forecast, Preview, PreviewCall, PreviewParameter, Target};
use crate::flow::Origin;
use crate::steps::NamedStep;

/// The names of what is reached, for one or more of a kind.
const HEADINGS: [(TargetKind, &str); 7] = [
    (TargetKind::Host, "hosts"),
    (TargetKind::Recipient, "recipients"),
    (TargetKind::Database, "databases"),
    (TargetKind::Table, "tables"),
    (TargetKind::File, "files"),
    (TargetKind::Model, "models"),
    (TargetKind::Server, "MCP servers"),
];

/// The most characters of a text on a page with [`Texts::Short`].
const TEXT_CHARS_MAX: usize = 60;

/// How a page shows long texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// Their beginning.
    Short,
    /// As they are.
    Whole,
}

impl Texts {
    fn of(self, shown: &str) -> Cow<'_, str> {
        match self {
            Self::Short => shortened(shown),
            Self::Whole => Cow::Borrowed(shown),
        }
    }
}

/// A value as a plan would write it, each text in it cut where it is long.
fn shortened(shown: &str) -> Cow<'_, str> {
    let (mut short, mut kept_to) = (String::new(), 0);
    let mut text_chars: Option<usize> = None;
    let mut is_escaped = false;
    for (at, character) in shown.char_indices() {
        match (&mut text_chars, character) {
            (None, '"') => text_chars = Some(0),
            (None, _) => {}
            (Some(count), '"') if !is_escaped => {
                if *count > TEXT_CHARS_MAX {
                    short.push('…');
                    kept_to = at;
                }
                text_chars = None;
            }
            (Some(count), _) => {
                // A backslash and what it escapes are one character of the text.
                if !is_escaped {
                    *count += 1;
                    if *count == TEXT_CHARS_MAX + 1 {
                        short.push_str(&shown[kept_to..at]);
                    }
                }
                is_escaped = character == '\\' && !is_escaped;
            }
        }
    }
    if kept_to == 0 {
        return Cow::Borrowed(shown);
    }
    short.push_str(&shown[kept_to..]);
    Cow::Owned(short)
}

fn write_steps(steps: &[NamedStep], page: &mut String) {
    if steps.is_empty() {
        return;
    }
    page.push_str("\nsteps\n");
    for step in steps {
        let depends_on = match step.depends_on.as_slice() {
            [] => String::new(),
            names => format!("  after {}", names.join(", ")),
        };
        let _ = writeln!(page, "  {}  line {}{depends_on}", step.name, step.line);
    }
}

impl Preview {
    /// The preview as text: what is called and where each argument comes from, what is reached, how
    /// many calls at most, and what it may cost.
    #[must_use]
    pub fn page(&self, texts: Texts) -> String {
        let mut page = String::new();
        if self.gave_up {
            page.push_str(
                "this plan looks up what it calls in ways that cannot be followed: any tool may be called, with anything\n\n",
            );
        }
        write_parameters(&self.parameters, texts, &mut page);
        if self.calls.is_empty() {
            page.push_str("calls no tool\n");
        } else {
            page.push_str("calls\n");
        }
        for call in &self.calls {
            write_call(call, texts, &mut page);
        }
        write_steps(&self.steps, &mut page);
        page.push_str("\nreturns\n");
        let _ = writeln!(page, "  {}", texts.of(&self.result.shown));
        page.push_str("\nreaches\n");
        let mut lines = 0;
        for (kind, heading) in HEADINGS {
            let names: Vec<String> = self.of(kind).map(|target| target.reach.to_string()).collect();
            if !names.is_empty() {
                lines += 1;
                let _ = writeln!(page, "  {heading:<11} {}", names.join(", "));
            }
        }
        if lines == 0 {
            page.push_str("  nothing outside\n");
        }
        write_agents(&self.agents, texts, &mut page);
        page.push_str("\nat most\n");
        let effects: Vec<&str> = self.effects.iter().map(|effect| effect.as_str()).collect();
        let effects = if effects.is_empty() { "none".to_owned() } else { effects.join(", ") };
        let _ = writeln!(page, "  {:<11} {effects}", "effects");
        let bound = if self.is_unbounded {
            " (the limit `tool_calls`; the plan has no bound of its own)"
        } else {
            ""
        };
        let _ = writeln!(page, "  {:<11} {}{bound}", "calls", self.calls_max);
        let _ = writeln!(page, "  {:<11} {}", "cost", self.cost());
        if let Some(seconds) = self.sleeps_max_seconds {
            let _ = writeln!(page, "  {:<11} waits up to {}", "sleeps", duration(seconds));
        }
        page
    }

    fn of(&self, kind: TargetKind) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(move |target| target.kind == kind)
    }

    fn cost(&self) -> String {
        let dollars =
            format!("{}.{:06} USD", self.cost_max_micro_usd / 1_000_000, self.cost_max_micro_usd % 1_000_000);
        if self.unpriced.is_empty() {
            return dollars;
        }
        let asks_model = |tool: &str| {
            let calls = self.calls.iter().filter(|call| call.tool == tool);
            calls.flat_map(|call| &call.targets).any(|target| target.kind == TargetKind::Model)
        };
        let (by_tokens, others): (Vec<&str>, Vec<&str>) =
            self.unpriced.iter().map(String::as_str).partition(|tool| asks_model(tool));
        let mut text = dollars;
        if !others.is_empty() {
            let _ =
                write!(text, ", and what {} costs, which has no price in its manifest", others.join(", "));
        }
        if !by_tokens.is_empty() {
            let _ = write!(
                text,
                ", and the tokens of {} at the prices of its models (the limit `llm_cost` ends it)",
                by_tokens.join(", ")
            );
        }
        text
    }
}

/// The parameters with their defaults; nothing where the plan has none.
fn write_parameters(parameters: &[PreviewParameter], texts: Texts, page: &mut String) {
    if parameters.is_empty() {
        return;
    }
    page.push_str("parameters\n");
    let width = parameters.iter().map(|one| one.name.chars().count()).max().unwrap_or(0).max(11);
    for PreviewParameter { name, default, description } in parameters {
        let value = match default {
            Some(default) => texts.of(&default.to_string()).into_owned(),
            None => "has to be given".to_owned(),
        };
        let what = if description.is_empty() { String::new() } else { format!("   {description}") };
        let _ = writeln!(page, "  {name:<width$} {value}{what}");
    }
    page.push('\n');
}

/// Seconds in the two largest units they fill.
fn duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")];
    let shown: Vec<String> = parts
        .into_iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if shown.is_empty() { "0 s".to_owned() } else { shown.join(" ") }
}

fn write_call(call: &PreviewCall, texts: Texts, page: &mut String) {
    let often = match call.calls_max {
        Some(0) => "never".to_owned(),
        Some(1) => "at most once".to_owned(),
        Some(times) => format!("at most {times} times"),
        None => "without bound".to_owned(),
    };
    let mut line = call.line.map_or_else(String::new, |line| format!(", line {line}"));
    if let Some(step) = &call.step {
        let _ = write!(line, ", step {step}");
    }
    let _ = writeln!(page, "  {}. {}{line} ({}, {often})", call.number, call.tool, call.effect.as_str());
    if let Some(missing) = &call.not_set_up {
        let _ = writeln!(page, "       (not set up: {missing})");
    }
    let _ = match &call.forecast {
        Some(Forecast::Refused { code, reason }) => {
            writeln!(page, "       (will be refused, `{code}`: {reason})")
        }
        Some(Forecast::MayBeRefused { code, reason }) => {
            writeln!(page, "       (may be refused, `{code}`: {reason})")
        }
        Some(Forecast::Asked { reason }) => writeln!(page, "       (will be asked: {reason})"),
        None => Ok(()),
    };
    for (name, argument) in &call.arguments {
        let _ = writeln!(page, "       {name:<12} {}", texts.of(&argument.shown));
    }
    let decides: Vec<String> = innermost(&call.made.control).map(said).collect();
    if !decides.is_empty() {
        let _ = writeln!(page, "       decided by   {}", decides.join(", "));
    }
}

/// What each agent may do, below its name.
fn write_agents(agents: &[AgentReach], texts: Texts, page: &mut String) {
    if agents.is_empty() {
        return;
    }
    page.push_str("\nagents\n");
    for agent in agents {
        let tools: Vec<&str> = agent.tools.iter().map(|(tool, _)| tool.as_str()).collect();
        let tools = if tools.is_empty() { "no tool".to_owned() } else { tools.join(", ") };
        match &agent.work {
            AgentPlan::Unknown => {
                let _ = writeln!(
                    page,
                    "  {}: its plan is not known before it runs; may do whatever {tools} can",
                    agent.name
                );
            }
            AgentPlan::Refused { reason } => {
                let _ = writeln!(page, "  {}: does nothing: {reason}", agent.name);
            }
            AgentPlan::Saved(plan) => {
                let _ = writeln!(page, "  {}, by {}, may call {tools}", agent.name, plan.file);
            }
        }
        if !agent.limits.is_empty() {
            let limits: Vec<String> =
                agent.limits.iter().map(|(limit, most)| format!("{limit} {most}")).collect();
            let _ = writeln!(page, "       {:<12} {}", "limits", limits.join(", "));
        }
        let AgentPlan::Saved(plan) = &agent.work else { continue };
        if plan.gave_up {
            page.push_str("       looks up what it calls in ways that cannot be followed: any of these, with anything\n");
        }
        let mut calls = String::new();
        plan.calls.iter().for_each(|call| write_call(call, texts, &mut calls));
        calls.lines().for_each(|line| {
            let _ = writeln!(page, "     {line}");
        });
        if !plan.agents.is_empty() {
            let _ = writeln!(page, "       {:<12} {}", "hands on to", plan.agents.join(", "));
        }
    }
}

/// The origins without those that contain another: no `context.rows` beside `context.rows.*.mail`.
fn innermost(origins: &BTreeSet<Origin>) -> impl Iterator<Item = &Origin> {
    let is_around = |outer: &Origin, inner: &Origin| match (outer, inner) {
        (Origin::Context(outer), Origin::Context(inner)) => {
            outer.0.len() < inner.0.len() && inner.0.starts_with(&outer.0)
        }
        _ => false,
    };
    origins.iter().filter(move |outer| !origins.iter().any(|inner| is_around(outer, inner)))
}

fn said(origin: &Origin) -> String {
    match origin {
        Origin::Context(path) => path.to_string(),
        Origin::Call(number) => format!("call {number}"),
        Origin::Anything => "anything".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_where_it_stands_and_shown_whole_on_request() {
        let long = "x".repeat(80);
        let cut = "x".repeat(TEXT_CHARS_MAX);
        for (shown, short) in [
            (format!("{{a = \"{long}\", b = \"y\"}}"), format!("{{a = \"{cut}…\", b = \"y\"}}")),
            (format!("\"{long}\" or \"{long}\""), format!("\"{cut}…\" or \"{cut}…\"")),
            (format!("\"\\\"{long}\""), format!("\"\\\"{}…\"", &cut[1..])),
            (format!("\"{cut}\""), format!("\"{cut}\"")),
            ("context.rows[*].mail".to_owned(), "context.rows[*].mail".to_owned()),
        ] {
            assert_eq!(Texts::Short.of(&shown), short);
            assert_eq!(Texts::Whole.of(&shown), shown);
        }
    }
}
