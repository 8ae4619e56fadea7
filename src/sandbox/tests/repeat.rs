//! The same plan with the same answers does the same, to the instruction.

use luaplan_base::Value;

use super::harness::{limits, result, run, run_with};

#[test]
fn the_same_plan_counts_the_same_every_time() {
    let plan = "function run() local t = {} for i = 1, 500 do t['k' .. i] = i end \
                local n = 0 for key, value in pairs(t) do n = n + value end \
                local list = {} for i = 1, 300 do list[i] = (i * 7919) % 301 end \
                table.sort(list, function(a, b) return a > b end) \
                return parallel{ function() return echo(n) end, function() return echo(list[1]) end } end";
    let first = run(plan);
    for _ in 0..5 {
        let again = run(plan);
        assert_eq!(again.usage.instructions, first.usage.instructions);
        assert_eq!(again.result.as_ref().unwrap(), first.result.as_ref().unwrap());
    }
}

#[test]
fn an_endless_plan_stops_at_the_same_instruction_every_time() {
    let plan = "function run() local t = {} while true do t[#t % 50 + 1] = tostring(#t) end end";
    let observed = || run_with(plan, &Value::Null, limits()).result.unwrap_err().observed().cloned();
    assert_eq!(observed(), observed());
}

#[test]
fn pairs_and_next_walk_in_one_order() {
    let order =
        "local t = { 10, 20, 30, z = 1, a = 2, [true] = 3, [false] = 4, [2.5] = 5, [-1] = 6, [100] = 7 } ";
    let expected = r#"["-1","1","2","3","100","2.5","a","z","false","true"]"#;
    let pairs = "local keys = {} for key in pairs(t) do keys[#keys + 1] = tostring(key) end return keys";
    let next = "local keys = {} local key = next(t) while key ~= nil do keys[#keys + 1] = tostring(key) \
                key = next(t, key) end return keys";
    assert_eq!(result(&format!("{order}{pairs}")), expected);
    assert_eq!(result(&format!("{order}{next}")), expected);
}

#[test]
fn a_walk_survives_assignments_to_known_keys() {
    let body = "local t = { a = 1, b = 2, c = 3 } local seen = {} \
                for key, value in pairs(t) do seen[#seen + 1] = key t[key] = nil t.c = nil end return seen";
    assert_eq!(result(body), r#"["a","b"]"#);
    let body =
        "local t = { a = 1, b = 2, c = 3 } for key in next, t do t[key] = nil end return next(t) == nil";
    assert_eq!(result(body), "true");
}

#[test]
fn sort_is_stable_and_may_pause() {
    let body = "local rows = {} for i = 1, 200 do rows[i] = { id = i, group = i % 3 } end \
                table.sort(rows, function(a, b) return echo(a.group) < b.group end) \
                local ordered = true for i = 2, 200 do local a, b = rows[i - 1], rows[i] \
                ordered = ordered and (a.group < b.group or a.group == b.group and a.id < b.id) end return ordered";
    let wide = crate::VmLimits { tool_calls: 10_000, ..limits() };
    let stopped = run_with(&format!("function run() {body} end"), &Value::Null, wide);
    assert_eq!(stopped.result.unwrap(), Value::Bool(true));
    assert_eq!(
        result("local a, b = { 3, 1.5, 2, 1 }, { 'b', 'a' } table.sort(a) table.sort(b) return { a, b }"),
        r#"[[1,1.5,2,3],["a","b"]]"#
    );
}

/// Hash seeds and addresses differ from process to process, so one pinned number shows that they
/// do not matter. A change of the prelude may change it; two runs of this test may not.
#[test]
fn the_count_is_the_same_in_every_process() {
    let plan = "function run() local t = {} for i = 1, 200 do t['k' .. i] = { i } end \
                local n = 0 for key, value in pairs(t) do n = n + #key + value[1] end \
                local words = {} for word in ('b a d c'):gmatch('%a') do words[#words + 1] = word end \
                table.sort(words, function(a, b) return a < b end) \
                local co = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end) co() co() \
                print(t, co) return { n, echo(words) } end";
    let stopped = run(plan);
    assert_eq!(stopped.result.unwrap().to_json().to_string(), r#"[20792,["a","b","c","d"]]"#);
    assert_eq!(stopped.usage.instructions, PINNED_INSTRUCTIONS);
}

const PINNED_INSTRUCTIONS: u64 = 15_208;

#[test]
fn a_dropped_vm_gives_everything_back() {
    let vm = crate::Vm::new(super::harness::options(limits())).unwrap();
    let host = vm.alive();
    let step = vm.start("function run() echo(1) end", "plan.lua", &Value::Null);
    assert!(host.upgrade().is_some());
    drop(step);
    assert!(host.upgrade().is_none());
}
