//! The functions that the prelude may call, and the host's state of a VM.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use gc_arena::metrics::Metrics;
use piccolo::compiler::FunctionRef;
use piccolo::{
    Callback, CallbackReturn, Context, Execution, Function, Stack, StashedFunction, StashedTable,
    StashedThread, StashedUserData, Table, UserData, Value,
};

use luaplan_base::{Error, ErrorCode, Value as Carried};

use super::codec::Codec;
use super::fault::{self, Raised, RaisedKind};
use super::store::Keys;
use super::values::{Null, give, text};
use crate::lua_std::{Charge, Out};
use crate::vm::calls::{Calls, Ticket};
use crate::vm::failed_call::about_failed_call;
use crate::vm::meter::{Dead, Meter};

/// Codes of caught messages are kept for so many messages, each of at most so many bytes.
const CODES_MAX: usize = 1_000;
const CODE_TEXT_BYTES_MAX: usize = 2_048;

/// Values of the VM that the host keeps.
pub(super) struct Kept {
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

/// The host's state of a VM.
pub(super) struct Host {
    pub(super) meter: Arc<Meter>,
    pub(super) codec: Codec,
    pub(super) calls: RefCell<Calls>,
    pub(super) printed: RefCell<String>,
    /// The results of the current native.
    pub(super) out: RefCell<Out>,
    pub(super) kept: OnceCell<Kept>,
    pub(super) failures: OnceCell<Failures>,
    pub(super) create: OnceCell<StashedFunction>,
    /// The coroutines under way, innermost last, without the plan's first.
    pub(super) active: RefCell<Vec<StashedThread>>,
    pub(super) keys: Keys,
    plan_name: OnceCell<String>,
    /// Codes of errors that a plan caught as text and may raise again.
    codes: RefCell<HashMap<String, ErrorCode>>,
    /// The plan's line of the last call.
    line: Cell<Option<u32>>,
    metrics: Metrics,
}

type CallbackResult<'gc> = Result<CallbackReturn<'gc>, Raised<'gc>>;

impl Host {
    pub(super) fn new(meter: Arc<Meter>, metrics: Metrics) -> Self {
        let calls = Calls::default();
        Self {
            codec: Codec::new(meter.clone(), calls.held()),
            meter,
            calls: RefCell::new(calls),
            printed: RefCell::default(),
            out: RefCell::default(),
            kept: OnceCell::new(),
            failures: OnceCell::new(),
            create: OnceCell::new(),
            active: RefCell::default(),
            keys: Keys::default(),
            plan_name: OnceCell::new(),
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

    /// Sets the global `string`, and keeps the host's values.
    pub(super) fn keep<'gc>(&self, ctx: Context<'gc>, natives: Table<'gc>) -> Result<(), Raised<'gc>> {
        let library = Table::new(&ctx);
        for name in STRING_NATIVES {
            library.set(ctx, name, natives.get(ctx, name))?;
        }
        ctx.set_global("string", library)?;
        ctx.set_global("tonumber", natives.get(ctx, "tonumber"))?;
        ctx.set_global("utf8", Table::new(&ctx))?;
        let metatable = Table::new(&ctx);
        metatable.set(ctx, "__index", library)?;
        let _ = self.kept.set(Kept {
            mark: ctx.stash(Table::new(&ctx)),
            null: ctx.stash(UserData::new_static(&ctx, Null)),
            string_library: ctx.stash(library),
            string_metatable: ctx.stash(metatable),
        });
        Ok(())
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

    /// The functions, each under the name the prelude uses.
    pub(super) fn functions<'gc>(self: &Rc<Self>, ctx: Context<'gc>) -> Result<Table<'gc>, Raised<'gc>> {
        let table = Table::new(&ctx);
        let natives = super::natives::table(ctx, self)?;
        self.keep(ctx, natives)?;
        super::tables::install(ctx, self, natives)?;
        table.set(ctx, "native", natives)?;
        if let Some(kept) = self.kept.get() {
            table.set(ctx, "mark", ctx.fetch(&kept.mark))?;
            table.set(ctx, "null", ctx.fetch(&kept.null))?;
        }
        let add = |name: &'static str, run: HostFunction| {
            let host = self.clone();
            let callback = Callback::from_fn(&ctx, move |ctx, exec, stack| run(&host, ctx, &exec, stack));
            table.set(ctx, name, callback).map(|_| ())
        };
        add("request", Self::request)?;
        add("take", Self::take)?;
        add("caught", Self::caught)?;
        add("unwound", |_, _, _, _| Ok(CallbackReturn::Return))?;
        add("emit", Self::emit)?;
        add("charge", |host, _, _, stack| {
            host.charge(amount(&stack)).map_err(fault::dead)?;
            give(stack, Value::Nil)
        })?;
        add("reserve", |host, _, _, stack| {
            host.reserve(amount(&stack)).map_err(fault::dead)?;
            give(stack, Value::Nil)
        })?;
        add("raise", |_, _, _, stack| {
            let code = lossy(stack.get(0)).parse().unwrap_or(ErrorCode::PlanError);
            let call = (!stack.get(2).is_nil()).then(|| lossy(stack.get(2)));
            Err(fault::raise(about_failed_call(Error::new(code, lossy(stack.get(1))), call)))
        })?;
        add("line_of", |_, _, _, stack| {
            let line = match stack.get(0) {
                Value::Function(Function::Closure(closure)) => match closure.prototype().reference {
                    FunctionRef::Named(_, line) | FunctionRef::Expression(line) => line.0 as i64 + 1,
                    FunctionRef::Chunk => 0,
                },
                _ => 0,
            };
            give(stack, Value::Integer(line))
        })?;
        add("noting", Self::noting)?;
        add("ordered_keys", super::keys::ordered_keys)?;
        Ok(table)
    }

    /// Gives a function that remembers the line it is called from, and then calls the given one.
    fn noting<'gc>(
        self: &Rc<Self>,
        ctx: Context<'gc>,
        _: &Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> CallbackResult<'gc> {
        let Value::Function(function) = stack.get(0) else { return Ok(CallbackReturn::Return) };
        let host = self.clone();
        let noting = Callback::from_fn_with(&ctx, function, move |function, _, exec, _| {
            host.note_line(&exec);
            Ok(CallbackReturn::Call { function: *function, then: None })
        });
        give(stack, noting.into())
    }

    fn request<'gc>(
        self: &Rc<Self>,
        ctx: Context<'gc>,
        _: &Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> CallbackResult<'gc> {
        self.meter.count_call().map_err(fault::dead)?;
        self.meter.sample_memory(self.memory_bytes());
        let fallback_line = match stack.pop_front() {
            Value::Integer(line) => u32::try_from(line).ok(),
            _ => None,
        };
        let tool = lossy(stack.pop_front());
        let wanted: Vec<Value<'gc>> = stack.drain(..).collect();
        let mut arguments = Vec::with_capacity(wanted.len());
        for (place, argument) in wanted.iter().enumerate() {
            let name =
                if wanted.len() == 1 { tool.clone() } else { format!("{tool} argument {}", place + 1) };
            arguments.push(self.codec.read_argument(self, ctx, &name, *argument)?);
        }
        // Left out at the end is the same as nil at the end.
        while arguments.last() == Some(&Carried::Null) {
            arguments.pop();
        }
        let line = self.line.take().or(fallback_line);
        let ticket = self.calls.borrow_mut().want(tool, arguments, line);
        give(stack, Value::Integer(ticket))
    }

    fn take<'gc>(
        self: &Rc<Self>,
        ctx: Context<'gc>,
        exec: &Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> CallbackResult<'gc> {
        self.meter.check_alive().map_err(fault::dead)?;
        let ticket: Ticket = match stack.get(0) {
            Value::Integer(ticket) => ticket,
            _ => 0,
        };
        let _ = exec;
        let Some((origin, outcome)) = self.calls.borrow_mut().take(ticket) else {
            return Err(fault::raise_coded(ErrorCode::Internal, "a call came back without its answer"));
        };
        let value = match outcome {
            Ok(value) => value,
            Err(failure) => Carried::Failure(Box::new(failure)),
        };
        let written = self.codec.write(self, ctx, &value, Some(&origin))?;
        match self.create.get() {
            Some(create) => written.finish(ctx, ctx.fetch(create), stack),
            None => give(stack, Value::Nil),
        }
    }

    /// Keeps the code of a caught message, in case the plan raises it again. The memory for this is
    /// bounded: an error with a forgotten code becomes a `plan_error`.
    fn remember_code(&self, text: &str, code: ErrorCode) {
        let mut codes = self.codes.borrow_mut();
        if text.len() <= CODE_TEXT_BYTES_MAX && codes.len() < CODES_MAX {
            codes.insert(text.to_owned(), code);
        }
    }

    /// A coded error that a plan caught as text keeps its code when raised again.
    pub(super) fn remembered_code(&self, message: &str) -> Option<ErrorCode> {
        let codes = self.codes.borrow();
        codes.iter().find(|(known, _)| message.ends_with(known.as_str())).map(|(_, code)| *code)
    }

    /// The value that the plan sees for a raised error: never the end of the run.
    fn caught<'gc>(
        self: &Rc<Self>,
        ctx: Context<'gc>,
        _: &Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> CallbackResult<'gc> {
        self.meter.check_alive().map_err(fault::dead)?;
        let reason = stack.get(0);
        let seen = match fault::kind(&Raised::from_value(reason)) {
            RaisedKind::Dead => return Err(fault::dead(Dead)),
            RaisedKind::Value(value) => value,
            RaisedKind::Text(message) => text(ctx, message),
            RaisedKind::CodedError(fault) => {
                let message = fault.to_string();
                self.remember_code(&message, fault.0.code());
                match fault.1 {
                    Some(line) => text(ctx, format!("{}:{line}: {message}", self.plan_name())),
                    None => text(ctx, message),
                }
            }
        };
        give(stack, seen)
    }

    fn emit<'gc>(
        self: &Rc<Self>,
        _: Context<'gc>,
        _: &Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> CallbackResult<'gc> {
        let text = lossy(stack.get(0));
        self.meter.count_printed(text.len()).map_err(fault::dead)?;
        self.printed.borrow_mut().push_str(&text);
        give(stack, Value::Nil)
    }
}

type HostFunction =
    for<'gc> fn(&Rc<Host>, Context<'gc>, &Execution<'gc, '_>, Stack<'gc, '_>) -> CallbackResult<'gc>;

/// Natives that are the string library as they are. The prelude sets the rest.
const STRING_NATIVES: [&str; 15] = [
    "byte", "char", "len", "lower", "reverse", "sub", "upper", "format", "pack", "packsize", "unpack", "rep",
    "find", "match", "gsub",
];

fn amount(stack: &Stack<'_, '_>) -> u64 {
    match stack.get(0) {
        Value::Integer(amount) => u64::try_from(amount).unwrap_or(0),
        Value::Number(amount) => amount as u64,
        _ => 0,
    }
}

/// Text of a value that is text.
pub(super) fn lossy(value: Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_str_lossy().into_owned(),
        _ => String::new(),
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
