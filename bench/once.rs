//! `--once NAME COUNT`: does one thing so many times and no more, for callgrind.

use std::hint::black_box;

use crate::parts::{Answers, vm};
use crate::{round_trip, ten_calls, vm as trivial};

/// Whether this was asked for, and done.
pub(crate) fn asked() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == "--once") else { return false };
    let name = arguments.get(at + 1).unwrap();
    let count: u64 = arguments.get(at + 2).unwrap().parse().unwrap();
    let answers = Answers::new();
    // The prelude is compiled by the first VM of a process.
    drop(vm());
    match name.as_str() {
        "vm_new" => (0..count).for_each(|_| drop(black_box(vm()))),
        "vm_run" => (0..count).for_each(|_| drop(black_box(trivial::run_trivial(&answers)))),
        "round_trip" => {
            black_box(round_trip::step(&answers, count));
        }
        "ten_calls" => (0..count).for_each(|_| drop(black_box(ten_calls::run(&answers)))),
        other => panic!("there is no `{other}`; there are vm_new, vm_run, round_trip and ten_calls"),
    }
    true
}
