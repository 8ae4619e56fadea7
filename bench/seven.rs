//! The seven pieces of work, the same texts and data as the peers get in `peers/`.

use std::time::{Duration, Instant};

use luaplan::base::Value;
use luaplan::sandbox::{Interrupt, InterruptReason, Step, Vm, VmOptions, VmPool};

use crate::parts::{Answers, empty_object, finish, options, vm};

pub(crate) const W1: &str = include_str!("peers/work/w1.lua");
pub(crate) const W2: &str = include_str!("peers/work/w2.lua");
pub(crate) const W3: &str = include_str!("peers/work/w3.lua");
pub(crate) const W4: [(&str, &str); 6] = [
    ("fib", include_str!("peers/work/w4_fib.lua")),
    ("loop", include_str!("peers/work/w4_loop.lua")),
    ("sort_numbers", include_str!("peers/work/w4_sort_numbers.lua")),
    ("sort_strings", include_str!("peers/work/w4_sort_strings.lua")),
    ("concat", include_str!("peers/work/w4_concat.lua")),
    ("join", include_str!("peers/work/w4_join.lua")),
];
pub(crate) const W5: &str = include_str!("peers/work/w5.lua");
pub(crate) const W7: &str = include_str!("peers/work/w7.lua");

/// Runs a plan that calls at most the tools of the benches, in a VM made for it.
pub(crate) fn run(source: &str, context: &Value, answers: &Answers) -> Value {
    run_in(vm(), source, context, answers)
}

/// The same in a VM made beforehand.
pub(crate) fn run_in(vm: Vm, source: &str, context: &Value, answers: &Answers) -> Value {
    finish(vm.start(source, "plan.lua", context), answers)
}

/// The same in a VM of a pool that was filled before; the VM is dropped later.
pub(crate) fn run_pooled(pool: &VmPool, source: &str, context: &Value, answers: &Answers) -> Value {
    run_in(pool.take().unwrap(), source, context, answers)
}

/// W3's context: how many calls to make.
pub(crate) fn calls(count: u64) -> Value {
    Value::from_iter([("calls", Value::Integer(i64::try_from(count).unwrap()))])
}

/// W5 in process: the text of a document to the plan and out again.
pub(crate) fn text_in_and_out(text: &str, answers: &Answers) -> String {
    let context = Value::from_json_text(text).unwrap();
    run(W5, &context, answers).to_json_text()
}

/// W7 in process: the time from the moment a wall limit is due to the end of the run it stops, with
/// a thread that waits for that moment and interrupts.
pub(crate) fn interrupted(wall: Duration) -> Duration {
    let interrupt = Interrupt::default();
    let vm = Vm::new(VmOptions { interrupt: interrupt.clone(), ..options() }).unwrap();
    let due = Instant::now() + wall;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                std::thread::park_timeout(left);
            }
            interrupt.trigger(InterruptReason::WallTime);
        });
        let mut step = vm.start(W7, "plan.lua", &empty_object());
        loop {
            step = match step {
                Step::Slice(paused) => paused.resume(),
                Step::Done(stopped) => {
                    assert!(stopped.result.is_err());
                    return Instant::now().saturating_duration_since(due);
                }
                other => panic!("{other:?}"),
            }
        }
    })
}

/// Bytes that `count` idle values of `make` hold, by the growth of the process.
pub(crate) fn idle_bytes<T>(count: u64, make: impl Fn() -> T) -> u64 {
    let before = resident_bytes();
    let held: Vec<T> = (0..count).map(|_| make()).collect();
    let after = resident_bytes();
    drop(held);
    after.saturating_sub(before)
}

/// What the process holds in memory now. Linux only; 0 elsewhere.
fn resident_bytes() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/smaps_rollup") else { return 0 };
    let kib = text.lines().find_map(|line| line.strip_prefix("Rss:")).map(|rest| rest.trim_end_matches("kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
