//! The host's state of a VM.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Weak;
use std::sync::Arc;

use gc_arena::metrics::Metrics;
use piccolo::{
    Context, Execution, StashedFunction, StashedTable, StashedThread, StashedUserData, Table, Value,
};

use super::codec::Codec;
use crate::lua_std::Out;
use crate::vm::calls::Calls;
use crate::vm::caught_codes::CaughtCodes;
use crate::vm::meter::{Charge, Dead, Meter};
use crate::vm::steps::Steps;

/// Values of the VM that the host keeps.
pub(super) struct HostValues {
    /// At index 1 of each shape's metatable; no plan holds it.
    pub(super) mark: StashedTable,
    pub(super) null: StashedUserData,
    pub(super) string_library: StashedTable,
    pub(super) string_metatable: StashedTable,
}

/// What the prelude gives back about strict error values.
pub(super) struct Failures {
    /// The metatable every strict error value has.
    pub(super) metatable: StashedTable,
    /// From strict error value to its record.
    pub(super) records: StashedTable,
}

/// The state of keys of one VM.
#[derive(Default)]
pub(super) struct Keys {
    /// How many keys were set.
    pub(super) set: Cell<u64>,
    /// The numbers of tables, functions and coroutines that have been keys, in the order in which they were.
    pub(super) numbers: OnceCell<StashedTable>,
    /// How many globals the plan's source names at most.
    pub(super) globals: Cell<usize>,
    /// The host itself, for what is made while a key is set.
    pub(super) host: OnceCell<Weak<Host>>,
}

/// The host's state of a VM.
pub(super) struct Host {
    pub(super) meter: Arc<Meter>,
    pub(super) codec: Codec,
    pub(super) calls: RefCell<Calls>,
    pub(super) printed: RefCell<String>,
    pub(super) steps: RefCell<Steps>,
    /// The results of the current native.
    pub(super) out: RefCell<Out>,
    pub(super) kept: OnceCell<HostValues>,
    pub(super) failures: OnceCell<Failures>,
    pub(super) create: OnceCell<StashedFunction>,
    /// The coroutines under way, innermost last, without the plan's first.
    pub(super) active: RefCell<Vec<StashedThread>>,
    pub(super) keys: Keys,
    plan_name: OnceCell<String>,
    /// When the run started, in Unix seconds.
    pub(super) run_started_s: Cell<Option<i64>>,
    pub(super) codes: RefCell<CaughtCodes>,
    /// The plan's line of the last call.
    pub(super) line: Cell<Option<u32>>,
    metrics: Metrics,
}

impl Host {
    pub(super) fn new(meter: Arc<Meter>, metrics: Metrics) -> Self {
        let calls = Calls::default();
        Self {
            codec: Codec::new(meter.clone(), calls.held()),
            meter,
            calls: RefCell::new(calls),
            printed: RefCell::default(),
            steps: RefCell::default(),
            out: RefCell::default(),
            kept: OnceCell::new(),
            failures: OnceCell::new(),
            create: OnceCell::new(),
            active: RefCell::default(),
            keys: Keys::default(),
            plan_name: OnceCell::new(),
            run_started_s: Cell::new(None),
            codes: RefCell::default(),
            line: Cell::new(None),
            metrics,
        }
    }

    pub(super) fn plan_name(&self) -> &str {
        self.plan_name.get().map_or("plan", String::as_str)
    }

    pub(super) fn set_plan_name(&self, name: String) {
        let _ = self.plan_name.set(name);
    }

    /// The plan's line that made this call; none where something else did.
    pub(super) fn line_of_caller(&self, exec: &Execution<'_, '_>) -> Option<u32> {
        let frame = exec.upper_lua_frame()?;
        let is_plan = frame.chunk_name.as_bytes() == self.plan_name().as_bytes();
        is_plan.then(|| u32::try_from(frame.current_line.0).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// Remembers the plan's line that made this call.
    pub(super) fn note_line(&self, exec: &Execution<'_, '_>) {
        self.line.set(self.line_of_caller(exec));
    }

    /// Bytes the VM holds, garbage included.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.metrics.total_allocation() as u64
    }

    /// Makes the engine check its memory before the plan continues, where it holds too much.
    pub(super) fn pause_if_full(&self, exec: &mut Execution<'_, '_>) {
        if self.memory_bytes() > self.meter.limits().memory_bytes || self.meter.is_dead() {
            exec.fuel().interrupt();
        }
    }

    pub(super) fn string_library<'gc>(&self, ctx: Context<'gc>) -> Table<'gc> {
        self.kept.get().map_or_else(|| Table::new(&ctx), |kept| ctx.fetch(&kept.string_library))
    }

    pub(super) fn string_metatable<'gc>(&self, ctx: Context<'gc>) -> Table<'gc> {
        self.kept.get().map_or_else(|| Table::new(&ctx), |kept| ctx.fetch(&kept.string_metatable))
    }

    pub(super) fn null<'gc>(&self, ctx: Context<'gc>) -> Value<'gc> {
        self.kept.get().map_or(Value::Nil, |kept| Value::UserData(ctx.fetch(&kept.null)))
    }

    /// Whether a table is a strict error value.
    pub(super) fn is_failure<'gc>(&self, ctx: Context<'gc>, table: Table<'gc>) -> bool {
        match (table.metatable(), self.failures.get()) {
            (Some(metatable), Some(failures)) => ctx.fetch(&failures.metatable) == metatable,
            _ => false,
        }
    }

    /// What the prelude knows of a strict error value.
    pub(super) fn record_of<'gc>(&self, ctx: Context<'gc>, failure: Table<'gc>) -> Option<Table<'gc>> {
        match ctx.fetch(&self.failures.get()?.records).get(ctx, failure) {
            Value::Table(record) => Some(record),
            _ => None,
        }
    }
}

impl Charge for Host {
    fn charge(&self, instructions: u64) -> Result<(), Dead> {
        self.meter.charge(instructions)
    }

    /// One result at a time may exceed the limit until the engine checks its memory, so that garbage does
    /// not count: the VM never holds more than twice the limit.
    fn reserve(&self, bytes: u64) -> Result<(), Dead> {
        let limit = self.meter.limits().memory_bytes;
        let held = self.memory_bytes();
        if held > limit.saturating_add(limit / 2) {
            return Err(self.meter.refuse_allocation(held.saturating_add(bytes)));
        }
        Charge::reserve(&*self.meter, bytes)
    }
}
