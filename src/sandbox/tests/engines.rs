//! One behaviour on both engines: the cases of `tests/cases/sandbox`.
//!
//! Results, the codes of errors and the calls made are the same. A case with the line
//! `-- engine: mlua (REASON)` is for the first engine alone.

use luaplan_base::Value;

use super::harness::{answer, limits, options};
use crate::{Machine, PiccoloVm, Step, Vm};

/// What is compared.
#[derive(Debug, PartialEq)]
struct Seen {
    end: Result<String, &'static str>,
    printed: String,
    calls: Vec<String>,
}

fn seen_on<M: Machine>(source: &str, context: &Value) -> (Seen, u64) {
    let mut step = M::new(options(limits())).unwrap().start(source, "plan.lua", context);
    let (mut printed, mut calls) = (String::new(), Vec::new());
    loop {
        step = match step {
            Step::Calls(mut pending) => {
                printed.push_str(&pending.take_printed());
                calls.extend(
                    pending
                        .calls
                        .iter()
                        .map(|call| format!("{} {} {:?}", call.id, call.tool, call.arguments.0)),
                );
                let outcomes = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => {
                printed.push_str(&stopped.printed);
                let end = stopped.result.map(|value| value.to_json().to_string());
                let end = end.map_err(|error| error.code().as_str());
                return (Seen { end, printed, calls }, stopped.usage.instructions);
            }
        }
    }
}

fn cases() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/sandbox");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|file| {
            (
                file.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read_to_string(&file).unwrap(),
            )
        })
        .collect()
}

fn said<'a>(source: &'a str, key: &str) -> Option<&'a str> {
    let prefix = format!("-- {key}: ");
    source.lines().find_map(|line| line.strip_prefix(prefix.as_str()))
}

#[test]
fn every_case_ends_the_same_on_both_engines() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (name, source) in cases() {
        if said(&source, "engine").is_some() {
            continue;
        }
        let context = Value::from_json_text(said(&source, "context").unwrap_or("{}")).unwrap();
        let first = seen_on::<Vm>(&source, &context).0;
        let second = seen_on::<PiccoloVm>(&source, &context).0;
        compared += 1;
        if first != second {
            wrong.push(format!("{name}:\n  mlua    {first:?}\n  piccolo {second:?}"));
        }
    }
    assert!(compared > 20, "only {compared} cases were compared");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_plan_costs_the_same_every_time_on_the_second_engine() {
    let source = "function run(context)
        local seen, parts = {}, {}
        for i = 1, 200 do seen['k' .. i % 50] = i if i % 3 == 0 then seen['k' .. i % 7] = nil end end
        for key, value in pairs(seen) do parts[#parts + 1] = key .. '=' .. value end
        local co = coroutine.wrap(function() for i = 1, 20 do coroutine.yield(i) end end)
        for i = 1, 20 do parts[#parts + 1] = tostring(co() / 2) end
        table.sort(parts)
        return table.concat(parts, ',') .. echo('x')
    end";
    let first = seen_on::<PiccoloVm>(source, &Value::Null);
    assert!(first.0.end.is_ok(), "{first:?}");
    for _ in 1..20 {
        assert_eq!(seen_on::<PiccoloVm>(source, &Value::Null), first);
    }
}
