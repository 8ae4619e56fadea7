//! `--once NAME COUNT`: does one thing COUNT times, for callgrind.

use std::hint::black_box;

use luaplan::sandbox::VmPool;

use crate::parts::{Answers, empty_object, options, vm};
use crate::{context, journal, round_trip, seven, ten_calls, vm as trivial};

/// VMs made beforehand; COUNT must not be larger.
const WARM: usize = 60;

/// Runs if the command line asks for it; says whether it did.
pub(crate) fn asked() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == "--once") else { return false };
    let name = arguments.get(at + 1).unwrap();
    let count: u64 = arguments.get(at + 2).unwrap().parse().unwrap();
    let answers = Answers::new();
    // The first VM of a process compiles the prelude.
    drop(vm());
    match name.as_str() {
        "vm_new" => (0..count).for_each(|_| drop(black_box(vm()))),
        "vm_run" => (0..count).for_each(|_| drop(black_box(trivial::run_trivial(&answers)))),
        "round_trip" => {
            black_box(round_trip::step(&answers, count));
        }
        "ten_calls" => (0..count).for_each(|_| drop(black_box(ten_calls::run(&answers)))),
        // The pool is filled before, so that a difference of counts shows the critical path alone.
        "warm_run" => warm(&VmPool::new(options(), WARM), seven::W1, count, &answers),
        "warm_w2" => warm(&VmPool::new(options(), WARM), seven::W2, count, &answers),
        "journaled" => journal::once(count),
        "w5" => {
            let text = context::document().to_json().to_string();
            (0..count).for_each(|_| drop(black_box(seven::text_in_and_out(&text, &answers))));
        }
        name => {
            let work = seven::W4.iter().find(|(work, _)| name.strip_prefix("w4_") == Some(*work));
            let Some((_, source)) = work.or((name == "w2").then_some(&("w2", seven::W2))) else {
                panic!("there is no `{name}`; see bench/once.rs");
            };
            (0..count).for_each(|_| drop(black_box(seven::run(source, &empty_object(), &answers))));
        }
    }
    true
}

/// Fills the pool for any `count`, then runs so many plans in it and drops no VM.
fn warm(pool: &VmPool, source: &str, count: u64, answers: &Answers) {
    let context = empty_object();
    pool.refill().unwrap();
    (0..count).for_each(|_| drop(black_box(seven::run_pooled(pool, source, &context, answers))));
}
