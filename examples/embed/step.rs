//! Drives a plan by hand: no runtime, no I/O, no clock. Every pause is a value.
//!
//!     cargo run --example step

use luaplan::base::{LimitProfile, Result, Value};
use luaplan::sandbox::{Interrupt, Step, Stopped, Vm, VmLimits, VmOptions};

const PLAN: &str = r#"
function run(context)
  local sum = 0
  for _, part in ipairs(parallel{
    function() return price_of("A-1") end,
    function() return price_of("B-2") end,
  }) do
    sum = sum + part
  end
  return {sum = sum}
end
"#;

/// Runs [`PLAN`]. `said` gets a line about each pause.
pub(crate) fn example(said: &mut Vec<String>) -> Result<Stopped> {
    let vm = Vm::new(VmOptions {
        limits: VmLimits::from(&LimitProfile::Strict.limits()),
        tools: vec!["price_of".to_owned()],
        interrupt: Interrupt::default(),
        slice_instructions: 100_000,
    })?;
    let mut step = vm.start(PLAN, "prices.lua", &Value::Null);
    loop {
        step = match step {
            Step::Calls(pending) => {
                let wanted: Vec<String> =
                    pending.calls.iter().map(|call| format!("{} {}", call.id, call.tool)).collect();
                said.push(format!("wants {}", wanted.join(", ")));
                // One outcome for each call, in their order; the program decides where they come from.
                let outcomes = pending.calls.iter().map(|_| Ok(Value::Float(9.5))).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            // `retry` asks to wait; a program with a clock waits first.
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => return Ok(stopped),
        };
    }
}

#[expect(clippy::print_stdout, reason = "a program that shows what it does")]
fn main() -> Result<()> {
    let mut said = Vec::new();
    let stopped = example(&mut said)?;
    println!("{}", said.join("\n"));
    println!("{}, {} instructions", stopped.result?.to_json(), stopped.usage.instructions);
    Ok(())
}
