//! W6, memory per idle VM, as a group whose unit is KiB.

use std::process::Command;

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, Throughput};

use crate::parts::{bare_lua, vm};
use crate::seven::idle_bytes;

/// VMs held at once: enough to make the size of pages irrelevant.
const VMS: u64 = 500;

const IDLE_VM: &str = "--idle-vm-of-the-benches";
const IDLE_LUA: &str = "--idle-lua-of-the-benches";

/// Bytes instead of time.
struct Bytes;

pub(crate) fn bench() {
    let mut criterion = Criterion::default().with_measurement(Bytes).sample_size(10).configure_from_args();
    let mut group = criterion.benchmark_group("w6");
    group.bench_function("idle_vm", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| in_a_process_of_its_own(IDLE_VM)).sum());
    });
    group.bench_function("reference_bare_lua", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| in_a_process_of_its_own(IDLE_LUA)).sum());
    });
    group.finish();
}

/// Freed memory stays with a process and would serve the next measurement in it.
fn in_a_process_of_its_own(what: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap()).arg(what).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Measures once and prints the bytes, if this process was started for that.
#[expect(clippy::print_stdout, reason = "the bench reads it")]
pub(crate) fn asked() -> bool {
    let is_asked = |what| std::env::args().any(|argument| argument == what);
    if is_asked(IDLE_VM) {
        drop(vm());
        println!("{}", idle_bytes(VMS, vm) / VMS);
    } else if is_asked(IDLE_LUA) {
        drop(bare_lua());
        println!("{}", idle_bytes(VMS, bare_lua) / VMS);
    } else {
        return false;
    }
    true
}

impl Measurement for Bytes {
    type Intermediate = ();
    type Value = u64;

    fn start(&self) {}

    fn end(&self, (): ()) -> u64 {
        0
    }

    fn add(&self, left: &u64, right: &u64) -> u64 {
        left + right
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, bytes: &u64) -> f64 {
        *bytes as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Bytes {
    fn scale_values(&self, _typical: f64, values: &mut [f64]) -> &'static str {
        for value in values {
            *value /= 1024.0;
        }
        "KiB"
    }

    fn scale_throughputs(
        &self,
        _typical: f64,
        _throughput: &Throughput,
        _values: &mut [f64],
    ) -> &'static str {
        "KiB"
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "bytes"
    }
}
