//! Tool calls as steps: ids, lines, batches, waits.

use luaplan_base::{CallOutcome, CallRequest, ErrorCode, ToolFailure, Value};

use super::harness::{answer, failure, finish, limits, result, run, start};
use crate::Step;

/// The ids, tools and lines of each batch of a plan.
fn batches(plan: &str) -> Vec<Vec<(String, String, Option<u32>)>> {
    let mut step = start(plan, &Value::Null, limits());
    let mut seen = Vec::new();
    loop {
        step = match step {
            Step::Calls(pending) => {
                let shown = |call: &CallRequest| (call.id.to_string(), call.tool.clone(), call.line);
                seen.push(pending.calls.iter().map(shown).collect());
                let outcomes: Vec<CallOutcome> = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Wait(paused) => paused.resume(),
            Step::Slice(paused) => paused.resume(),
            Step::Done(stopped) => {
                stopped.result.unwrap();
                return seen;
            }
        }
    }
}

fn ids(plan: &str) -> Vec<Vec<String>> {
    batches(plan).into_iter().map(|batch| batch.into_iter().map(|(id, ..)| id).collect()).collect()
}

#[test]
fn single_calls_are_numbered_and_know_their_line() {
    let plan = "function run()\n  local a = echo(1)\n  local function deep()\n    return (server.echo(a))\n  end\n  \
                pcall(echo, 2)\n  return deep()\nend";
    assert_eq!(
        batches(plan),
        [
            [("1".to_owned(), "echo".to_owned(), Some(2))],
            [("2".to_owned(), "echo".to_owned(), Some(6))],
            [("3".to_owned(), "server.echo".to_owned(), Some(4))],
        ]
    );
}

#[test]
fn a_branch_in_tail_position_has_the_line_of_its_function() {
    let plan = "function run()\n  return parallel{\n    function() return echo(1) end,\n  }\nend";
    assert_eq!(batches(plan), [[("1.1".to_owned(), "echo".to_owned(), Some(3))]]);
}

#[test]
fn arguments_arrive_as_written() {
    let step = start("function run() echo({ a = 1 }, nil, 'x', nil) end", &Value::Null, limits());
    let Step::Calls(pending) = step else { panic!("{step:?}") };
    let arguments = &pending.calls[0].arguments.0;
    assert_eq!(arguments.len(), 3);
    assert_eq!(arguments[1..], [Value::Null, Value::from("x")]);
}

#[test]
fn parallel_gathers_one_call_of_each_branch_a_round() {
    let plan = "function run() return parallel{ \
                function() return echo(echo('a')) end, function() return 'b' end, \
                function() local x = echo('c') return x end, function() return (echo(echo(echo('d')))) end } end";
    assert_eq!(ids(plan), [vec!["1.1", "1.2", "1.3"], vec!["2.1", "2.2"], vec!["3.1"]]);
    assert_eq!(run(plan).result.unwrap().to_json().to_string(), r#"["a","b","c","d"]"#);
}

#[test]
fn parallel_keeps_names_nests_and_passes_through_coroutines() {
    let body = "return parallel{ first = function() return parallel{ function() return echo(1) end, \
                function() return echo(2) end } end, \
                second = function() return coroutine.wrap(function() return echo(3) end)() end }";
    assert_eq!(result(body), r#"{"first":[1,2],"second":3}"#);
    assert_eq!(ids(&format!("function run() {body} end")), [vec!["1.1", "1.2", "1.3"]]);
}

#[test]
fn an_error_in_a_branch_is_raised_when_the_others_are_done() {
    let mut calls = 0;
    let plan = "function run() local ok, why = pcall(parallel, { function() echo(1) error('second') end, \
                function() error('first', 0) end, function() return echo(echo(3)) end }) return why end";
    let stopped = finish(start(plan, &Value::Null, limits()), |call| {
        calls += 1;
        answer(call)
    });
    assert_eq!(stopped.result.unwrap(), Value::from("plan.lua:1: second"));
    assert_eq!(calls, 3);
}

#[test]
fn parallel_refuses_what_is_not_functions() {
    for body in ["parallel(echo)", "parallel{ echo(1) }", "parallel{ 1 }", "parallel()"] {
        let (code, message) = failure(body);
        assert_eq!(code, ErrorCode::PlanError);
        assert!(message.contains("parallel expects"), "{message}");
    }
    assert_eq!(result("return parallel{}"), "[]");
}

#[test]
fn calls_pass_through_the_plans_own_coroutines_both_ways() {
    let body = "local co = coroutine.create(function(a) local b = echo(a + 1) local c = coroutine.yield(b) \
                return echo(c .. '!') end) \
                local ok1, b = coroutine.resume(co, 1) local ok2, d = coroutine.resume(co, 'x') \
                return { ok1, b, ok2, d, coroutine.status(co), coroutine.isyieldable(), select(2, coroutine.running()) }";
    assert_eq!(result(body), r#"[true,2,true,"x!","dead",false,true]"#);
}

#[test]
fn a_call_where_the_plan_cannot_pause_is_refused_clearly() {
    for call in [
        "echo('y')",
        "coroutine.wrap(function() return echo('y') end)()",
        "parallel{ function() return echo('y') end }[1]",
    ] {
        let body =
            &format!("return tostring(setmetatable({{}}, {{ __tostring = function() return {call} end }}))");
        let (code, message) = failure(body);
        assert_eq!(code, ErrorCode::CallNotPossibleHere, "{message}");
        assert!(message.contains("`echo`") && !message.contains("luaplan"), "{message}");
    }
    let again = "pcall(tostring, setmetatable({}, { __tostring = function() parallel{ echo } end })) \
                 return echo('fine')";
    assert_eq!(result(again), "\"fine\"");
}

#[test]
fn calls_may_stand_in_what_pattern_functions_call() {
    let body = "local parts = { string.gsub('a-b c', '%w', function(c) return echo(c .. c) end) } \
                local lazy = setmetatable({}, { __index = function(_, key) return echo('<' .. key .. '>') end }) \
                parts[3] = string.gsub('x y', '(%w)', lazy) \
                parts[4] = string.gsub('q', 'q', function() return parallel{ function() return echo('z') end }[1] end) \
                for word in string.gmatch('one two', '%a+') do parts[#parts + 1] = echo(word) end return parts";
    assert_eq!(result(body), r#"["aa-bb cc",3,"<x> <y>","z","one","two"]"#);
}

#[test]
fn coroutines_waiting_for_a_call_cannot_be_resumed_by_another_branch() {
    let body = "local co = coroutine.create(function() return echo('mine') end) \
                return parallel{ function() return select(2, coroutine.resume(co)) end, \
                function() return select(2, coroutine.resume(co)) end }";
    assert_eq!(result(body), r#"["mine","cannot resume non-suspended coroutine"]"#);
    assert!(failure("coroutine.yield(1)").1.contains("outside a coroutine"));
    assert!(failure("parallel{ function() coroutine.yield(1) end }").1.contains("outside a coroutine"));
}

#[test]
fn retry_waits_longer_each_time_and_gives_the_last_outcome() {
    let plan = "function run() local r = retry(4, fail, 'busy', true) return { r.error, r.status } end";
    let mut step = start(plan, &Value::Null, limits());
    let mut waits = Vec::new();
    let stopped = loop {
        step = match step {
            Step::Calls(pending) => {
                let outcomes = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Wait(paused) => {
                assert_eq!((paused.attempts_max, paused.message.as_str()), (4, "busy"));
                waits.push((paused.attempt, paused.wait.as_millis()));
                paused.resume()
            }
            Step::Slice(paused) => paused.resume(),
            Step::Done(stopped) => break stopped,
        };
    };
    assert_eq!(waits, [(1, 200), (2, 400), (3, 800)]);
    assert_eq!(stopped.result.unwrap().to_json().to_string(), r#"["busy",503]"#);
}

#[test]
fn retry_stops_at_success_and_at_failures_that_will_not_go_away() {
    assert_eq!(ids("function run() local r = retry(3, fail, 'no', false) return r.code end").len(), 1);
    let body = "local n = 0 local r = retry(3, function() n = n + 1 if n < 3 then error('again') end return n end) return r";
    assert_eq!(result(body), "3");
    let body = "local n = 0 return retry(3, function() n = n + 1 local r = n < 2 and fail('x', true) or echo('ok') \
                return r .. '!' end)";
    assert_eq!(result(body), "\"ok!\"");
    assert!(failure("retry(2, function() error('always') end)").1.contains("always"));
    assert!(failure("retry(11, echo)").1.contains("from 1 to 10"));
}

#[test]
fn waits_of_branches_are_one_wait() {
    let plan = "function run() local r = parallel{ function() return retry(2, fail, 'a', true) end, \
                function() return retry(2, fail, 'b', true) end } return { r[1].error, r[2].error } end";
    let mut step = start(plan, &Value::Null, limits());
    let mut waits = 0;
    loop {
        step = match step {
            Step::Calls(pending) => {
                assert_eq!(pending.calls.len(), 2);
                let outcomes = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Wait(paused) => {
                waits += 1;
                paused.resume()
            }
            Step::Slice(paused) => paused.resume(),
            Step::Done(stopped) => {
                break assert_eq!(stopped.result.unwrap().to_json().to_string(), r#"["a","b"]"#);
            }
        };
    }
    assert_eq!(waits, 1);
}

#[test]
fn a_failed_part_of_a_result_is_as_strict_as_a_failed_call() {
    let reply = |_: &CallRequest| {
        let failure = ToolFailure::new(ErrorCode::HttpStatus, "status 404").with_detail("status", 404);
        let parts =
            [("good".to_owned(), Value::from("body")), ("bad".to_owned(), Value::Failure(Box::new(failure)))];
        Ok(parts.into_iter().collect())
    };
    let ends = |body: &str| {
        let plan = format!("function run() local pages = echo() {body} end");
        finish(start(&plan, &Value::Null, limits()), reply).result
    };
    assert_eq!(ends("return pages.good").unwrap_err().code(), ErrorCode::ToolErrorIgnored);
    assert_eq!(ends("echo(pages)").unwrap_err().code(), ErrorCode::ToolErrorUsed);
    assert_eq!(ends("return #pages.bad").unwrap_err().code(), ErrorCode::ToolErrorUsed);
    for used in ["return #pages.bad", "error(pages.bad)", "echo(pages)", "return list.sort(pages.bad)"] {
        assert_eq!(ends(used).unwrap_err().details()["call"], "1", "{used}");
    }
    assert_eq!(
        ends("for url, page in pairs(pages) do if type(page) ~= 'string' then pages[url] = page.status end end return pages")
            .unwrap()
            .to_json()
            .to_string(),
        r#"{"good":"body","bad":404}"#
    );
}
