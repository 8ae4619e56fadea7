//! The natives as functions of the VM.

use std::rc::Rc;

use piccolo::{Callback, CallbackReturn, Context, Table, Value};

use super::fault::{self, Raised};
use super::host::Host;
use super::values::{text, to_arg};
use crate::lua_std::{Arg, Item, NATIVES, Native, NativeCall};

/// A table with every native under its name.
pub(super) fn table<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Result<Table<'gc>, Raised<'gc>> {
    let table = Table::new(&ctx);
    for native in NATIVES.iter().flat_map(|natives| natives.iter()) {
        table.set(ctx, native.name, function(ctx, host, native))?;
    }
    Ok(table)
}

fn function<'gc>(ctx: Context<'gc>, host: &Rc<Host>, native: &'static Native) -> Value<'gc> {
    let host = host.clone();
    Callback::from_fn(&ctx, move |ctx, mut exec, mut stack| {
        let values: Vec<Value<'gc>> = stack.into_iter().collect();
        let args: Vec<Arg<'gc>> = values.iter().map(|value| to_arg(*value)).collect();
        let mut out = host.out.borrow_mut();
        out.clear();
        let mut call = NativeCall { args: &args, meter: &*host, out: &mut out };
        if let Err(error) = (native.run)(&mut call) {
            return Err(fault::of_native(&host, ctx, &exec, native.name, error));
        }
        stack.clear();
        for item in out.items() {
            stack.push_back(match *item {
                Item::Nil => Value::Nil,
                Item::Boolean(value) => Value::Boolean(value),
                Item::Integer(value) => Value::Integer(value),
                Item::Number(value) => Value::Number(value),
                Item::Text { from, to } => text(ctx, out.bytes().get(from..to).unwrap_or_default()),
                Item::Arg(place) => values.get(place).copied().unwrap_or(Value::Nil),
                Item::Slice { arg, from, to } => match args.get(arg) {
                    Some(Arg::Text(whole)) => text(ctx, whole.get(from..to).unwrap_or_default()),
                    _ => Value::Nil,
                },
            });
        }
        host.pause_if_full(&mut exec);
        Ok(CallbackReturn::Return)
    })
    .into()
}
