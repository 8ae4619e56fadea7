//! The engine, tried on two plans.

use luaplan_base::{Error, ErrorCode, LimitProfile, Result, Value};
use luaplan_plan::check;
use luaplan_vm::{Interrupt, Step, Vm, VmLimits, VmOptions};

/// Runs a plan, and one that would never end.
pub(super) fn self_test() -> Result<()> {
    let answer = self_test_run("function run(context) return context.a + 1 end")?;
    if answer != Value::Integer(42) {
        return Err(Error::new(ErrorCode::Internal, format!("41 + 1 came out as {answer:?}")));
    }
    match self_test_run("function run() while true do end end") {
        Err(error) if error.code() == ErrorCode::LimitInstructions => Ok(()),
        other => Err(Error::new(
            ErrorCode::Internal,
            format!("a plan without end was not stopped by its limit: {other:?}"),
        )),
    }
}

fn self_test_run(source: &str) -> Result<Value> {
    let mut limits = LimitProfile::Strict.limits();
    limits.instructions = 1_000_000;
    let plan = check(source, "self-test", &luaplan_catalog::Catalog::default(), &limits).plan;
    let plan = plan.ok_or_else(|| Error::new(ErrorCode::Internal, "the self-test plan was refused"))?;
    let options = VmOptions {
        limits: VmLimits::from(&limits),
        tools: Vec::new(),
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    };
    let context = Value::from_iter([("a", 41_i64)]);
    match Vm::new(options)?.start(plan.source(), plan.name(), &context) {
        Step::Done(stopped) => stopped.result,
        _ => Err(Error::new(ErrorCode::Internal, "the self-test plan paused")),
    }
}
