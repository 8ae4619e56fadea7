//! The VM: made fresh for one run, driven from pause to pause, dropped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mlua::{Function, Lua, LuaOptions, StdLib, Table, Thread, Value as LuaValue};

use luaplan_base::{CallOutcome, Error, ErrorCode, LimitName, Result, StepReport, Value};

use super::codec::{Codec, FailureParts};
use super::host::{Host, lock};
use super::lib_host::LibSupport;
use super::{compiled, library, report};
use crate::lua54::ffi::call_interrupt::InterruptLink;
use crate::lua54::ffi::drive::{Ended, Main};
use crate::lua54::ffi::watch::Watch;
use crate::lua54::ffi::{call, call_interrupt, coroutine, metered_builtins, push};
use crate::vm::json_size::json_bytes;
use crate::vm::lua_chunk::{
    CONTROL, FAILURES, LIBRARY, MAIN, PATTERNS, STEPS, TABLES, TOOLS, VALUES, printable_chunk_name,
};
use crate::vm::machine::Resume;
use crate::vm::meter::Meter;
use crate::{
    Interrupt, LineTrace, Machine, PausedSlice, PausedWait, PendingCalls, Step, Stopped, VmOptions, VmUsage,
};

/// What follows the signal of a pause, as `lua/prelude/tools.lua` writes it.
const SIGNAL_CALL: i64 = 1;
const SIGNAL_BATCH: i64 = 2;
const SIGNAL_WAIT: i64 = 3;

/// The arguments of the main coroutine: the chunk and the context.
const ARGUMENTS: i32 = 2;

/// The largest ended VM that may wait to be dropped.
const SPENT_BYTES_MAX: usize = 1 << 20;

/// An isolated Lua VM for one run.
pub struct Vm {
    /// First, so that it is dropped before the VM it points into.
    _bell: InterruptLink,
    lua: Lua,
    host: Arc<Host>,
    watch: Box<Watch>,
    main: Function,
    unlooked: Function,
    thread: Option<Thread>,
    /// Where it waits to be dropped after its run, if anywhere.
    spent: Option<Arc<Spent>>,
}

/// VMs that ran and wait to be dropped, no more than the pool makes ahead.
#[derive(Debug)]
pub(super) struct Spent {
    pub(super) most: usize,
    pub(super) vms: Mutex<Vec<Vm>>,
}

impl Spent {
    /// Keeps a VM that ran to drop it later, or drops it where too many wait.
    fn leave(&self, vm: Vm) {
        if vm.lua.used_memory() > SPENT_BYTES_MAX {
            return;
        }
        let mut waiting = lock(&self.vms);
        if waiting.len() < self.most {
            waiting.push(vm);
        }
    }
}

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vm").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

impl Vm {
    /// A fresh VM with its prelude, library and tools. Making one ahead of its run is cheap.
    ///
    /// # Errors
    /// `limit_memory` where the memory limit does not even hold the prelude.
    pub fn new(options: VmOptions) -> Result<Self> {
        let VmOptions { limits, tools, interrupt, slice_instructions } = options;
        let meter = Arc::new(Meter::new(limits, interrupt, slice_instructions));
        let host = Arc::new(Host::new(meter.clone()));
        let vm = Self::build(&host, tools).map_err(|error| {
            Error::new(ErrorCode::Internal, "the VM could not be made").with_source(error)
        })?;
        let used = vm.lua.used_memory() as u64;
        if used > limits.memory_bytes {
            return Err(LimitName::Memory.exceeded(limits.memory_bytes, used));
        }
        meter.sample_memory(used);
        Ok(vm)
    }

    fn build(host: &Arc<Host>, tools: Vec<String>) -> mlua::Result<Self> {
        let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::default())?;
        // Nearly all objects made here stay; a collection would free nothing.
        lua.gc_stop();
        let watch = Watch::new(&lua, host.clone())
            .ok_or_else(|| mlua::Error::runtime("this Lua is not laid out as the meter expects"))?;
        let bell = call_interrupt::link(&lua, host.meter.interrupt())
            .ok_or_else(|| mlua::Error::runtime("this Lua does not keep its names where the bell expects"))?;
        metered_builtins::install(&lua)?;
        let functions = host.functions(&lua)?;
        functions.raw_set("resume", coroutine::resume_function(&lua)?)?;
        functions.raw_set("close", coroutine::close_function(&lua)?)?;
        call::install(&lua, &functions)?;
        let mark: Table = functions.raw_get("mark")?;
        let parts = (
            functions,
            FAILURES.load(&lua)?,
            VALUES.load(&lua)?,
            CONTROL.load(&lua)?,
            TOOLS.load(&lua)?,
            LIBRARY.load(&lua)?,
            TABLES.load(&lua)?,
            PATTERNS.load(&lua)?,
            STEPS.load(&lua)?,
        );
        let (metatable, records, create, unlooked, main, add_tools): (
            Table,
            Table,
            Function,
            Function,
            Function,
            Function,
        ) = MAIN.load(&lua)?.call(parts)?;
        let failures = FailureParts { metatable, records, create };
        let held = lock(&host.calls).held();
        let codec = Arc::new(Codec::new(&lua, host.meter.clone(), held, mark, failures)?);
        push::install(&lua, &codec)?;
        let _ = host.codec.set(codec.clone());
        let run_started_s = host.run_started_s.clone();
        library::install(&lua, &LibSupport { meter: host.meter.clone(), codec, run_started_s })?;
        add_tools.call::<()>(tools)?;
        watch.let_collector_sleep(lua.used_memory() as u64);
        Ok(Self { _bell: bell, lua, host: host.clone(), watch, main, unlooked, thread: None, spent: None })
    }

    /// Numbers the calls after `steps` earlier ones of the same run, so that no two calls of a run
    /// share an id although several plans made them.
    #[must_use]
    pub fn numbering_calls_after(self, steps: u64) -> Self {
        lock(&self.host.calls).number_after(steps);
        self
    }

    /// Tells `date.now` and `date.today` when the run started, in Unix seconds. Without this they raise.
    #[must_use]
    pub fn run_started_at(self, unix_seconds: Option<i64>) -> Self {
        if let Some(seconds) = unix_seconds {
            let _ = self.host.run_started_s.set(seconds);
        }
        self
    }

    /// Notes every line of the plan that runs in `trace`. The run takes longer, its counts stay.
    #[must_use]
    pub fn tracing_lines(self, trace: LineTrace) -> Self {
        self.watch.trace_lines(trace);
        self
    }

    /// The handle to stop this VM from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.host.meter.interrupt().clone()
    }

    /// Keeps the VM there after its run, to be dropped later.
    pub(super) fn spent_into(mut self, spent: Arc<Spent>) -> Self {
        self.spent = Some(spent);
        self
    }

    /// Compiles `source` and runs it to its first pause, with `context` given to its `run`.
    /// `chunk_name` names the plan in messages, for example `report.lua`.
    ///
    /// Text only: bytecode is refused as `plan_syntax`. All errors come as [`Step::Done`].
    pub fn start(mut self, source: &str, chunk_name: &str, context: &Value) -> Step {
        let limits = *self.host.meter.limits();
        if source.len() as u64 > limits.source_bytes {
            let error = LimitName::Source.exceeded(limits.source_bytes, source.len() as u64);
            return self.done(Err(error));
        }
        let name = printable_chunk_name(chunk_name);
        let _ = self.host.plan_name.set(name.clone());
        let memory_bytes = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX);
        if let Err(error) = self.lua.set_memory_limit(memory_bytes) {
            let error = Error::new(ErrorCode::Internal, "memory cannot be limited").with_source(error);
            return self.done(Err(error));
        }
        let chunk = match compiled::load(&self.lua, source, &name) {
            Ok(chunk) => chunk,
            Err(error) => {
                let error = self.host.syntax(&error);
                return self.done(Err(error));
            }
        };
        match self.prepare(&chunk, context) {
            Ok(thread) => {
                self.thread = Some(thread);
                self.run_until_pause(ARGUMENTS)
            }
            Err(error) => {
                let error = self.host.binding_error(&error);
                self.done(Err(error))
            }
        }
    }

    /// The main coroutine, with the chunk and the context on its stack.
    fn prepare(&self, chunk: &Function, context: &Value) -> mlua::Result<Thread> {
        self.watch.set_hook(&self.lua);
        let thread = self.lua.create_thread(self.main.clone())?;
        let main = Main::new(&self.lua, &thread);
        if let Some(codec) = self.host.codec.get()
            && !main.give(codec, chunk, context)?
        {
            main.give_value(&codec.write(&self.lua, context, None)?)?;
        }
        Ok(thread)
    }

    /// Resumes with `count` values on the stack of the main coroutine.
    fn run_until_pause(self, count: i32) -> Step {
        let Some(thread) = &self.thread else {
            return self.done(Err(Error::new(ErrorCode::Internal, "a VM went on before it began")));
        };
        if self.host.meter.check_alive().is_err() {
            let verdict = self.host.meter.verdict().map(|()| Value::Null);
            return self.done(verdict);
        }
        let main = Main::new(&self.lua, thread);
        let ended = main.resume(&self.watch, count);
        if ended == Ended::Slice {
            return Step::Slice(PausedSlice { vm: self });
        }
        match ended {
            Ended::Yielded(count) => self.pause(count),
            Ended::Returned(count) => {
                let result = self.result(main, count);
                self.done(result)
            }
            _ => {
                let reason = main.take_values(1).unwrap_or_default().pop().unwrap_or(LuaValue::Nil);
                let error = self.host.uncaught(&reason);
                self.done(Err(error))
            }
        }
    }

    /// Reads the signal of a pause: the mark, the kind of pause, and for a wait its details.
    fn pause(self, count: i32) -> Step {
        let Some(thread) = &self.thread else { return self.done(Ok(Value::Null)) };
        let main = Main::new(&self.lua, thread);
        match main.integer(count, 1).unwrap_or(0) {
            kind @ (SIGNAL_CALL | SIGNAL_BATCH) => {
                main.forget(count);
                let calls = lock(&self.host.calls).hand_out(kind == SIGNAL_BATCH);
                Step::Calls(PendingCalls { vm: self, calls })
            }
            SIGNAL_WAIT => {
                let number = |place| main.integer(count, place).unwrap_or(0);
                let (wait_ms, attempt, attempts_max) = (number(2), number(3), number(4));
                let message = match main.take_values(count).unwrap_or_default().get(5) {
                    Some(LuaValue::String(text)) => text.to_string_lossy(),
                    _ => String::new(),
                };
                Step::Wait(PausedWait {
                    wait: Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0)),
                    attempt: u32::try_from(attempt).unwrap_or(0),
                    attempts_max: u32::try_from(attempts_max).unwrap_or(0),
                    message,
                    vm: self,
                })
            }
            _ => self.done(Err(Error::new(ErrorCode::Internal, "the plan paused without a request"))),
        }
    }

    /// What the main coroutine returned: `true, "done", result`, `true, "no_run"` or `false, reason`.
    fn result(&self, main: Main<'_>, count: i32) -> Result<Value> {
        self.host.meter.verdict()?;
        if main.is_well(count, "no_run") {
            let message = "the plan defines no global function `run`";
            return Err(Error::new(ErrorCode::PlanNoRun, message));
        }
        let in_words = |error: mlua::Error| self.host.binding_error(&error);
        if !main.is_well(count, "done") {
            let values = main.take_values(count).map_err(in_words)?;
            return Err(self.host.uncaught(values.get(1).unwrap_or(&LuaValue::Nil)));
        }
        let codec = self.host.codec.get().ok_or_else(|| Error::new(ErrorCode::Internal, "no codec"))?;
        if codec.has_failures() {
            let records: Vec<Table> = self.unlooked.call(()).map_err(in_words)?;
            if !records.is_empty() {
                return Err(report::ignored(&records).unwrap_or_else(in_words));
            }
        }
        let value = match main.take(codec) {
            Some((value, cost)) => {
                let _ = self.host.meter.charge(cost);
                value
            }
            None => {
                let mut values = main.take_values(count).map_err(in_words)?;
                codec.read_result(&values.pop().unwrap_or(LuaValue::Nil))?
            }
        };
        self.host.meter.verdict()?;
        let limit = self.host.meter.limits().output_bytes;
        let size = json_bytes(&value);
        if size > limit { Err(LimitName::Output.exceeded(limit, size)) } else { Ok(value) }
    }

    /// Lives as long as what the VM holds outside Lua.
    #[cfg(test)]
    pub(crate) fn alive(&self) -> std::sync::Weak<dyn std::any::Any + Send + Sync> {
        let host: Arc<dyn std::any::Any + Send + Sync> = self.host.clone();
        Arc::downgrade(&host)
    }

    fn done(self, result: Result<Value>) -> Step {
        Step::Done(self.stop(result))
    }
}

impl Resume for Vm {
    fn answer(self, outcomes: Vec<CallOutcome>) -> Step {
        if !lock(&self.host.calls).answer(outcomes) {
            let error =
                Error::new(ErrorCode::Internal, "the number of answers differs from the number of calls");
            return self.done(Err(error));
        }
        self.resume()
    }

    fn resume(self) -> Step {
        self.run_until_pause(0)
    }

    fn usage(&self) -> VmUsage {
        self.host.meter.usage()
    }

    fn take_printed(&mut self) -> String {
        std::mem::take(&mut lock(&self.host.printed))
    }

    fn take_reports(&mut self) -> Vec<StepReport> {
        lock(&self.host.steps).take()
    }

    fn stop(mut self, result: Result<Value>) -> Stopped {
        let (printed, reports) = (self.take_printed(), self.take_reports());
        let stopped = Stopped { result, usage: self.usage(), printed, reports };
        if let Some(spent) = self.spent.take() {
            spent.leave(self);
        }
        stopped
    }
}

impl Machine for Vm {
    fn new(options: VmOptions) -> Result<Self> {
        Self::new(options)
    }

    fn numbering_calls_after(self, steps: u64) -> Self {
        self.numbering_calls_after(steps)
    }

    fn run_started_at(self, unix_seconds: Option<i64>) -> Self {
        self.run_started_at(unix_seconds)
    }

    fn start(self, source: &str, chunk_name: &str, context: &Value) -> Step {
        self.start(source, chunk_name, context)
    }
}
