//! Named steps: order, states, retries, and what a hostile plan does with them. On both engines.

use luaplan_base::{Error, ErrorCode, Result, StepReport, StepState, Value};

use super::harness::{answer, limits, options};
use crate::{Machine, PiccoloVm, Step, Vm};

/// What became of a plan: its end and what it took, the reports of its steps, and the calls it made.
struct Ran {
    result: Result<Value>,
    instructions: u64,
    reports: Vec<StepReport>,
    calls: Vec<String>,
}

impl Ran {
    /// `name state` of each report.
    fn states(&self) -> Vec<String> {
        self.reports.iter().map(|report| format!("{} {}", report.name, report.state)).collect()
    }

    fn json(&self) -> String {
        self.result.as_ref().unwrap().to_json().to_string()
    }

    fn error(&self) -> &Error {
        self.result.as_ref().unwrap_err()
    }
}

fn run_on<M: Machine>(body: &str) -> Ran {
    let source = format!("function run(context)\n{body}\nend");
    let mut step = M::new(options(limits())).unwrap().start(&source, "plan.lua", &Value::Null);
    let (mut reports, mut calls) = (Vec::new(), Vec::new());
    let (result, instructions) = loop {
        step = match step {
            Step::Calls(mut pending) => {
                reports.extend(pending.take_reports());
                pending.take_printed();
                calls.extend(pending.calls.iter().map(|call| format!("{}{:?}", call.tool, call.arguments.0)));
                let outcomes = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(mut paused) => {
                reports.extend(paused.take_reports());
                paused.resume()
            }
            Step::Done(stopped) => {
                reports.extend(stopped.reports);
                break (stopped.result, stopped.usage.instructions);
            }
        };
    };
    Ran { result, instructions, reports, calls }
}

/// A text without the lines in it: the engines do not know all of the same ones.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(", line ").flat_map(|part| part.split("plan.lua:"));
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(": ")
    })
}

/// Runs a plan on both engines, which must agree on everything but lines in messages.
fn run(body: &str) -> Ran {
    let (one, other) = (run_on::<Vm>(body), run_on::<PiccoloVm>(body));
    let reports = |ran: &Ran| -> Vec<StepReport> {
        let plain = |report: &StepReport| StepReport {
            message: report.message.as_deref().map(without_lines),
            ..report.clone()
        };
        ran.reports.iter().map(plain).collect()
    };
    assert_eq!(reports(&one), reports(&other), "{body}");
    assert_eq!(one.calls, other.calls, "{body}");
    match (&one.result, &other.result) {
        (Ok(_), Ok(_)) => assert_eq!(without_lines(&one.json()), without_lines(&other.json()), "{body}"),
        (Err(left), Err(right)) => {
            assert_eq!(left.code(), right.code(), "{body}: {left}; {right}");
            assert_eq!((left.limit(), left.observed()), (right.limit(), right.observed()), "{body}");
        }
        (left, right) => panic!("{body}: {left:?}, and {right:?}"),
    }
    one
}

#[test]
fn a_step_gives_what_its_function_gives_once_those_before_are_complete() {
    let ran = run("local rows = step('load', function() return echo({1, 2}) end)
        local n, more = step('count', function() return #rows, 'more' end, {depends_on = {'load'}})
        local nothing = step('nothing', function() end, {depends_on = 'count', retries = 0})
        return {n, more, nothing == nil}");
    assert_eq!(ran.json(), r#"[2,"more",true]"#);
    assert_eq!(
        ran.states(),
        [
            "load running",
            "load complete",
            "count running",
            "count complete",
            "nothing running",
            "nothing complete"
        ]
    );
    assert_eq!(ran.reports[2].depends_on, ["load"]);
    assert_eq!((ran.reports[2].line, ran.reports[1].attempts, ran.reports[1].attempts_max), (Some(3), 1, 1));
}

#[test]
fn a_failed_step_skips_those_that_depend_on_it_and_the_run_goes_on() {
    let ran = run("local a = step('a', function() return fail('broke') end)
        local b = step('b', function() return echo(1) end, {depends_on = {'a'}})
        local c = step('c', function() return echo(2) end, {depends_on = {'b'}})
        local d = step('d', function() return echo(3) end)
        return {a.code, a.cause, a.step, b.code, c.code, d, a.error, b.error, c.error, a.retryable}");
    assert_eq!(
        ran.json(),
        "[\"step_failed\",\"fetch_failed\",\"a\",\"step_skipped\",\"step_skipped\",3,\
         \"step `a` failed: call 1 (fail, line 2) failed: broke\",\
         \"step `b` was skipped, as step `a` failed\",\"step `c` was skipped, as step `b` was skipped\",false]"
    );
    assert_eq!(ran.states(), ["a running", "a failed", "b skipped", "c skipped", "d running", "d complete"]);
    assert_eq!(ran.calls.len(), 2);
    assert_eq!(ran.reports[1].code.as_deref(), Some("fetch_failed"));
    assert_eq!(ran.reports[2].depends_on, ["a"]);
}

#[test]
fn what_is_raised_fails_the_step_with_its_code_and_not_the_run() {
    let ran = run("local a = step('a', function() error('no rows') end)
        local b = step('b', function() return must(fail('broke'), 'rows are needed') end)
        return {a.error, b.code, a.cause, b.cause}");
    assert_eq!(
        ran.json(),
        r#"["step `a` failed: plan.lua:2: no rows","step_failed","plan_error","must_failed"]"#
    );
    let codes: Vec<_> = ran.reports.iter().filter_map(|report| report.code.as_deref()).collect();
    assert_eq!(codes, ["plan_error", "must_failed"]);
}

#[test]
fn a_step_is_tried_again_as_retry_does() {
    let ran = run("local n = 0
        local good = step('good', function() n = n + 1 if n < 3 then return fail('busy', true) end return n end,
          {retries = 3})
        local bad = step('bad', function() error('always') end, {retries = 2})
        local final = step('final', function() return fail('gone', false) end, {retries = 5})
        return {good, bad.code, final.code}");
    assert_eq!(ran.json(), r#"[3,"step_failed","step_failed"]"#);
    let attempts = ran.reports.iter().filter(|report| report.state != StepState::Running);
    assert_eq!(attempts.map(|report| report.attempts).collect::<Vec<_>>(), [3, 3, 1]);
}

#[test]
fn a_failed_step_that_nobody_looks_at_fails_the_run_and_what_failed_inside_does_not() {
    for body in [
        "step('a', function() error('no') end) return 1",
        "step('a', function() return fail('no') end) return 1",
        "step('a', function() return fail('no') end).error:len() step('b', echo, {depends_on = 'a'}) return 1",
    ] {
        let ran = run(body);
        assert_eq!(ran.error().code(), ErrorCode::ToolErrorIgnored, "{body}");
        assert!(ran.error().message().contains("step `"), "{}", ran.error());
    }
    // What failed on the way is summed up by the step.
    let body = "local a = step('a', function() local r = fail('no') return r.rows end) return a.code";
    assert_eq!(run(body).json(), "\"step_failed\"");
    let used = run("local a = step('a', function() error('no') end) return a.rows");
    assert_eq!(used.error().code(), ErrorCode::ToolErrorUsed);
    assert_eq!(used.error().details().get("call"), None);
    let called = run("local a = step('a', function() return fail('no') end) return #a");
    assert_eq!(called.error().details()["call"], "1");
    assert_eq!(
        run("return step('a', function() return fail('no') end)").error().code(),
        ErrorCode::ToolErrorIgnored
    );
}

#[test]
fn a_step_that_cannot_work_raises_what_is_wrong() {
    for (body, said) in [
        ("step('a', echo) step('a', echo)", "there is a step `a` before"),
        ("step('a', echo, {depends_on = {'b'}})", "no step before it has that name"),
        ("step('a', echo, {depends_on = {'a'}})", "no step before it has that name"),
        ("step('a', function() step('b', echo, {depends_on = 'a'}) end) .error:len()", ""),
        ("step('', echo)", "from 1 to 100 bytes, got 0"),
        ("step(('x'):rep(1000000), echo)", "from 1 to 100 bytes, got 1000000"),
        ("step('a\\n', echo)", "control characters"),
        ("step('a\\0', echo)", "control characters"),
        ("step('\\xff', echo)", "control characters"),
        ("step(1, echo)", "a text, got a number"),
        ("step()", "a text, got a nil"),
        ("step('a', echo(1))", "expects a function, got a number; wrap the call"),
        ("step('a')", "expects a function, got a nil"),
        ("step('a', echo, {retries = 10})", "from 0 to 9"),
        ("step('a', echo, {retries = 1.5})", "from 0 to 9"),
        ("step('a', echo, {retries = -1})", "from 0 to 9"),
        ("step('a', echo, {depend_on = {}, zeta = 1})", "not `depend_on`"),
        ("step('a', echo, 'b')", "are a table, got a string"),
        ("step('a', echo, {depends_on = 7})", "a list of names, got a number"),
        (
            "local t = {} for i = 1, 33 do t[i] = 'x' end step('a', echo, {depends_on = t})",
            "33 steps; the most are 32",
        ),
    ] {
        let ran = run(body);
        if said.is_empty() {
            // Inside another step it is the outer step that fails.
            assert_eq!(ran.states(), ["a running", "a failed"], "{body}");
            assert_eq!(ran.reports[1].code.as_deref(), Some("step_invalid"));
            assert!(ran.reports[1].message.as_ref().unwrap().contains("still running"));
            continue;
        }
        assert_eq!(ran.error().code(), ErrorCode::StepInvalid, "{body}: {}", ran.error());
        assert!(ran.error().message().contains(said), "{body:.60}: {}", ran.error());
        assert!(ran.error().message().len() < 300, "{body:.60}");
    }
    assert_eq!(run("return step(fail('no'), echo)").error().code(), ErrorCode::ToolErrorUsed);
    let caught = run("local ok, why = pcall(step, 'a') return {ok, why:match('expects a function') ~= nil}");
    assert_eq!(caught.json(), "[false,true]");
}

#[test]
fn ten_thousand_steps_meet_a_limit_that_the_plan_cannot_catch() {
    for body in [
        "for i = 1, 10000 do pcall(step, 'step ' .. i, function() end) end return 'escaped'",
        "step('first', function() error('x') end).error:len()
         for i = 1, 10000 do pcall(step, 'step ' .. i, function() end, {depends_on = 'first'}) end return 'escaped'",
        "local co = coroutine.wrap(function() for i = 1, 10000 do step('step ' .. i, function() end) end end)
         pcall(co) return 'escaped'",
    ] {
        let ran = run(body);
        assert_eq!(ran.error().code(), ErrorCode::LimitSteps, "{}", ran.error());
        assert_eq!((ran.error().limit(), ran.error().observed()), (Some(&256.into()), Some(&257.into())));
        assert!(ran.reports.len() <= 512);
    }
}

#[test]
fn steps_work_in_steps_branches_coroutines_and_protected_calls() {
    let nested = run("return step('outer', function() return step('inner', echo) or 'none' end)");
    assert_eq!(nested.states(), ["outer running", "inner running", "inner complete", "outer complete"]);
    let branches = run("local r = parallel{
          function() return step('a', function() return echo('x') .. echo('y') end) end,
          function() local r = step('b', function() return fail('no') end) return r.code end,
          function() return echo('z') end}
        local after = step('c', function() return r[1] end, {depends_on = {'a'}})
        local skipped = step('d', echo, {depends_on = {'a', 'b'}})
        return {r[1], r[2], r[3], after, skipped.code}");
    assert_eq!(branches.json(), r#"["xy","step_failed","z","xy","step_skipped"]"#);
    // A branch may not wait for a step of another one.
    let beside = run("return parallel{function() return step('a', function() return echo(1) end) end,
        function() return step('b', function() return echo(2) end, {depends_on = {'a'}}) end}");
    assert_eq!(beside.error().code(), ErrorCode::StepInvalid);
    assert!(beside.error().message().contains("still running"), "{}", beside.error());
    let coroutine = run("local co = coroutine.wrap(function()
            coroutine.yield(step('a', function() coroutine.yield('inside') return echo(1) end)) return 'end' end)
        return {co(), co(), co()}");
    assert_eq!(coroutine.json(), r#"["inside",1,"end"]"#);
    assert_eq!(coroutine.states(), ["a running", "a complete"]);
    // The other engine makes calls there.
    let in_a_metamethod = run_on::<Vm>(
        "local t = setmetatable({}, {__tostring = function()
            local r = step('a', function() return echo(1) end) return r.code end}) return tostring(t)",
    );
    assert_eq!(in_a_metamethod.json(), "\"step_failed\"");
    assert_eq!(in_a_metamethod.reports[1].code.as_deref(), Some("call_not_possible_here"));
}

#[test]
fn a_plan_may_have_a_step_of_its_own_and_reaches_no_state_of_ours() {
    let own = run_on::<Vm>("local kept = step step = function(name) return 'mine ' .. name end
        return {step('a'), kept('a', function() retry = nil return 1 end), kept('b', function() return 2 end)}");
    assert_eq!(own.json(), r#"["mine a",1,2]"#);
    // A plan that replaces what steps are made of changes nothing for them.
    let replaced =
        run("retry = nil string.find = nil utf8.len = nil table.pack = nil math.type = nil rawget = nil
        local r = step('a', function() return fail('no') end, {retries = 1}) return r.code");
    assert_eq!(replaced.json(), "\"step_failed\"");
}

#[test]
fn the_same_plan_reports_the_same_and_counts_the_same() {
    let body = "for i = 1, 20 do step('s' .. i, function() print(i) return echo(i) end) end return 1";
    let usage = || run_on::<Vm>(body).instructions;
    assert_eq!(usage(), usage());
    assert!(usage() > 20 * 400, "each report has a price");
    let ran = run(body);
    assert_eq!(ran.reports[1].printed_bytes, 0);
    let after_a_print = run("print('1234') step('a', function() print('é') end) return 1");
    assert_eq!(after_a_print.reports.iter().map(|report| report.printed_bytes).collect::<Vec<_>>(), [5, 8]);
}
