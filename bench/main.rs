//! Every bench, in one binary. README.md beside this file gives the commands and the figures.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run should stop")]

mod check;
mod context;
mod disk;
mod durable;
mod explain;
mod held;
mod journal;
mod memory;
mod metering;
mod once;
mod parts;
mod peer;
mod reads;
mod ready;
mod resume;
mod round_trip;
mod seven;
mod seven_groups;
mod ten_calls;
mod vm;
mod worker;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    // As the binary does.
    luaplan::sandbox::keep_freed_memory();
    let asked = once::asked()
        || peer::asked()
        || durable::asked()
        || held::asked()
        || memory::asked()
        || worker::echoed()
        || worker::fairness();
    if asked {
        return;
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .configure_from_args();
    seven_groups::bench(&mut criterion);
    memory::bench();
    vm::bench(&mut criterion);
    ten_calls::bench(&mut criterion);
    round_trip::bench(&mut criterion);
    context::bench(&mut criterion);
    check::bench(&mut criterion);
    explain::bench(&mut criterion);
    metering::bench(&mut criterion);
    journal::bench(&mut criterion);
    reads::bench(&mut criterion);
    resume::bench(&mut criterion);
    disk::bench(&mut criterion);
    worker::bench(&mut criterion);
    criterion.final_summary();
}
