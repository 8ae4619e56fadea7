//! The VM: made fresh for one run, driven from pause to pause, dropped.

use std::sync::Arc;
use std::time::Duration;

use mlua::chunk::ChunkMode;
use mlua::{Function, IntoLuaMulti, Lua, LuaOptions, MultiValue, StdLib, Table, Thread, Value as LuaValue};

use super::codec::{Codec, FailureParts};
use super::host::{Host, lock};
use super::json_size::json_bytes;
use super::meter::Meter;
use super::part::LuaPart;
use super::support::Support;
use super::{PausedSlice, PausedWait, PendingCalls, Step, Stopped, VmOptions, VmUsage, report, stdlib};
use crate::base::{CallOutcome, Error, ErrorCode, LimitName, Result, Value};

static MAIN: LuaPart = LuaPart::new("main", include_str!("../../lua/prelude/main.lua"));
static FAILURES: LuaPart = LuaPart::new("failures", include_str!("../../lua/prelude/failures.lua"));
static VALUES: LuaPart = LuaPart::new("values", include_str!("../../lua/prelude/values.lua"));
static CONTROL: LuaPart = LuaPart::new("control", include_str!("../../lua/prelude/control.lua"));
static TOOLS: LuaPart = LuaPart::new("tools", include_str!("../../lua/prelude/tools.lua"));
static LIBRARY: LuaPart = LuaPart::new("library", include_str!("../../lua/prelude/library.lua"));

/// What follows the signal of a pause, as `lua/prelude/tools.lua` writes it.
const SIGNAL_CALL: i64 = 1;
const SIGNAL_BATCH: i64 = 2;
const SIGNAL_WAIT: i64 = 3;

/// The longest chunk name Lua prints whole.
const CHUNK_NAME_BYTES_MAX: usize = 59;

/// An isolated Lua VM for one run.
pub struct Vm {
    lua: Lua,
    pub(super) host: Arc<Host>,
    main: Function,
    unlooked: Function,
    thread: Option<Thread>,
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
        meter.sample_memory(&vm.lua);
        Ok(vm)
    }

    fn build(host: &Arc<Host>, tools: Vec<String>) -> mlua::Result<Self> {
        let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::default())?;
        // Nearly all that is made here stays; looking for garbage meanwhile would be for nothing.
        lua.gc_stop();
        let functions = host.functions(&lua)?;
        let mark: Table = functions.raw_get("mark")?;
        let parts = (
            functions,
            FAILURES.load(&lua)?,
            VALUES.load(&lua)?,
            CONTROL.load(&lua)?,
            TOOLS.load(&lua)?,
            LIBRARY.load(&lua)?,
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
        let _ = host.codec.set(codec.clone());
        stdlib::install(&lua, &Support { meter: host.meter.clone(), codec })?;
        add_tools.call::<()>(tools)?;
        lua.gc_restart();
        Ok(Self { lua, host: host.clone(), main, unlooked, thread: None })
    }

    /// Numbers the calls after `steps` earlier ones of the same run, so that no two calls of a run
    /// share an id although several plans made them.
    #[must_use]
    pub fn numbering_calls_after(self, steps: u64) -> Self {
        lock(&self.host.calls).number_after(steps);
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
        let chunk =
            self.lua.load(source).set_name(format!("={name}")).set_mode(ChunkMode::Text).into_function();
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                let error = self.host.syntax(&error);
                return self.done(Err(error));
            }
        };
        match self.prepare(context) {
            Ok((thread, context)) => {
                self.host.meter.set_main_thread(&thread);
                self.thread = Some(thread);
                self.resume((chunk, context))
            }
            Err(error) => {
                let error = self.host.binding_error(&error);
                self.done(Err(error))
            }
        }
    }

    fn prepare(&self, context: &Value) -> mlua::Result<(Thread, LuaValue)> {
        self.host.meter.attach(&self.lua);
        let thread = self.lua.create_thread(self.main.clone())?;
        let context = match self.host.codec.get() {
            Some(codec) => codec.write(&self.lua, context, None)?,
            None => LuaValue::Nil,
        };
        Ok((thread, context))
    }

    pub(super) fn answer(self, outcomes: Vec<CallOutcome>) -> Step {
        if !lock(&self.host.calls).answer(outcomes) {
            let error =
                Error::new(ErrorCode::Internal, "the number of answers differs from the number of calls");
            return self.done(Err(error));
        }
        self.go_on()
    }

    pub(super) fn go_on(self) -> Step {
        self.resume(())
    }

    fn resume(self, values: impl IntoLuaMulti) -> Step {
        let Some(thread) = &self.thread else {
            return self.done(Err(Error::new(ErrorCode::Internal, "a VM went on before it began")));
        };
        if self.host.meter.check_alive().is_err() {
            let verdict = self.host.meter.verdict().map(|()| Value::Null);
            return self.done(verdict);
        }
        let _entered = self.host.meter.enter();
        self.host.meter.begin_slice();
        let resumed = thread.resume::<MultiValue>(values);
        let is_paused = thread.status() == mlua::thread::ThreadStatus::Resumable;
        self.host.meter.sample_memory(&self.lua);
        match resumed {
            Err(error) => {
                let error = self.host.binding_error(&error);
                self.done(Err(error))
            }
            Ok(values) if is_paused => self.pause(&values),
            Ok(values) => {
                let result = self.result(&values);
                self.done(result)
            }
        }
    }

    fn pause(self, signal: &MultiValue) -> Step {
        if signal.is_empty() && self.host.meter.take_sliced() {
            return Step::Slice(PausedSlice { vm: self });
        }
        let number = |place: usize| match signal.get(place) {
            Some(LuaValue::Integer(number)) => *number,
            _ => 0,
        };
        match number(1) {
            kind @ (SIGNAL_CALL | SIGNAL_BATCH) => {
                let calls = lock(&self.host.calls).hand_out(kind == SIGNAL_BATCH);
                Step::Calls(PendingCalls { vm: self, calls })
            }
            SIGNAL_WAIT => Step::Wait(PausedWait {
                wait: Duration::from_millis(u64::try_from(number(2)).unwrap_or(0)),
                attempt: u32::try_from(number(3)).unwrap_or(0),
                attempts_max: u32::try_from(number(4)).unwrap_or(0),
                message: match signal.get(5) {
                    Some(LuaValue::String(text)) => text.to_string_lossy(),
                    _ => String::new(),
                },
                vm: self,
            }),
            _ => self.done(Err(Error::new(ErrorCode::Internal, "the plan paused without a request"))),
        }
    }

    /// What the main coroutine returned: `true, "done", result`, `true, "no_run"` or `false, reason`.
    fn result(&self, values: &MultiValue) -> Result<Value> {
        self.host.meter.verdict()?;
        let at = |place: usize| values.get(place).unwrap_or(&LuaValue::Nil);
        if !matches!(at(0), LuaValue::Boolean(true)) {
            return Err(self.host.uncaught(at(1)));
        }
        if at(1).as_string().is_some_and(|outcome| outcome.as_bytes() == "no_run".as_bytes()) {
            let message = "the plan defines no global function `run`";
            return Err(Error::new(ErrorCode::PlanNoRun, message));
        }
        let records: Vec<Table> = self.unlooked.call(()).map_err(|error| self.host.binding_error(&error))?;
        if !records.is_empty() {
            return Err(report::ignored(&records).unwrap_or_else(|error| self.host.binding_error(&error)));
        }
        let codec = self.host.codec.get().ok_or_else(|| Error::new(ErrorCode::Internal, "no codec"))?;
        let value = codec.read_result(at(2))?;
        self.host.meter.verdict()?;
        let limit = self.host.meter.limits().output_bytes;
        let size = json_bytes(&value);
        if size > limit { Err(LimitName::Output.exceeded(limit, size)) } else { Ok(value) }
    }

    pub(super) fn usage(&self) -> VmUsage {
        self.host.meter.usage()
    }

    pub(super) fn take_printed(&self) -> String {
        std::mem::take(&mut lock(&self.host.printed))
    }

    fn done(self, result: Result<Value>) -> Step {
        Step::Done(self.stop(result))
    }

    pub(super) fn stop(self, result: Result<Value>) -> Stopped {
        Stopped { result, usage: self.usage(), printed: self.take_printed() }
    }
}

/// A name Lua prints whole, that cannot be taken for one of our own parts.
fn printable_chunk_name(name: &str) -> String {
    let mut clean: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    while clean.len() > CHUNK_NAME_BYTES_MAX {
        clean.pop();
    }
    if clean.is_empty() || clean.starts_with("luaplan:") || clean.starts_with('[') {
        "plan".to_owned()
    } else {
        clean
    }
}
