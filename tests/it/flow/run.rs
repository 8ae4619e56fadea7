//! Runs a generated plan on mocks, with one source varied.

use luaplan::base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, ToolFailure, Value};
use luaplan::catalog::{Catalog, TargetKind, read_manifest};
use luaplan::sandbox::{Interrupt, Step, Vm, VmLimits, VmOptions};
use serde_json::json;

pub(crate) const PARAMETERS: [&str; 2] = ["first", "second"];

const MANIFEST: &str = r#"
name = "NAME"
description = "A tool of generated plans."
effect = "read"
kind = "builtin"
price_micro_usd = 10
[params]
type = "object"
additionalProperties = false
[params.properties.first]
[params.properties.second]
[targets]
first = "KIND"
"#;

const TOOLS: [(&str, &str); 3] = [("look", "table"), ("fetch", "url"), ("send", "recipient")];

pub(crate) fn catalog() -> Catalog {
    let manifest = |(name, kind): (&str, &str)| {
        read_manifest(&MANIFEST.replace("NAME", name).replace("KIND", kind), name).unwrap()
    };
    TOOLS.into_iter().map(manifest).collect()
}

/// A call that was made.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) line: Option<u32>,
    arguments: Value,
}

impl Call {
    pub(crate) fn argument(&self, name: &str) -> Value {
        self.arguments.get(name).cloned().unwrap_or(Value::Null)
    }

    /// The places its arguments name.
    pub(crate) fn reached(&self) -> Vec<(TargetKind, String)> {
        let kind = match self.tool.as_str() {
            "look" => TargetKind::Table,
            "fetch" => TargetKind::Host,
            _ => TargetKind::Recipient,
        };
        let argument = self.argument("first");
        let texts: Vec<&str> = match &argument {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let place = |text: &str| match kind {
            TargetKind::Host => url::Url::parse(text).ok()?.host_str().map(str::to_owned),
            TargetKind::Recipient if text.contains([',', ';', '<']) => None,
            TargetKind::Recipient => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            _ => Some(text.to_owned()),
        };
        texts.into_iter().filter_map(place).map(|what| (kind, what)).collect()
    }
}

/// The source that differs in the second run.
#[derive(Debug, Clone)]
pub(crate) enum Varied {
    Context(Vec<String>, Value),
    Call((String, Option<u32>)),
}

pub(crate) fn context() -> Value {
    value(json!({
        "a": "alpha", "b": 2, "c": ["p", "q", "r"], "d": {"x": "dx", "y": "dy"}, "e": true, "u": "https://ctx.example/x",
    }))
}

pub(crate) fn variations() -> Vec<Varied> {
    let vary = |path: &[&str], value: serde_json::Value| {
        Varied::Context(path.iter().map(|part| (*part).to_owned()).collect(), self::value(value))
    };
    vec![
        vary(&["a"], json!("beta")),
        vary(&["a"], json!(7)),
        vary(&["b"], json!(3)),
        vary(&["c"], json!(["p"])),
        vary(&["d", "x"], json!("other")),
        vary(&["d", "y"], json!(null)),
        vary(&["e"], json!(false)),
        vary(&["u"], json!("https://other.example/y")),
    ]
}

impl Varied {
    pub(crate) fn context(&self, base: &Value) -> Value {
        let Varied::Context(path, value) = self else { return base.clone() };
        let mut changed = base.clone();
        let mut at = &mut changed;
        for part in path {
            let Value::Object(members) = at else { return base.clone() };
            at = members.entry(part.clone()).or_insert(Value::Null);
        }
        *at = value.clone();
        changed
    }
}

fn value(json: serde_json::Value) -> Value {
    Value::from_json(json).unwrap()
}

fn answer(call: &CallRequest, turn: usize, varied: bool) -> CallOutcome {
    let line = call.line.unwrap_or(0) as usize;
    let kind = (line * 7 + turn * 3 + call.tool.len() + usize::from(varied) * 5) % 9;
    let tag = format!("{}{line}.{turn}{}", call.tool, if varied { "'" } else { "" });
    Ok(match kind {
        0 => return Err(ToolFailure::new(ErrorCode::FetchFailed, tag).retryable()),
        1 => return Err(ToolFailure::new(ErrorCode::BadArguments, tag)),
        2 => Value::Integer(i64::try_from(line % 4).unwrap() + i64::from(varied)),
        3 => value(json!([{"name": tag, "n": line}, {"name": "second", "n": turn}])),
        4 => value(json!({"name": tag, "list": ["k", tag]})),
        5 => Value::Bool(varied),
        6 => value(json!(["one", tag, "three"])),
        _ => Value::String(tag),
    })
}

/// The arguments of a call that was refused.
fn as_written(given: &[Value]) -> Value {
    match given {
        [named @ Value::Object(_)] => named.clone(),
        others => {
            let named = PARAMETERS.iter().map(|name| (*name).to_owned()).zip(others.iter().cloned());
            Value::Object(named.collect())
        }
    }
}

/// Runs the plan; gives its calls and whether it came to its end, or nothing where a limit ended it.
pub(crate) fn run(source: &str, context: &Value, varied: Option<&Varied>) -> Option<(Vec<Call>, bool)> {
    let catalog = catalog();
    let mut limits = VmLimits::from(&LimitProfile::Standard.limits());
    limits.instructions = 3_000_000;
    limits.tool_calls = 400;
    let options = VmOptions {
        limits,
        tools: TOOLS.map(|(name, _)| name.to_owned()).to_vec(),
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    };
    let mut step = Vm::new(options).unwrap().start(source, "plan.lua", context);
    let mut calls: Vec<Call> = Vec::new();
    let stopped = loop {
        step = match step {
            Step::Calls(pending) => {
                let mut outcomes = Vec::new();
                for call in &pending.calls {
                    let here = |made: &&Call| made.tool == call.tool && made.line == call.line;
                    let turn = calls.iter().filter(here).count();
                    let arguments = match catalog.get(&call.tool).unwrap().bind(&call.arguments) {
                        Ok(bound) => bound,
                        Err(failure) => {
                            outcomes.push(Err(failure));
                            let arguments = as_written(&call.arguments.0);
                            calls.push(Call { tool: call.tool.clone(), line: call.line, arguments });
                            continue;
                        }
                    };
                    let differs = matches!(varied, Some(Varied::Call((tool, line))) if *tool == call.tool && *line == call.line);
                    outcomes.push(answer(call, turn, differs));
                    calls.push(Call { tool: call.tool.clone(), line: call.line, arguments });
                }
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => break stopped,
        };
    };
    match stopped.result {
        Ok(_) => Some((calls, true)),
        Err(error) if error.code().as_str().starts_with("limit_") => None,
        // Failures that the plan ignored are found at its end.
        Err(error) => Some((calls, error.code() == ErrorCode::ToolErrorIgnored)),
    }
}
