//! What leaves a VM is bounded where it arrives: sharing makes it small inside and large outside.

use luaplan_base::{ErrorCode, LimitProfile, Value};

use super::harness::run_with;
use crate::{Stopped, VmLimits};

fn standard() -> VmLimits {
    VmLimits::from(&LimitProfile::Standard.limits())
}

fn run_standard(body: &str) -> Stopped {
    run_with(&format!("function run(context) {body} end"), &Value::Null, standard())
}

/// Ends with `limit_memory`, having gone past the limit by less than one more piece of `piece_bytes`.
fn is_stopped(body: &str, piece_bytes: u64) {
    let stopped = run_standard(body);
    let error = match stopped.result {
        Ok(_) => panic!("{body} ended well"),
        Err(error) => error,
    };
    assert_eq!(error.code(), ErrorCode::LimitMemory, "{body}: {error}");
    let number = |json: Option<&serde_json::Value>| json.and_then(serde_json::Value::as_u64).unwrap();
    let (limit, observed) = (number(error.limit()), number(error.observed()));
    assert_eq!(limit, standard().memory_bytes);
    assert!(observed > limit && observed <= limit + piece_bytes, "{body}: {observed}");
}

const SHARED: &str = "local t, l, ll = { a = 1 }, {}, {} for i = 1, 700 do l[i] = t end \
                      for i = 1, 700 do ll[i] = l end ";

#[test]
fn a_small_table_shared_many_times_is_stopped_wherever_it_leaves() {
    for body in [
        "local fs = {} for i = 1, 6 do fs[i] = function() echo(ll) end end parallel(fs) return 1",
        "pcall(echo, ll) return 1",
        "return { x = ll }",
        "pcall(json.encode, ll) return 1",
    ] {
        is_stopped(&format!("{SHARED}{body}"), 1024);
    }
    let raised = run_standard(&format!("{SHARED}error(ll)")).result.unwrap_err();
    assert_eq!(raised.code(), ErrorCode::PlanError, "{raised}");
}

#[test]
fn all_calls_of_a_batch_share_one_limit() {
    let branches = "local s = string.rep('x', 10000000) local fs = {} \
                    for i = 1, 60 do fs[i] = function() return echo({ s }) end end parallel(fs) return 1";
    is_stopped(branches, 20_000_100);
    let arguments = "local s = string.rep('x', 1000000) local t = {} for i = 1, 200 do t[i] = s end \
                     echo(table.unpack(t)) return 1";
    is_stopped(arguments, 2_000_100);
}

#[test]
fn what_is_held_is_let_go_with_the_answers_and_with_a_refused_call() {
    let answered = "local s = string.rep('x', 10000000) for i = 1, 20 do nothing(s) end return 1";
    assert_eq!(run_standard(answered).result.unwrap(), Value::Integer(1));
    let refused =
        "local s = string.rep('x', 10000000) for i = 1, 20 do pcall(nothing, s, print) end return 1";
    assert_eq!(run_standard(refused).result.unwrap(), Value::Integer(1));
    let encoded = "local s = string.rep('x', 1000000) for i = 1, 50 do json.encode({ s }) end return 1";
    assert_eq!(run_standard(encoded).result.unwrap(), Value::Integer(1));
}

#[test]
fn members_that_a_plan_removed_count_when_they_are_looked_for() {
    let context: Value = (0..2000).map(|place| (format!("m{place}"), Value::Integer(place))).collect();
    let plan = "function run(context) for k in pairs(context) do context[k] = nil end \
                local l, ll = {}, {} for i = 1, 700 do l[i] = context end for i = 1, 700 do ll[i] = l end \
                nothing(ll) end";
    let error = run_with(plan, &context, standard()).result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValueTooLarge, "{error}");
}

#[test]
fn ordinary_amounts_pass() {
    let rows = "local rows = {} for i = 1, 1000 do local row = {} \
                for c = 1, 10 do row['column_' .. c] = 'cell ' .. i end rows[i] = row end \
                local fs = {} for i = 1, 10 do fs[i] = function() return nothing(rows) end end \
                parallel(fs) return #echo(rows)";
    assert_eq!(run_standard(rows).result.unwrap(), Value::Integer(1000));
    let images = "local files = {} for i = 1, 5 do \
                  files[i] = { name = i .. '.png', content = string.rep('\\255', 5242880) } end \
                  nothing({ to = 'user1@example.com', attachments = files }) return 1";
    assert_eq!(run_standard(images).result.unwrap(), Value::Integer(1));
}

#[test]
fn a_pool_gives_a_fresh_vm_for_every_run() {
    let pool = crate::VmPool::new(super::harness::options(standard()), 2);
    for _ in 0..3 {
        pool.refill().unwrap();
        for _ in 0..3 {
            let vm = pool.take().unwrap();
            let interrupt = vm.interrupt();
            let plan =
                "function run() seen = (seen or 0) + 1 string.seen = seen return { seen, string.seen } end";
            let stopped =
                super::harness::finish(vm.start(plan, "plan.lua", &Value::Null), super::harness::answer);
            assert_eq!(stopped.result.unwrap().to_json().to_string(), "[1,1]");
            interrupt.trigger(crate::InterruptReason::Cancelled);
        }
    }
}
