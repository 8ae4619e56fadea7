//! Every limit stops the plan, names itself and what was seen, and cannot be swallowed.

use luaplan_base::{Error, ErrorCode, Value};

use super::harness::{answer, finish, limits, options, run_with, start};
use crate::{Interrupt, InterruptReason, Step, Vm, VmLimits};

fn small() -> VmLimits {
    VmLimits {
        instructions: 300_000,
        memory_bytes: 4 << 20,
        call_depth: 100,
        print_bytes: 200,
        tool_calls: 5,
        ..limits()
    }
}

/// What breaks a limit, as the body of `breach()`.
const BREACHES: [(&str, ErrorCode); 5] = [
    ("while true do end", ErrorCode::LimitInstructions),
    ("local t = {} for i = 1, 1e9 do t[i] = { i } end", ErrorCode::LimitMemory),
    ("local function deeper() return 1 + deeper() end deeper()", ErrorCode::LimitCallDepth),
    ("while true do print('some text') end", ErrorCode::LimitPrintBytes),
    ("while true do echo(1) end", ErrorCode::LimitToolCalls),
];

/// Ways to try to swallow it. Those after `PAUSING` run where no call can pause.
const WRAPPINGS: [(&str, &str); 13] = [
    ("plain", "breach()"),
    ("pcall", "pcall(breach)"),
    ("pcall in a loop", "while true do pcall(breach) end"),
    ("nested pcall", "pcall(pcall, pcall, breach)"),
    ("xpcall", "xpcall(breach, function() return 'fine' end)"),
    ("xpcall handler", "xpcall(error, breach)"),
    ("a looping xpcall handler", "xpcall(breach, function() while true do end end)"),
    (
        "coroutine",
        "local co = coroutine.create(breach) while true do if not coroutine.resume(co) then break end end",
    ),
    ("wrapped coroutine", "pcall(coroutine.wrap(breach))"),
    ("__close", "pcall(function() local x <close> = setmetatable({}, { __close = breach }) end)"),
    (
        "an error in __close",
        "pcall(function() local x <close> = setmetatable({}, { __close = function() error('other') end }) breach() end)",
    ),
    ("parallel", "pcall(parallel, { breach, breach })"),
    ("retry", "pcall(retry, 3, breach)"),
];

/// Ways where a tool call is refused before it counts.
const WRAPPINGS_WITHOUT_PAUSE: [(&str, &str); 2] = [
    ("__tostring", "pcall(tostring, setmetatable({}, { __tostring = function() breach() return '' end }))"),
    ("gsub", "pcall(string.gsub, 'x', 'x', breach)"),
];

fn stops(breach: &str, code: ErrorCode, name: &str, wrapping: &str) {
    let plan =
        format!("local function breach() {breach} end function run() {wrapping} return 'swallowed' end");
    let stopped = run_with(&plan, &Value::Null, small());
    let error = match stopped.result {
        Ok(value) => panic!("{name}, {code}: {value:?}"),
        Err(error) => error,
    };
    assert_eq!(error.code(), code, "{name}: {error}");
    let number = |json: Option<&serde_json::Value>| json.and_then(serde_json::Value::as_u64).unwrap();
    assert!(number(error.observed()) >= number(error.limit()), "{name}: {error}");
}

#[test]
fn no_limit_can_be_swallowed() {
    for (breach, code) in BREACHES {
        for (name, wrapping) in WRAPPINGS {
            stops(breach, code, name, wrapping);
        }
        if code != ErrorCode::LimitToolCalls {
            for (name, wrapping) in WRAPPINGS_WITHOUT_PAUSE {
                stops(breach, code, name, wrapping);
            }
        }
    }
}

#[test]
fn a_limit_hit_in_a_sort_comparator_stops_the_run() {
    for (breach, code) in BREACHES {
        let wrapping = "pcall(table.sort, { 3, 2, 1 }, function(a, b) breach() return a < b end)";
        stops(breach, code, "sort", wrapping);
    }
}

#[test]
fn coroutines_count_what_they_run_however_short() {
    let work = "local function work() local n = 0 for i = 1, 30 do n = n + i end end ";
    let used = |body: &str| {
        run_with(&format!("{work} function run() {body} end"), &Value::Null, limits()).usage.instructions
    };
    let (calls, fresh) = (
        used("for i = 1, 500 do work() end"),
        used("for i = 1, 500 do coroutine.resume(coroutine.create(work)) end"),
    );
    assert!((calls..calls * 2).contains(&fresh), "{calls} {fresh}");
    let (one, yielding) = (
        used("local n = 0 for i = 1, 30000 do n = n + i end"),
        used(
            "local co = coroutine.wrap(function() while true do for i = 1, 30 do end coroutine.yield() end end) \
             for i = 1, 1000 do co() end",
        ),
    );
    assert!((one..one * 3).contains(&yielding), "{one} {yielding}");
}

#[test]
fn a_run_stops_right_after_the_last_instruction_of_its_budget() {
    for body in [
        "while true do end",
        "while true do coroutine.resume(coroutine.create(function() for i = 1, 7 do end end)) end",
        "local function f() return f() end return f()",
        "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    ] {
        let error =
            run_with(&format!("function run() {body} end"), &Value::Null, small()).result.unwrap_err();
        assert_eq!(error.code(), ErrorCode::LimitInstructions, "{body}: {error}");
        assert_eq!(error.observed().unwrap(), small().instructions + 1, "{body}");
    }
}

#[test]
fn the_depth_limit_is_overshot_by_a_few_frames_at_most() {
    for depth in [50, 200, 1_000, 5_000] {
        let limits = VmLimits { call_depth: depth, ..limits() };
        let plan = "local function f() f() end function run() f() end";
        let error = run_with(plan, &Value::Null, limits).result.unwrap_err();
        assert_eq!(error.code(), ErrorCode::LimitCallDepth, "{error}");
        let observed = error.observed().unwrap().as_u64().unwrap();
        assert!((depth + 1..=depth + 40).contains(&observed), "{depth}: {observed}");
    }
}

#[test]
fn long_texts_are_charged_as_they_are_made() {
    for body in [
        "local s = ('x'):rep(1000000) local t for i = 1, 1000000 do t = s .. i end",
        "local s = ('x'):rep(1000000) local t = {} for i = 1, 1000000 do t[s .. i] = nil end",
        "local s = ('x'):rep(1000000) local a, b = s .. 1, s .. 2 for i = 1, 1e9 do local c = (a .. i) < (b .. i) end",
    ] {
        let error =
            run_with(&format!("function run() {body} end"), &Value::Null, limits()).result.unwrap_err();
        assert_eq!(error.code(), ErrorCode::LimitInstructions, "{body}: {error}");
    }
}

#[test]
fn text_that_could_never_fit_is_refused_before_it_is_built() {
    for body in
        ["('x'):rep(1e18)", "('x'):rep(1e9)", "string.rep('', 1e18, 'ab')", "pcall(string.rep, 'x', 1 << 40)"]
    {
        let plan = format!("function run() {body} return 1 end");
        let error = run_with(&plan, &Value::Null, small()).result.unwrap_err();
        assert_eq!(error.code(), ErrorCode::LimitMemory, "{body}");
    }
    let plan = "function run() return (''):rep(1 << 60) .. ('ab'):rep(3, '-') end";
    assert_eq!(run_with(plan, &Value::Null, small()).result.unwrap(), Value::from("ab-ab-ab"));
}

#[test]
fn table_functions_over_huge_ranges_stop() {
    for body in [
        "table.move({}, 1, 1 << 60, 1)",
        "table.insert(setmetatable({}, { __len = function() return 1 << 60 end }), 1, 1)",
        "table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)",
        "table.sort(setmetatable({}, { __len = function() return 1 << 30 end }))",
    ] {
        let plan = format!("function run() pcall(function() {body} end) end");
        let error = run_with(&plan, &Value::Null, small()).result.unwrap_err();
        assert!(
            matches!(error.code(), ErrorCode::LimitInstructions | ErrorCode::LimitMemory),
            "{body}: {error}"
        );
    }
}

#[test]
fn an_interrupt_stops_a_plan_that_swallows_everything() {
    for (reason, code) in [
        (InterruptReason::WallTime, ErrorCode::LimitWallTime),
        (InterruptReason::Cancelled, ErrorCode::Cancelled),
    ] {
        let interrupt = Interrupt::default();
        let mut options = options(limits());
        options.interrupt = interrupt.clone();
        let plan = "function run() echo(1) while true do pcall(function() while true do end end) end end";
        let step = Vm::new(options).unwrap().start(plan, "plan.lua", &Value::Null);
        let Step::Calls(pending) = step else { panic!("{step:?}") };
        let trigger = interrupt.clone();
        let stopper = std::thread::spawn(move || trigger.trigger(reason));
        let stopped = finish(pending.answer(vec![Ok(Value::Null)]), answer);
        stopper.join().unwrap();
        assert_eq!(stopped.result.unwrap_err().code(), code);
    }
}

#[test]
fn a_paused_plan_can_be_ended_by_its_handler() {
    let step = start("function run() pcall(echo, 1) return 1 end", &Value::Null, limits());
    let Step::Calls(pending) = step else { panic!("{step:?}") };
    let stopped = pending.abort(Error::new(ErrorCode::LimitResultBytes, "too much"));
    assert_eq!(stopped.result.unwrap_err().code(), ErrorCode::LimitResultBytes);
}

#[test]
fn source_and_result_have_their_limits() {
    let source = format!("--{}\nfunction run() end", "x".repeat(20_000));
    let error = run_with(&source, &Value::Null, limits()).result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LimitSourceBytes);
    assert_eq!(error.observed().unwrap(), source.len());

    let plan = "function run() return { text = string.rep('x', 300000) } end";
    let error = run_with(plan, &Value::Null, limits()).result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LimitOutputBytes);
    assert_eq!(error.observed().unwrap(), 300_011);
}

#[test]
fn a_context_larger_than_the_memory_limit_is_refused() {
    let context = Value::from("x".repeat(8 << 20));
    let error = run_with("function run() end", &context, small()).result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LimitMemory);
}

#[test]
fn an_answer_larger_than_the_memory_limit_ends_the_run() {
    let plan = "function run() while true do pcall(nothing) end end";
    let stopped = finish(start(plan, &Value::Null, small()), |_| Ok(Value::from("x".repeat(8 << 20))));
    assert_eq!(stopped.result.unwrap_err().code(), ErrorCode::LimitMemory);
}

#[test]
fn a_slice_ends_in_a_pause_and_changes_no_count() {
    let plan = "function run() local n = 0 for i = 1, 20000 do n = n + i end return n end";
    let whole = run_with(plan, &Value::Null, limits());
    let mut options = options(limits());
    options.slice_instructions = 5_000;
    let mut step = Vm::new(options).unwrap().start(plan, "plan.lua", &Value::Null);
    let mut slices = 0;
    let stopped = loop {
        step = match step {
            Step::Slice(paused) => {
                slices += 1;
                paused.resume()
            }
            Step::Done(stopped) => break stopped,
            other => panic!("{other:?}"),
        };
    };
    assert!(slices >= 5, "{slices}");
    assert_eq!(stopped.result.unwrap(), whole.result.unwrap());
    assert_eq!(stopped.usage.instructions, whole.usage.instructions);
}

#[test]
fn a_vm_and_its_pauses_can_move_between_threads() {
    fn assert_send<T: Send>() {}
    assert_send::<Vm>();
    assert_send::<Step>();
}

/// A move of colliding keys is refused before it starts, as nothing could interrupt it.
#[test]
fn a_table_of_keys_that_share_a_place_does_not_grow() {
    let roomy = VmLimits { instructions: u64::MAX / 2, memory_bytes: 64 << 20, ..limits() };
    let plan = "function run()
        local t, step = {}, 65535 * 131071
        for i = 1, 65536 do t[i * step] = i end
    end";
    let error = run_with(plan, &Value::Null, roomy).result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LimitInstructions);
    assert!(error.message().contains("share places"), "{error}");
}

/// Work that no instruction shows is checked all the same, in time.
#[test]
fn an_interrupt_comes_through_slow_instructions() {
    let roomy = VmLimits { instructions: u64::MAX / 2, memory_bytes: 64 << 20, ..limits() };
    for body in [
        "local mt = {} local t = setmetatable({}, mt) mt.__call = t t()",
        "local a = ('x'):rep(20000000) local b = a .. 'y' a = a .. 'z' while true do local c = a < b end",
        "local t = {} for i = 1, 1000000 do t[i] = i end for i = 1, 1e12 do t['k' .. i] = 1 t['k' .. i] = nil end",
    ] {
        let options = options(roomy);
        let interrupt = options.interrupt.clone();
        let waiting = std::thread::spawn(move || {
            std::thread::park_timeout(std::time::Duration::from_millis(100));
            interrupt.trigger(InterruptReason::Cancelled);
        });
        let plan = format!("function run() {body} end");
        let stopped = finish(Vm::new(options).unwrap().start(&plan, "plan.lua", &Value::Null), answer);
        waiting.join().unwrap();
        let code = stopped.result.unwrap_err().code();
        assert!(matches!(code, ErrorCode::Cancelled | ErrorCode::LimitMemory), "{body}: {code:?}");
    }
}
