//! Natives on input made to take long: each stops at a small budget, soon, and before it has taken
//! much memory.

use std::time::Duration;

use super::compare::{Budget, Outcome, TestValue, run_native};
use crate::lua_std::{NATIVES, Native};

const BUDGET_INSTRUCTIONS: u64 = 100_000;
const RESULT_BYTES_MAX: u64 = 64 << 20;
const LONG_BYTES: usize = 60 << 20;

fn native(name: &str) -> &'static Native {
    NATIVES.iter().copied().flatten().find(|native| native.name == name).unwrap()
}

/// Processor time this thread has used, which other work on the machine does not lengthen; 0 where it is not counted.
pub(super) fn cpu_time() -> Duration {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike as _;
        let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
        let micros = (usage.user_time() + usage.system_time()).num_microseconds();
        Duration::from_micros(u64::try_from(micros).unwrap())
    }
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

fn stops(name: &str, args: &[TestValue]) {
    let meter = Budget::new(BUDGET_INSTRUCTIONS, RESULT_BYTES_MAX);
    let began = cpu_time();
    assert_eq!(run_native(native(name), name, args, &meter), Outcome::Dead, "{name}");
    let took = cpu_time() - began;
    assert!(took < Duration::from_secs(2), "{name}: {took:?}");
}

fn text(text: impl Into<Vec<u8>>) -> TestValue {
    TestValue::Text(text.into())
}

fn long(byte: u8) -> TestValue {
    text(vec![byte; LONG_BYTES])
}

#[test]
fn long_texts_are_charged_before_they_are_walked() {
    for name in ["upper", "lower", "reverse"] {
        stops(name, &[long(b'a')]);
    }
    stops("sub", &[long(b'a'), TestValue::Integer(1)]);
    stops("utf8.len", &[long(b'a')]);
    stops("utf8.len", &[text("é".repeat(LONG_BYTES / 2))]);
    stops("utf8.offset", &[long(b'a'), TestValue::Integer(50_000_000)]);
    stops("utf8.offset", &[long(0x80), TestValue::Integer(0), TestValue::Integer(LONG_BYTES as i64)]);
    stops("utf8.next", &[long(0x80), TestValue::Integer(0)]);
    stops("tonumber", &[long(b' ')]);
    stops("tonumber", &[long(b'1')]);
    stops("tonumber", &[long(b'z'), TestValue::Integer(36)]);
    stops("char", &[long(b' ')]);
    stops("format", &[text("%d"), long(b'9')]);
}

#[test]
fn long_formats_are_charged_before_they_are_walked() {
    stops("format", &[long(b'a')]);
    stops("format", &[text("%%".repeat(LONG_BYTES / 2))]);
    stops("format_letters", &[text("%d".repeat(LONG_BYTES / 2))]);
    stops("pack", &[long(b'x')]);
    stops("packsize", &[long(b' ')]);
    stops("unpack", &[long(b' '), text("")]);
}

#[test]
fn results_that_cannot_fit_are_refused() {
    stops("pack", &[text("c2147483639"), text("")]);
    stops("pack", &[text("!16c1".repeat(3) + "c99999999"), text(""), text(""), text(""), text("")]);
    let many = std::iter::once(text("%s".repeat(200))).chain(std::iter::repeat_n(long(b'a'), 200));
    stops("format", &many.take(4).collect::<Vec<_>>());
    stops("format", &[text("%q"), long(b'\n')]);
}

#[test]
fn many_small_items_add_up() {
    let count = 200_000;
    let floats = std::iter::once(text("%99.99f".repeat(count)))
        .chain(std::iter::repeat_n(TestValue::Number(f64::MAX), count));
    stops("format", &floats.collect::<Vec<_>>());
    let bytes: Vec<TestValue> = std::iter::repeat_n(TestValue::Integer(65), count).collect();
    stops("char", &bytes);
    stops("utf8.char", &bytes);
    stops("byte", &[long(b'a'), TestValue::Integer(1), TestValue::Integer(200_000)]);
    stops("utf8.codepoint", &[long(b'a'), TestValue::Integer(1), TestValue::Integer(249_999)][..]);
}

#[test]
fn more_results_than_a_stack_holds_are_an_error() {
    for (name, args) in [
        ("byte", vec![long(b'a'), TestValue::Integer(1), TestValue::Integer(-1)]),
        ("utf8.codepoint", vec![long(b'a'), TestValue::Integer(1), TestValue::Integer(-1)]),
        ("unpack", vec![text("b".repeat(300_000)), long(b'a')]),
    ] {
        let ended = run_native(native(name), name, &args, &Budget::new(u64::MAX, u64::MAX));
        assert!(matches!(&ended, Outcome::Error(message) if message.starts_with("stack overflow")), "{name}");
    }
}
