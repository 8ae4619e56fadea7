//! The functions that the prelude may call.

use std::rc::Rc;

use piccolo::compiler::FunctionRef;
use piccolo::{Callback, CallbackReturn, Context, Execution, Function, Stack, Table, UserData, Value};

use luaplan_base::{Error, ErrorCode, Value as Carried};

use super::callbacks::CallbackResult;
use super::fault::{self, Raised, RaisedKind};
use super::host::{Host, HostValues};
use super::values::{Null, give, lossy, text};
use super::{keys, natives, tables};
use crate::vm::calls::Ticket;
use crate::vm::failed_call::about_failed_call;
use crate::vm::meter::{Charge as _, Dead};
use crate::vm::steps::{Said, read};

type HostFunction =
    for<'gc> fn(&Rc<Host>, Context<'gc>, &Execution<'gc, '_>, Stack<'gc, '_>) -> CallbackResult<'gc>;

/// Natives that are the string library as they are. The prelude sets the rest.
const STRING_NATIVES: [&str; 15] = [
    "byte", "char", "len", "lower", "reverse", "sub", "upper", "format", "pack", "packsize", "unpack", "rep",
    "find", "match", "gsub",
];

impl Host {
    /// Sets the global `string`, and keeps the host's values.
    fn keep<'gc>(&self, ctx: Context<'gc>, natives: Table<'gc>) -> Result<(), Raised<'gc>> {
        let library = Table::new(&ctx);
        for name in STRING_NATIVES {
            library.set(ctx, name, natives.get(ctx, name))?;
        }
        ctx.set_global("string", library)?;
        ctx.set_global("tonumber", natives.get(ctx, "tonumber"))?;
        ctx.set_global("utf8", Table::new(&ctx))?;
        let metatable = Table::new(&ctx);
        metatable.set(ctx, "__index", library)?;
        let _ = self.kept.set(HostValues {
            mark: ctx.stash(Table::new(&ctx)),
            null: ctx.stash(UserData::new_static(&ctx, Null)),
            string_library: ctx.stash(library),
            string_metatable: ctx.stash(metatable),
        });
        Ok(())
    }

    /// The functions, each under the name the prelude uses.
    pub(super) fn functions<'gc>(self: &Rc<Self>, ctx: Context<'gc>) -> Result<Table<'gc>, Raised<'gc>> {
        let table = Table::new(&ctx);
        let natives = natives::table(ctx, self)?;
        self.keep(ctx, natives)?;
        tables::install(ctx, self, natives)?;
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
        add("report", Self::report)?;
        add("noting", Self::noting)?;
        add("ordered_keys", keys::ordered_keys)?;
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
                self.codes.borrow_mut().remember(&message, fault.0.code());
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

    /// A step came to another state. Gives the code of what kept it from being complete.
    fn report<'gc>(
        self: &Rc<Self>,
        ctx: Context<'gc>,
        _: &Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> CallbackResult<'gc> {
        let said = (0..stack.len()).map(|place| match stack.get(place) {
            text @ Value::String(_) => Said::Text(lossy(text)),
            Value::Integer(number) => Said::Number(number),
            _ => Said::Nothing,
        });
        let printed_bytes = self.printed.borrow().len();
        let report = read(said, printed_bytes, |message| self.codes.borrow().of(message));
        let code = report.code.as_deref().map_or(Value::Nil, |code| text(ctx, code));
        self.steps.borrow_mut().add(report, &self.meter).map_err(fault::dead)?;
        give(stack, code)
    }
}

fn amount(stack: &Stack<'_, '_>) -> u64 {
    match stack.get(0) {
        Value::Integer(amount) => u64::try_from(amount).unwrap_or(0),
        Value::Number(amount) => amount as u64,
        _ => 0,
    }
}
