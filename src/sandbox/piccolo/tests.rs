//! Differences between piccolo and Lua 5.4 that the rewriting removes: each line gives the same on both
//! engines.

use luaplan_base::{ErrorCode, LimitProfile, Value};

use crate::{Interrupt, Machine, PiccoloVm, Step, Stopped, Vm, VmLimits, VmOptions};

fn run<M: Machine>(source: &str, limits: VmLimits) -> Stopped {
    let options = VmOptions {
        limits,
        tools: vec!["echo".to_owned()],
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    };
    let mut step = M::new(options).unwrap().start(source, "plan.lua", &Value::Null);
    loop {
        step = match step {
            Step::Calls(pending) => {
                let outcomes = pending
                    .calls
                    .iter()
                    .map(|call| Ok(call.arguments.0.first().cloned().unwrap_or_default()));
                let outcomes = outcomes.collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => return stopped,
        }
    }
}

fn limits() -> VmLimits {
    VmLimits::from(&LimitProfile::Standard.limits())
}

fn end<M: Machine>(body: &str) -> Result<String, String> {
    let stopped = run::<M>(&format!("function run() {body}\nend"), limits());
    stopped.result.map(|value| value.to_json().to_string()).map_err(|error| error.to_string())
}

#[test]
fn each_line_gives_the_same_on_both_engines() {
    let lines = include_str!("../../../tests/cases/engines/lines.txt");
    let mut wrong = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (first, second) = (end::<Vm>(line), end::<PiccoloVm>(line));
        if first != second {
            wrong.push(format!("{line}\n  mlua    {first:?}\n  piccolo {second:?}"));
        }
    }
    assert!(lines.lines().count() > 40 && wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn stopped_by(body: &str, limits: VmLimits) -> ErrorCode {
    run::<PiccoloVm>(&format!("function run() {body} end"), limits).result.unwrap_err().code()
}

#[test]
fn every_limit_stops_a_plan() {
    let small = VmLimits { instructions: 2_000_000, memory_bytes: 16 << 20, ..limits() };
    for body in [
        "while true do end",
        "repeat local ok = pcall(function() while true do end end) until false",
        "local s = string.rep('a', 10000) return s:find(string.rep('a*', 30) .. 'b')",
        "for i = 1, math.huge do end",
    ] {
        assert_eq!(stopped_by(body, small), ErrorCode::LimitInstructions, "{body}");
    }
    let much = VmLimits { instructions: 500_000_000, ..small };
    for body in [
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "return string.rep('x', 1e9)",
        "local t = {} while true do t[#t + 1] = string.rep('x', 100000) .. #t end",
    ] {
        assert_eq!(stopped_by(body, much), ErrorCode::LimitMemory, "{body}");
    }
    assert_eq!(stopped_by("local function f(n) return 1 + f(n) end f(1)", much), ErrorCode::LimitCallDepth);
    let deep = "local co = coroutine.wrap(function() local function f(n) return 1 + f(n) end f(1) end) co()";
    assert_eq!(stopped_by(deep, much), ErrorCode::LimitCallDepth);
    let quiet = VmLimits { print_bytes: 100, ..small };
    assert_eq!(stopped_by("while true do print('x') end", quiet), ErrorCode::LimitPrintBytes);
    let few = VmLimits { tool_calls: 3, ..small };
    assert_eq!(stopped_by("while true do echo(1) end", few), ErrorCode::LimitToolCalls);
    let brief = VmLimits { output_bytes: 10, ..small };
    assert_eq!(stopped_by("return 'xxxxxxxxxxxxxxxxxxxxx'", brief), ErrorCode::LimitOutputBytes);
}

#[test]
fn what_the_engine_lacks_is_refused_with_its_line() {
    for (source, line) in [
        ("function run()\nlocal x <close> = nil\nend", 2),
        ("local __luaplan_add = 1\nfunction run() end", 1),
        ("function run()\n\nlocal _ENV = {}\nend", 3),
        ("function run() _ENV = {} end", 1),
        ("local function f(_ENV) end\nfunction run() end", 1),
    ] {
        let error = run::<PiccoloVm>(source, limits()).result.unwrap_err();
        assert_eq!(error.code(), ErrorCode::EngineUnsupported, "{error}");
        assert_eq!(error.details().get("line").and_then(serde_json::Value::as_u64), Some(line));
        let found = luaplan_plan::unsupported_on_piccolo(source);
        assert_eq!(found.iter().map(|finding| u64::from(finding.line)).collect::<Vec<_>>(), [line]);
    }
    assert!(
        luaplan_plan::unsupported_on_piccolo("function run() local a <const> = 1 return -a // 2 end")
            .is_empty()
    );
}

#[test]
fn what_the_compiler_does_not_take_is_known_before_the_plan_begins() {
    // As deep as a worker's stack is.
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(|| {
        let functions = "t[1] = function() end ".repeat(257);
        for body in [functions.as_str(), &format!("local a = 1 return {}a", "a + ".repeat(200))] {
            let source = format!("local t = {{}}\nfunction run()\n{body}\nend");
            let error = super::compiles_on_piccolo(&source).unwrap_err();
            assert_eq!(error.code(), ErrorCode::EngineUnsupported, "{error}");
            assert_eq!(run::<PiccoloVm>(&source, limits()).result.unwrap_err().code(), error.code());
        }
    });
    thread.unwrap().join().unwrap();
    let enough = "t[1] = function() end ".repeat(250);
    assert!(super::compiles_on_piccolo(&format!("local t = {{}} function run() {enough} end")).is_ok());
    let long = super::compiles_on_piccolo(&" ".repeat(49 * 1024)).unwrap_err();
    assert_eq!(long.code(), ErrorCode::EngineUnsupported);
}

#[test]
fn keys_that_are_objects_come_in_one_order_in_every_vm() {
    let body = "local t, o, s = {}, {}, {} for i = 1, 20 do o[i] = i % 2 == 0 and {} or function() end end
        for i = 20, 1, -1 do t[o[i]] = i end t[coroutine.create(print)] = 0
        for k, v in pairs(t) do s[#s + 1] = v end for k, v in next, t do s[#s + 1] = v end
        local c = { [{}] = 'a', [print] = 'b', [o] = 'c' } for k, v in pairs(c) do s[#s + 1] = v end return s";
    let first = end::<PiccoloVm>(body).unwrap();
    assert!(first.starts_with("[20,19,18,") && first.ends_with("\"a\",\"b\",\"c\"]"), "{first}");
    for _ in 0..10 {
        assert_eq!(end::<PiccoloVm>(body).unwrap(), first);
    }
}

#[test]
fn a_table_whose_keys_come_and_go_stays_small_and_fast() {
    let small = VmLimits { instructions: 60_000_000, memory_bytes: 16 << 20, ..limits() };
    for key in ["'k' .. i", "i * 7919", "i + 0.5"] {
        let source = format!(
            "function run() local t = {{}} for i = 1, 2000 do t['s' .. i] = i end
             for i = 1, 30000 do local k = {key} t[k] = i t[k] = nil end return t.s2000 end"
        );
        let stopped = run::<PiccoloVm>(&source, small);
        assert_eq!(stopped.result.unwrap(), Value::Integer(2000), "{key}");
        assert!(stopped.usage.memory_peak_bytes < 8 << 20, "{}", stopped.usage.memory_peak_bytes);
    }
}

#[test]
fn the_deepest_source_the_check_lets_pass_does_not_overflow_a_workers_stack() {
    let deep = [
        format!("return {}1{}", "(".repeat(110), ")".repeat(110)),
        format!("return 1{}", " + 1".repeat(700)),
        format!("return 1{}", " == 1".repeat(700)),
        format!("return 1{}", " and 1".repeat(700)),
        format!("return ''{}", " .. 'x'".repeat(170)),
        format!("local t = {{}} t.a = t return t{} == t", ".a".repeat(700)),
        format!("{}{}", "do ".repeat(110), "end ".repeat(110)),
        format!("if x then {}end", "elseif x then ".repeat(2000)),
    ];
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(move || {
        for body in deep {
            // It may run or be refused; a stack overflow would end the process.
            let _ = end::<PiccoloVm>(&body);
        }
    });
    thread.unwrap().join().unwrap();
}
