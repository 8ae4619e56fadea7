//! The VM: made fresh for one run, driven from pause to pause, dropped.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use piccolo::{
    Context, Executor, ExecutorMode, Lua, StashedExecutor, StashedFunction, StashedTable, StashedThread,
    Table, Thread, Value, Variadic,
};

use luaplan_base::{CallOutcome, Error, ErrorCode, LimitName, Result, StepReport, Value as Carried};

use super::engine::{Engine, SOURCE_BYTES_MAX, broken};
use super::fault::Raised;
use super::host::{Failures, Host};
use super::parts;
use super::rewrite::{self, HELPERS, Rewritten};
use super::values::lossy;
use super::{concat, coroutines, cycles, globals, library, maths, members, operators, order, report};
use crate::vm::json_size::json_bytes;
use crate::vm::lua_chunk::{
    CONTROL, FAILURES, LIBRARY, LuaPart, MAIN, PATTERNS, STEPS, TABLES, TOOLS, VALUES, printable_chunk_name,
};
use crate::vm::machine::{Machine, Resume};
use crate::vm::meter::Meter;
use crate::{PausedSlice, PausedWait, PendingCalls, Step, Stopped, VmOptions, VmUsage};

/// The prelude's parts, in the order in which `MAIN` takes them.
static PARTS: [&LuaPart; 8] = [&FAILURES, &VALUES, &CONTROL, &TOOLS, &LIBRARY, &TABLES, &PATTERNS, &STEPS];

/// What follows the signal of a pause, as `lua/prelude/tools.lua` writes it.
const SIGNAL_CALL: i64 = 1;
const SIGNAL_BATCH: i64 = 2;
const SIGNAL_WAIT: i64 = 3;

/// An isolated VM on piccolo, for one run. Not `Send`: it lives in a worker.
pub struct PiccoloVm {
    pub(super) engine: Engine,
    pub(super) host: Rc<Host>,
    main: StashedFunction,
    unlooked: StashedFunction,
    running: Option<Running>,
    /// Whether the plan has yielded and waits to be resumed.
    is_waiting: bool,
}

/// The running plan.
#[derive(Clone)]
pub(super) struct Running {
    pub(super) executor: StashedExecutor,
    pub(super) thread: StashedThread,
}

/// How a plan has stopped.
enum PlanStop {
    /// Signal, and what follows it.
    Paused(Vec<i64>, String),
    NoRun,
    Failed(Error),
    /// The result, at index 1.
    Done(StashedTable),
}

impl std::fmt::Debug for PiccoloVm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PiccoloVm").field("usage", &self.host.meter.usage()).finish_non_exhaustive()
    }
}

fn install<'gc>(
    ctx: Context<'gc>,
    host: &Rc<Host>,
) -> std::result::Result<(Table<'gc>, Table<'gc>), Raised<'gc>> {
    globals::install(ctx, host)?;
    coroutines::install(ctx, host)?;
    maths::install(ctx, host)?;
    cycles::install(host);
    let helpers = Table::new(&ctx);
    for (place, name) in HELPERS.iter().enumerate() {
        let helper = operators::helper(ctx, host, name)
            .or_else(|| order::helper(ctx, host, name))
            .or_else(|| members::helper(ctx, host, name))
            .unwrap_or_else(|| concat::helper(ctx, host));
        helpers.set(ctx, place as i64 + 1, helper)?;
    }
    Ok((host.functions(ctx)?, helpers))
}

impl PiccoloVm {
    fn build(options: VmOptions) -> Result<Self> {
        let VmOptions { limits, tools, interrupt, slice_instructions } = options;
        let meter = Arc::new(Meter::new(limits, interrupt, slice_instructions));
        // An interrupt reaches our own parts too, and is then why there is no VM.
        Self::build_with(&meter, tools).map_err(|error| meter.verdict().err().unwrap_or(error))
    }

    fn build_with(meter: &Arc<Meter>, tools: Vec<String>) -> Result<Self> {
        let mut lua = Lua::empty();
        let host = Rc::new(Host::new(Arc::clone(meter), lua.gc_metrics().clone()));
        let installed = lua.try_enter(|ctx| {
            let (functions, helpers) = install(ctx, &host)?;
            Ok((ctx.stash(functions), ctx.stash(helpers)))
        });
        let (functions, helpers) =
            installed.map_err(|error| broken("the VM could not be made").with_source(error))?;
        let mut engine = Engine { lua, helpers };
        let mut loaded = Vec::with_capacity(PARTS.len());
        for part in PARTS {
            loaded.push(parts::load(part, &mut engine)?);
        }
        let chunk = parts::load(&MAIN, &mut engine)?;
        let (failures, create, unlooked, main, add_tools) = engine.run(
            |ctx| {
                let mut arguments: Vec<Value<'_>> = vec![ctx.fetch(&functions).into()];
                arguments.extend(loaded.iter().map(|part| Value::Function(ctx.fetch(part))));
                Executor::start(ctx, ctx.fetch(&chunk), Variadic(arguments))
            },
            |ctx, values| match values.as_slice() {
                [
                    Value::Table(metatable),
                    Value::Table(records),
                    Value::Function(create),
                    Value::Function(unlooked),
                    Value::Function(main),
                    Value::Function(add_tools),
                ] => Ok((
                    Failures { metatable: ctx.stash(*metatable), records: ctx.stash(*records) },
                    ctx.stash(*create),
                    ctx.stash(*unlooked),
                    ctx.stash(*main),
                    ctx.stash(*add_tools),
                )),
                _ => Err(broken("the prelude gave something else")),
            },
        )?;
        let _ = host.failures.set(failures);
        let _ = host.create.set(create);
        library::install(&mut engine, &host)?;
        engine.run(
            move |ctx| {
                let names = Table::new(&ctx);
                for (place, name) in tools.iter().enumerate() {
                    // A new table takes any integer key.
                    let _ = names.set(ctx, place as i64 + 1, super::values::text(ctx, name));
                }
                Executor::start(ctx, ctx.fetch(&add_tools), names)
            },
            |_, _| Ok(()),
        )?;
        let used = engine.lua.total_memory() as u64;
        if used > meter.limits().memory_bytes {
            return Err(LimitName::Memory.exceeded(meter.limits().memory_bytes, used));
        }
        host.meter.sample_memory(used);
        Ok(Self { engine, host, main, unlooked, running: None, is_waiting: false })
    }

    fn prepare(&mut self, source: &str, context: &Carried) -> Result<()> {
        let limits = *self.host.meter.limits();
        let most = limits.source_bytes.min(SOURCE_BYTES_MAX);
        if source.len() as u64 > most {
            return Err(LimitName::Source.exceeded(most, source.len() as u64));
        }
        let Rewritten { text: rewritten, globals } = rewrite::rewrite_plan(source).map_err(parts::refused)?;
        self.host.keys.globals.set(globals);
        self.engine.lua.enter(|ctx| {
            // The engine sets globals by their names itself, and must find a place for each.
            ctx.globals().into_inner().borrow_mut(&ctx).raw_table.reserve_map(globals + 1);
        });
        let name = self.host.plan_name().to_owned();
        let chunk = self.engine.load(&name, &rewritten)?;
        let (host, main) = (self.host.clone(), self.main.clone());
        self.running = Some(self.engine.lua.enter(|ctx| {
            let context =
                host.codec.write_plain(&host, ctx, context).map_err(|error| host.uncaught(ctx, &error))?;
            let thread = Thread::new(ctx);
            let chunk = Value::Function(ctx.fetch(&chunk));
            thread
                .start(ctx, ctx.fetch(&main), (chunk, context))
                .map_err(|error| broken("a new coroutine is not new").with_source(error))?;
            let executor = ctx.stash(Executor::run(&ctx, thread));
            Ok::<_, Error>(Running { executor, thread: ctx.stash(thread) })
        })?);
        Ok(())
    }

    fn run_until_pause(mut self) -> Step<Self> {
        let Some(running) = self.running.clone() else {
            return self.done(Err(broken("a VM went on before it began")));
        };
        if self.host.meter.check_alive().is_err() {
            return self.dead();
        }
        if std::mem::take(&mut self.is_waiting) {
            let resumed = self.engine.lua.enter(|ctx| ctx.fetch(&running.executor).resume(ctx, ()));
            if let Err(error) = resumed {
                return self.done(Err(broken("the plan does not wait").with_source(error)));
            }
        }
        self.host.meter.begin_slice();
        loop {
            let has_stopped = self.burst(&running);
            if self.host.meter.is_dead() {
                return self.dead();
            }
            if has_stopped {
                return self.after_stop(&running);
            }
            if self.host.meter.is_slice_over() {
                return Step::Slice(PausedSlice { vm: self });
            }
        }
    }

    fn dead(self) -> Step<Self> {
        let verdict = self.host.meter.verdict().map(|()| Carried::Null);
        self.done(verdict)
    }

    fn after_stop(mut self, running: &Running) -> Step<Self> {
        match self.stop_of(running) {
            PlanStop::Paused(signal, message) => self.pause(&signal, message),
            PlanStop::Failed(error) => self.done(Err(error)),
            PlanStop::NoRun => {
                let message = "the plan defines no global function `run`";
                self.done(Err(Error::new(ErrorCode::PlanNoRun, message)))
            }
            PlanStop::Done(holder) => {
                let result = self.result(&holder);
                self.done(result)
            }
        }
    }

    fn stop_of(&mut self, running: &Running) -> PlanStop {
        let host = self.host.clone();
        self.engine.lua.enter(|ctx| {
            let executor = ctx.fetch(&running.executor);
            let values = match executor.take_result::<Variadic<Vec<Value<'_>>>>(ctx) {
                Ok(Ok(values)) => values.0,
                Ok(Err(error)) => return PlanStop::Failed(host.uncaught(ctx, &error)),
                Err(error) => return PlanStop::Failed(broken("the plan gave nothing").with_source(error)),
            };
            let at = |place: usize| values.get(place).copied().unwrap_or(Value::Nil);
            if executor.mode() == ExecutorMode::Suspended {
                let numbers =
                    values.iter().map(|value| if let Value::Integer(number) = value { *number } else { 0 });
                return PlanStop::Paused(numbers.collect(), lossy(at(5)));
            }
            if !at(0).to_bool() {
                return PlanStop::Failed(host.uncaught(ctx, &Raised::from_value(at(1))));
            }
            if lossy(at(1)) == "no_run" {
                return PlanStop::NoRun;
            }
            let holder = Table::new(&ctx);
            // A new table takes any integer key.
            let _ = holder.set(ctx, 1, at(2));
            PlanStop::Done(ctx.stash(holder))
        })
    }

    fn pause(mut self, signal: &[i64], message: String) -> Step<Self> {
        self.is_waiting = true;
        let number = |place: usize| signal.get(place).copied().unwrap_or(0);
        match number(1) {
            kind @ (SIGNAL_CALL | SIGNAL_BATCH) => {
                let calls = self.host.calls.borrow_mut().hand_out(kind == SIGNAL_BATCH);
                Step::Calls(PendingCalls { vm: self, calls })
            }
            SIGNAL_WAIT => Step::Wait(PausedWait {
                wait: Duration::from_millis(u64::try_from(number(2)).unwrap_or(0)),
                attempt: u32::try_from(number(3)).unwrap_or(0),
                attempts_max: u32::try_from(number(4)).unwrap_or(0),
                message,
                vm: self,
            }),
            _ => self.done(Err(broken("the plan paused without a request"))),
        }
    }

    fn result(&mut self, holder: &StashedTable) -> Result<Carried> {
        let unlooked = self.unlooked.clone();
        let ignored = self.engine.run(
            |ctx| Executor::start(ctx, ctx.fetch(&unlooked), ()),
            |ctx, values| match values.first() {
                Some(Value::Table(records)) => Ok(report::ignored(ctx, *records)),
                _ => Ok(None),
            },
        )?;
        if let Some(error) = ignored {
            return Err(error);
        }
        let host = self.host.clone();
        let value =
            self.engine.lua.enter(|ctx| host.codec.read_result(&host, ctx, ctx.fetch(holder).get(ctx, 1)))?;
        host.meter.verdict()?;
        let limit = host.meter.limits().output_bytes;
        let size = json_bytes(&value);
        if size > limit { Err(LimitName::Output.exceeded(limit, size)) } else { Ok(value) }
    }

    fn done(self, result: Result<Carried>) -> Step<Self> {
        Step::Done(self.stop(result))
    }
}

impl Resume for PiccoloVm {
    fn answer(self, outcomes: Vec<CallOutcome>) -> Step<Self> {
        if !self.host.calls.borrow_mut().answer(outcomes) {
            return self.done(Err(broken("the number of answers differs from the number of calls")));
        }
        self.run_until_pause()
    }

    fn resume(self) -> Step<Self> {
        self.run_until_pause()
    }

    fn usage(&self) -> VmUsage {
        self.host.meter.usage()
    }

    fn take_printed(&mut self) -> String {
        std::mem::take(&mut *self.host.printed.borrow_mut())
    }

    fn take_reports(&mut self) -> Vec<StepReport> {
        self.host.steps.borrow_mut().take()
    }

    fn stop(mut self, result: Result<Carried>) -> Stopped {
        let (printed, reports) = (self.take_printed(), self.take_reports());
        Stopped { result, usage: self.usage(), printed, reports }
    }
}

impl Machine for PiccoloVm {
    fn new(options: VmOptions) -> Result<Self> {
        Self::build(options)
    }

    fn numbering_calls_after(self, steps: u64) -> Self {
        self.host.calls.borrow_mut().number_after(steps);
        self
    }

    fn run_started_at(self, unix_seconds: Option<i64>) -> Self {
        self.host.run_started_s.set(unix_seconds);
        self
    }

    fn start(mut self, source: &str, chunk_name: &str, context: &Carried) -> Step<Self> {
        self.host.set_plan_name(printable_chunk_name(chunk_name));
        match self.prepare(source, context) {
            Ok(()) => self.run_until_pause(),
            Err(error) => self.done(Err(error)),
        }
    }
}
