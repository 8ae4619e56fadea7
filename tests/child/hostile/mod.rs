//! A process that runs hostile plans one after the other and says what came of each.

#[path = "../../it/hostile/dice.rs"]
mod dice;
mod disturb;
#[path = "../../it/hostile/job.rs"]
mod job;
mod watch;
mod worker;

use std::path::Path;
use std::time::Duration;

use luaplan::base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, ToolFailure, Value};
use luaplan::sandbox::{
    EngineKind, Interrupt, InterruptReason, Machine, Step, Stopped, Vm, VmLimits, VmOptions,
};

use disturb::disturb;
use job::{EXIT_GIVEN_UP, End, Job, Place, Report};
use watch::{GIVE_UP_AFTER, Watch, Watched, cpu_time, held_kib, peak_kib, reset_peak};

use crate::say;

/// After how many instructions a plan pauses, so that pauses in the middle of everything are tried.
const SLICE_INSTRUCTIONS: u64 = 1_000_000;

/// A plan that uses a little of everything. What it gives and what it costs must never change.
const INNOCENT: &str = r#"
function run(context)
  local rows = {}
  for i = 1, 50 do rows[i] = { id = i, name = string.format("n%03d", 51 - i) } end
  table.sort(rows, function(a, b) return a.name < b.name end)
  local co = coroutine.wrap(function(x) local y = echo(x) coroutine.yield(y .. "!") end)
  local words = {}
  for word in ("a quick check"):gmatch("%a+") do words[#words + 1] = word:upper() end
  local ok, why = pcall(error, { code = 7 })
  local t = setmetatable({}, { __index = function(_, k) return k .. "?" end })
  print(#rows, t.x, leak, string.leak, rawget(_G, "leak"))
  return { first = rows[1].id, said = co("x"), words = table.concat(words, ","), ok = ok, code = why.code,
    missing = t.y, sum = stats.sum({ 1, 2, 3 }), json = json.encode({ a = { 1, 2 } }), left = tostring({}),
    keys = #list.keys(_G), methods = #list.keys(string) }
end"#;

/// `echo(x)` gives x back, `fail(message)` fails, `nothing()` gives null.
pub(crate) fn answer(call: &CallRequest) -> CallOutcome {
    let first = call.arguments.0.first();
    match call.tool.as_str() {
        "echo" | "server.echo" => Ok(first.cloned().unwrap_or(Value::Null)),
        "fail" => {
            let message = first.and_then(Value::as_str).unwrap_or("it broke");
            Err(ToolFailure::new(ErrorCode::FetchFailed, message))
        }
        _ => Ok(Value::Null),
    }
}

fn finish<M: Machine>(mut step: Step<M>) -> (Stopped, String) {
    let mut printed = String::new();
    loop {
        step = match step {
            Step::Calls(mut pending) => {
                printed.push_str(&pending.take_printed());
                let outcomes = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => {
                printed.push_str(&stopped.printed);
                return (stopped, printed);
            }
        }
    }
}

pub(crate) fn options(limits: VmLimits, interrupt: Interrupt) -> VmOptions {
    let tools = ["echo", "fail", "nothing", "server.echo"].map(str::to_owned).to_vec();
    VmOptions { limits, tools, interrupt, slice_instructions: SLICE_INSTRUCTIONS }
}

/// What came of a plan, and the processor time it took: all, and what passed after it was told to
/// stop.
pub(crate) struct Ran {
    pub(crate) stopped: Stopped,
    pub(crate) printed: String,
    pub(crate) used: Duration,
    pub(crate) late: Option<Duration>,
}

fn run(place: Place, source: &str, limits: VmLimits, worker: &Path) -> Ran {
    match place {
        Place::MluaInProcess => in_process(limits, |options| {
            let context = Value::from_json_text("{}").unwrap();
            finish(Vm::new(options).unwrap().start(source, "plan.lua", &context))
        }),
        Place::MluaInWorker => worker::run(worker, EngineKind::Mlua, source, limits),
        Place::PiccoloInWorker => worker::run(worker, EngineKind::Piccolo, source, limits),
    }
}

fn in_process(limits: VmLimits, run: impl FnOnce(VmOptions) -> (Stopped, String)) -> Ran {
    let interrupt = Interrupt::default();
    let told = interrupt.clone();
    let watch = Watch::begin(Watched {
        clock: Box::new(cpu_time),
        tell: Box::new(move || told.trigger(InterruptReason::WallTime)),
        give_up: Box::new(|| std::process::exit(EXIT_GIVEN_UP)),
        limit: Duration::from_millis(limits.wall_ms),
        give_up_after: GIVE_UP_AFTER,
    });
    let (stopped, printed) = run(options(limits, interrupt));
    let (used, late) = watch.end();
    Ran { stopped, printed, used, late }
}

/// Everything the innocent plan shows.
fn innocent(place: Place, worker: &Path) -> String {
    let limits = VmLimits::from(&LimitProfile::Standard.limits());
    let Ran { stopped, printed, .. } = run(place, INNOCENT, limits, worker);
    match stopped.result {
        Ok(value) => format!("{} {} {printed:?}", value.to_json(), stopped.usage.instructions),
        Err(error) => format!("{error:?}"),
    }
}

/// The source of a job; one that generates it is run first, with room.
fn source(job: &Job, worker: &Path) -> String {
    if !job.generates {
        return job.source.clone();
    }
    let limits = VmLimits { output_bytes: u64::MAX, ..VmLimits::from(&LimitProfile::Generous.limits()) };
    let made = run(Place::MluaInProcess, &job.source, limits, worker);
    let value = made.stopped.result.unwrap_or_else(|error| panic!("{}: {error}", job.name));
    let made = value.as_str().unwrap_or_else(|| panic!("{} makes no text", job.name));
    job.disturbed_by.map_or_else(|| made.to_owned(), |seed| disturb(made, seed))
}

fn report(job: &Job, worker: &Path, held_at_start_kib: u64, expected_innocent: &str) -> Report {
    let limits = job.limits();
    let source = source(job, worker);
    let before_kib = held_kib();
    reset_peak();
    let Ran { stopped, used, late, .. } = run(job.place, &source, VmLimits::from(&limits), worker);
    let peak_kib = peak_kib().saturating_sub(before_kib);
    let end = match &stopped.result {
        Ok(value) => End::Result(value.to_json().to_string()),
        Err(error) => End::Error(error.code().as_str().to_owned(), error.message().to_owned()),
    };
    let instructions = stopped.usage.instructions;
    drop((stopped, source));
    let kept_kib = held_kib().saturating_sub(held_at_start_kib);
    let now = innocent(job.place, worker);
    let next_run = if now == expected_innocent { String::new() } else { now };
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Report {
        end,
        cpu_ms: millis(used),
        late_ms: late.map(millis),
        instructions,
        peak_kib,
        kept_kib,
        next_run,
    }
}

/// Runs the jobs of a file, one a line; `worker` is the program worker processes are started from.
pub(crate) fn child(jobs: &Path, worker: &Path) {
    let text = std::fs::read_to_string(jobs).unwrap();
    let jobs: Vec<Job> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let Some(first) = jobs.first() else { return };
    let expected = innocent(first.place, worker);
    let held_at_start_kib = held_kib();
    for job in &jobs {
        say("begin");
        let report = report(job, worker, held_at_start_kib, &expected);
        say(&serde_json::to_string(&report).unwrap());
    }
    say("done");
}
