//! Which lines ran is noted, and noting changes nothing else.

use luaplan_base::Value;

use super::harness::{answer, finish, limits, options};
use crate::{LineTrace, Stopped, Vm, VmOptions};

const PLAN: &str = r#"local function twice(n)
  return n * 2
end
function run(context)
  local total = 0
  for i = 1, 3000 do
    total = total + twice(i)
  end
  local co = coroutine.wrap(function()
    coroutine.yield(1)
    total = total + 1
    coroutine.yield(2)
    total = total + 100
  end)
  co()
  co()
  local both = parallel {
    function() return echo("a") end,
    function()
      if context.never then
        total = -1
      end
      return echo("b")
    end,
  }
  local ok = pcall(function()
    error("no")
  end)
  local tried = retry(2, function()
    return fail("away", true)
  end)
  print(tried.error)
  if ok then
    return nil
  end
  table.sort({ 3, 1, 2 }, function(a, b)
    return a < b
  end)
  return total .. both[1] .. both[2]
end
"#;

fn run(source: &str, slice_instructions: u64, trace: Option<LineTrace>) -> Stopped {
    let vm = Vm::new(VmOptions { slice_instructions, ..options(limits()) }).unwrap();
    let vm = match trace {
        Some(trace) => vm.tracing_lines(trace),
        None => vm,
    };
    finish(vm.start(source, "plan.lua", &Value::from_json_text("{}").unwrap()), answer)
}

#[test]
fn the_lines_that_ran_are_noted_and_no_other() {
    let trace = LineTrace::default();
    run(PLAN, u64::MAX, Some(trace.clone())).result.unwrap();
    let lines = trace.lines();
    for line in [2, 3, 4, 5, 6, 7, 10, 11, 12, 15, 16, 18, 20, 23, 27, 30, 32, 33, 36, 37, 39] {
        assert!(lines.contains(&line), "line {line} ran: {lines:?}");
    }
    for line in [13, 21, 34] {
        assert!(!lines.contains(&line), "line {line} did not run: {lines:?}");
    }
    assert!(lines.iter().all(|line| (1..=40).contains(line)), "{lines:?}");
}

#[test]
fn noting_lines_changes_no_count_and_no_result() {
    let endless = "function run(context)\n  local n = 0\n  while true do\n    n = n + 1\n  end\nend";
    let deep =
        "local function down(n)\n  return 1 + down(n + 1)\nend\nfunction run(context)\n  return down(1)\nend";
    let closing = "function run(context)\n  do\n    local x <close> = setmetatable({}, { __close = function()\n      context.n = 1\n    end })\n  end\n  return context.n\nend";
    for source in [PLAN, endless, deep, closing] {
        for slice in [u64::MAX, 1000, 97] {
            let plain = run(source, slice, None);
            let traced = run(source, slice, Some(LineTrace::default()));
            assert_eq!(plain.usage.instructions, traced.usage.instructions, "{source}");
            assert_eq!(plain.usage.calls, traced.usage.calls);
            assert_eq!(format!("{:?}", plain.result), format!("{:?}", traced.result), "{source}");
            assert_eq!(plain.printed, traced.printed);
        }
    }
}
