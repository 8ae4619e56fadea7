//! Every file of tests/cases/stdlib, in a VM of its own.
//!
//! A case is the body of a plan's `run`, with assertions. It has `equal(got, wanted)`, which
//! compares tables by their members, `near(got, wanted)` for rounded figures, and `fails(part, fn,
//! …)`, which wants an error that contains `part`. A first line `-- stops: CODE` says that the case
//! must be stopped by that limit; one `-- error: CODE` that it must end with that error.

use luaplan_base::{Error, Value};

use super::vm::run_on;
use crate::{Machine, PiccoloVm, Vm};

const PRELUDE: &str = r#"
function show(value)
  if type(value) == "string" then return string.format("%q", value) end
  if type(value) ~= "table" then return tostring(value) end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  for _, key in ipairs(list.sort_by(keys, tostring)) do
    parts[#parts + 1] = "[" .. show(key) .. "]=" .. show(rawget(value, key))
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end
function equal(got, wanted)
  if show(got) ~= show(wanted) then
    error("wanted " .. show(wanted) .. ", got " .. show(got), 2)
  end
end
function near(got, wanted)
  if type(got) ~= "number" or math.abs(got - wanted) > 1e-12 * math.max(1, math.abs(wanted)) then
    error("wanted about " .. show(wanted) .. ", got " .. show(got), 2)
  end
end
function fails(part, fn, ...)
  local ok, message = pcall(fn, ...)
  if ok then error("no error where one with " .. show(part) .. " was wanted", 2) end
  message = tostring(message)
  if not message:find(part, 1, true) then
    error("wanted an error with " .. show(part) .. ", got " .. show(message), 2)
  end
end
"#;

#[test]
fn every_case_file_holds() {
    let failed = failed_on::<Vm>(1, "");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The second engine counts other instructions, and a call of ours costs it more of them.
#[test]
fn every_case_file_holds_on_the_second_engine() {
    let failed = failed_on::<PiccoloVm>(10, "-- engine: mlua");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The files that do not hold, except those with the line `skipped`.
fn failed_on<M: Machine>(price: u64, skipped: &str) -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/stdlib");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "lua"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "the cases are gone: {files:?}");
    let mut failed = Vec::new();
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        if !skipped.is_empty() && source.lines().take(2).any(|line| line.starts_with(skipped)) {
            continue;
        }
        let first = source.lines().next().unwrap_or_default();
        let stops = first.strip_prefix("-- stops: ");
        let wanted = stops.or_else(|| first.strip_prefix("-- error: "));
        // Memory must give out first where that is what the case is about.
        let instructions = if stops == Some("limit_memory") { 50_000_000 } else { 3_000_000 };
        let got = run_on::<M>(PRELUDE, &source, &Value::Object(Default::default()), instructions * price);
        let code = got.as_ref().err().map(|error: &Error| error.code().as_str());
        if code != wanted {
            failed.push(format!("{}: {got:?}", file.file_name().unwrap().to_string_lossy()));
        }
    }
    failed
}
