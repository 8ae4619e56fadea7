//! Takes the Lua program out of a model's answer.

use serde_json::{Map, Value as Json};

use super::short_forms;

/// A program found in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// The Lua source, with line feeds only.
    pub source: String,
    /// What the model says about it.
    pub explanation: Option<String>,
}

/// As much as a person reads of what a model says about its plan.
const EXPLANATION_CHARACTERS_MAX: usize = 2_000;

/// Finds the program: the `plan` of a JSON answer first, then a fenced block, then bare code. The `plan` may be but a
/// `return`, and a JSON answer may name one call (`direct`) or the result itself (`answer`) in its place.
///
/// Only text that defines `run` counts as bare code or as a block without a language. The check decides
/// whether it is valid Lua, as its findings help the model more than "no program".
#[must_use]
pub fn extract(answer: &str) -> Option<Extracted> {
    let text = answer.replace("\r\n", "\n").replace('\r', "\n");
    let text = without_thoughts(&text).trim_start_matches('\u{feff}').trim();
    if let Some(found) = from_json(text) {
        return Some(found);
    }
    let blocks = fenced_blocks(text);
    let in_json_block =
        blocks.iter().filter(|block| block.is_json()).find_map(|block| from_json(&block.text));
    if in_json_block.is_some() {
        return in_json_block;
    }
    let source = best_block(blocks).or_else(|| bare_code(text))?;
    Some(Extracted { source, explanation: None })
}

/// The answer without a model's thoughts before it.
fn without_thoughts(text: &str) -> &str {
    match text.rfind("</think>") {
        Some(end) => text.get(end + "</think>".len()..).unwrap_or_default(),
        None => text,
    }
}

/// The JSON object of an answer in the form that was asked for, or the first in a block of JSON.
pub(super) fn answer_object(answer: &str) -> Option<Json> {
    let text = answer.replace("\r\n", "\n").replace('\r', "\n");
    let text = without_thoughts(&text).trim_start_matches('\u{feff}').trim();
    let in_block =
        || fenced_blocks(text).iter().filter(|block| block.is_json()).find_map(|block| object(&block.text));
    object(text).or_else(in_block)
}

/// The first JSON object of a text.
fn object(text: &str) -> Option<Json> {
    let text = text.get(text.find('{')?..)?;
    first_json(text).or_else(|| first_json(&escape_raw_breaks(text)))
}

fn from_json(text: &str) -> Option<Extracted> {
    let object = object(text)?;
    let source = program_in(object.as_object()?)?;
    let explanation = object.get("explanation").and_then(Json::as_str).map(str::trim);
    let explanation = explanation.filter(|explanation| !explanation.is_empty());
    Some(Extracted {
        source: ended(&source),
        explanation: explanation.map(|words| words.chars().take(EXPLANATION_CHARACTERS_MAX).collect()),
    })
}

/// The program of a JSON answer: its `plan`, else what a shorter form stands for.
fn program_in(answer: &Map<String, Json>) -> Option<String> {
    let text = |key| answer.get(key).and_then(Json::as_str).unwrap_or_default();
    // Some models give the program as their answer.
    let plan = if defines_run(text("answer")) { text("answer") } else { text("plan") };
    // Lua ends a line at each of these, and a page shows none of them: code behind one would look like a comment.
    let plan = plan.replace("\r\n", "\n").replace('\r', "\n");
    let source = best_block(fenced_blocks(&plan)).unwrap_or_else(|| plan.trim().to_owned());
    if source.is_empty() { short_forms::plan_of(answer) } else { Some(short_forms::whole(source)) }
}

/// The JSON value at the start of `text`, whatever follows it.
fn first_json(text: &str) -> Option<Json> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

/// Escapes line breaks and tabs inside JSON strings, which models forget to do.
fn escape_raw_breaks(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 64);
    let mut in_string = false;
    let mut after_backslash = false;
    for c in text.chars() {
        match c {
            '\n' if in_string => escaped.push_str("\\n"),
            '\t' if in_string => escaped.push_str("\\t"),
            _ => escaped.push(c),
        }
        if c == '"' && !after_backslash {
            in_string = !in_string;
        }
        after_backslash = in_string && c == '\\' && !after_backslash;
    }
    escaped
}

/// One fenced block.
struct Block {
    language: String,
    text: String,
}

impl Block {
    fn is_lua(&self) -> bool {
        matches!(self.language.as_str(), "lua" | "luau" | "lua5.4")
    }

    fn is_json(&self) -> bool {
        self.language == "json"
    }
}

/// Blocks fenced by three or more backticks or tildes, however indented; the last may be open.
fn fenced_blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        let Some((mark, length, info)) = fence(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let language = info.split(|c: char| c.is_whitespace() || matches!(c, '{' | ',' | ':')).next();
        let mut body: Vec<&str> = Vec::new();
        for line in lines.by_ref() {
            if matches!(fence(line), Some((other, count, "")) if other == mark && count >= length) {
                break;
            }
            let own = line.len() - line.trim_start().len();
            body.push(line.get(own.min(indent)..).unwrap_or_default());
        }
        let language = language.unwrap_or_default().to_lowercase();
        blocks.push(Block { language, text: body.join("\n") });
    }
    blocks
}

/// A fence's mark, its length, and what follows it.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let info = rest.trim();
    (length >= 3 && !info.contains(mark)).then_some((mark, length, info))
}

/// The longest block that defines `run`; a Lua block that does not is better than none.
fn best_block(blocks: Vec<Block>) -> Option<String> {
    let rank = |block: &Block| (defines_run(&block.text), block.is_lua(), block.text.len());
    let mut best: Option<Block> = None;
    for block in blocks {
        let counts = block.is_lua() || defines_run(&block.text);
        // Of two equals the first stays.
        if counts
            && !block.text.trim().is_empty()
            && best.as_ref().is_none_or(|known| rank(&block) > rank(known))
        {
            best = Some(block);
        }
    }
    best.map(|block| ended(block.text.trim_matches('\n')))
}

/// Code without a fence: from the first line that looks like Lua to the last `end`.
fn bare_code(text: &str) -> Option<String> {
    if !defines_run(text) {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let first = lines.iter().position(|line| looks_like_lua(line))?;
    let last = lines.iter().rposition(|line| line.trim_start().starts_with("end") || defines_run(line))?;
    let code = lines.get(first..=last)?;
    defines_run(&code.join("\n")).then(|| ended(&code.join("\n")))
}

fn looks_like_lua(line: &str) -> bool {
    line.starts_with("--") || line.starts_with("local ") || line.starts_with("function ") || defines_run(line)
}

fn defines_run(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let rest =
            line.strip_prefix("function").map(str::trim_start).and_then(|rest| rest.strip_prefix("run"));
        if let Some(rest) = rest {
            return rest.trim_start().starts_with('(');
        }
        line.strip_prefix("run")
            .and_then(|rest| rest.trim_start().strip_prefix('='))
            .is_some_and(|rest| rest.trim_start().starts_with("function"))
    })
}

fn ended(source: &str) -> String {
    format!("{}\n", source.trim_end())
}
