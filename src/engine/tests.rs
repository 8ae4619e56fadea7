//! How runs take VMs made ahead.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use luaplan_base::{ErrorCode, LimitProfile, Result, Value};
use luaplan_vm::{Interrupt, InterruptReason, SLICE_INSTRUCTIONS, VmLimits, VmOptions, VmPool};
use luaplan_workers::{Pause, WorkerStart};

use super::vm_executor::VmExecutor;

fn options() -> VmOptions {
    VmOptions {
        limits: VmLimits::from(&LimitProfile::Standard.limits()),
        tools: Vec::new(),
        interrupt: Interrupt::default(),
        slice_instructions: SLICE_INSTRUCTIONS,
    }
}

fn executor(vms: &VmPool, options: VmOptions) -> VmExecutor {
    VmExecutor::new(None, Some(vms.clone()), options, CancellationToken::new())
}

async fn result(mut executor: VmExecutor) -> Result<Value> {
    let start = WorkerStart {
        source: "function run() seen = (seen or 0) + 1 return seen end".to_owned(),
        name: "plan.lua".to_owned(),
        context: Value::Null,
        calls_before: 0,
        run_started_s: None,
    };
    match executor.start(start).await? {
        Pause::Done(stopped) => stopped.result,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_run_takes_a_vm_made_for_such_runs_and_leaves_nothing_in_it() {
    let vms = VmPool::new(options(), 2);
    vms.refill().unwrap();
    for left in [1, 0, 0] {
        assert_eq!(result(executor(&vms, options())).await.unwrap(), Value::Integer(1));
        assert_eq!(vms.ready(), left);
    }
    vms.refill().unwrap();
    let strict = VmLimits::from(&LimitProfile::Strict.limits());
    let (others, tools) = (VmOptions { limits: strict, ..options() }, vec!["query_db".to_owned()]);
    for other in [others, VmOptions { tools, ..options() }] {
        assert_eq!(result(executor(&vms, other)).await.unwrap(), Value::Integer(1));
        assert_eq!(vms.ready(), 2);
    }
}

#[tokio::test]
async fn a_pool_is_filled_after_runs_only_where_it_is_kept_ready() {
    let vms = VmPool::new(options(), 2);
    result(executor(&vms, options())).await.unwrap();
    assert!(!vms.wants_refill());
    vms.keep_ready();
    result(executor(&vms, options())).await.unwrap();
    while vms.ready() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!vms.wants_refill());
}

#[tokio::test]
async fn the_interrupt_of_a_seat_stops_the_vm_that_was_made_before() {
    let vms = VmPool::new(options(), 2);
    vms.refill().unwrap();
    let stopped = executor(&vms, options());
    stopped.interrupt().trigger(InterruptReason::Cancelled);
    assert_eq!(result(stopped).await.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(result(executor(&vms, options())).await.unwrap(), Value::Integer(1));
}
