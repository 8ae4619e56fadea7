//! From [`Value`](luaplan_base::Value) to the VM.

use std::collections::VecDeque;

use gc_arena::Collect;
use indexmap::IndexMap;
use piccolo::{Context, Table, Value};

use luaplan_base::{Error, ErrorCode, ToolFailure, Value as Carried};

use super::Codec;
use crate::piccolo::fault;
use crate::piccolo::fault::Raised;
use crate::piccolo::host::Host;
use crate::piccolo::values::text;
use crate::vm::calls::CallOrigin;
use crate::vm::meter::BYTES_PER_INSTRUCTION;
use crate::vm::reading::{VALUE_DEPTH_MAX, VALUE_NODES_MAX};

/// The most bytes of a node in the VM, to refuse a value that cannot fit before making it.
const NODE_BYTES: u64 = 64;

struct Writer<'gc, 'a> {
    codec: &'a Codec,
    host: &'a Host,
    ctx: Context<'gc>,
    origin: Option<&'a CallOrigin>,
    nodes: u64,
    bytes: u64,
    failures: VecDeque<ToMake<'gc>>,
}

/// A value of the VM, at index 1 of a table, with the failures that are still to be put into it.
pub(in crate::piccolo) struct Written<'gc> {
    pub(super) holder: Table<'gc>,
    pub(super) failures: VecDeque<ToMake<'gc>>,
}

/// Where a strict error value goes, and what the prelude makes it from.
#[derive(Collect)]
#[collect(no_drop)]
pub(super) struct ToMake<'gc> {
    pub(super) table: Table<'gc>,
    pub(super) key: Value<'gc>,
    pub(super) arguments: Vec<Value<'gc>>,
}

impl Codec {
    fn writer<'gc, 'a>(
        &'a self,
        host: &'a Host,
        ctx: Context<'gc>,
        origin: Option<&'a CallOrigin>,
    ) -> Writer<'gc, 'a> {
        Writer { codec: self, host, ctx, origin, nodes: 0, bytes: 0, failures: VecDeque::new() }
    }

    /// Makes the VM's form of `value`; failures inside name `origin`, and are still to be made.
    pub(in crate::piccolo) fn write<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        value: &Carried,
        origin: Option<&CallOrigin>,
    ) -> Result<Written<'gc>, Raised<'gc>> {
        let mut writer = self.writer(host, ctx, origin);
        let holder = Table::new(&ctx);
        if *value != Carried::Null {
            writer.member(holder, Value::Integer(1), value, 0)?;
        }
        let (nodes, bytes, failures) = (writer.nodes, writer.bytes, writer.failures);
        self.meter.charge(nodes + bytes / BYTES_PER_INSTRUCTION).map_err(fault::dead)?;
        Ok(Written { holder, failures })
    }

    /// The same for a value that holds no failures.
    pub(in crate::piccolo) fn write_plain<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        value: &Carried,
    ) -> Result<Value<'gc>, Raised<'gc>> {
        self.write(host, ctx, value, None).map(|written| written.holder.get(ctx, 1))
    }
}

impl<'gc> Writer<'gc, '_> {
    fn value(&mut self, value: &Carried, depth: usize) -> Result<Value<'gc>, Raised<'gc>> {
        self.count()?;
        match value {
            Carried::Null => Ok(self.host.null(self.ctx)),
            Carried::Bool(value) => Ok(Value::Boolean(*value)),
            Carried::Integer(value) => Ok(Value::Integer(*value)),
            Carried::Float(value) => Ok(Value::Number(*value)),
            Carried::String(text) => self.string(text.as_bytes()),
            Carried::Bytes(bytes) => self.string(bytes),
            Carried::Array(items) => {
                check_depth(depth)?;
                let table = Table::new(&self.ctx);
                table.into_inner().borrow_mut(&self.ctx).raw_table.reserve_array(items.len());
                for (place, item) in items.iter().enumerate() {
                    self.member(table, Value::Integer(place as i64 + 1), item, depth + 1)?;
                }
                self.codec.mark_array(self.host, self.ctx, table)?;
                Ok(Value::Table(table))
            }
            Carried::Object(members) => {
                check_depth(depth)?;
                let table = self.object(members, depth)?;
                let metatable = self.codec.object_metatable(self.host, self.ctx, members)?;
                table.set_metatable(&self.ctx, Some(metatable));
                Ok(Value::Table(table))
            }
            Carried::Failure(_) => Ok(Value::Nil),
        }
    }

    fn object(
        &mut self,
        members: &IndexMap<String, Carried>,
        depth: usize,
    ) -> Result<Table<'gc>, Raised<'gc>> {
        let table = Table::new(&self.ctx);
        for (name, member) in members {
            if *member == Carried::Null {
                self.nodes += 1;
                continue;
            }
            self.bytes += name.len() as u64;
            let key = Value::String(self.ctx.intern(name.as_bytes()));
            self.member(table, key, member, depth + 1)?;
        }
        Ok(table)
    }

    /// Sets a member, or notes the failure that is to be there.
    fn member(
        &mut self,
        table: Table<'gc>,
        key: Value<'gc>,
        value: &Carried,
        depth: usize,
    ) -> Result<(), Raised<'gc>> {
        if let Carried::Failure(failure) = value {
            self.count()?;
            check_depth(depth)?;
            let arguments = self.failure(failure, depth)?;
            self.failures.push_back(ToMake { table, key, arguments });
            return Ok(());
        }
        let value = self.value(value, depth)?;
        table.set(self.ctx, key, value)?;
        Ok(())
    }

    /// What the prelude makes a strict error value from.
    fn failure(&mut self, failure: &ToolFailure, depth: usize) -> Result<Vec<Value<'gc>>, Raised<'gc>> {
        let details = self.object(&failure.details, depth)?;
        let (ctx, origin) = (self.ctx, self.origin);
        Ok(vec![
            text(ctx, &failure.message),
            text(ctx, failure.code.as_str()),
            Value::Boolean(failure.retryable),
            Value::Table(details),
            origin.map_or(Value::Nil, |origin| text(ctx, &origin.id)),
            origin.map_or(Value::Nil, |origin| text(ctx, &origin.tool)),
            origin.and_then(|origin| origin.line).map_or(Value::Nil, |line| Value::Integer(i64::from(line))),
        ])
    }

    fn count(&mut self) -> Result<(), Raised<'gc>> {
        self.nodes += 1;
        if self.nodes <= VALUE_NODES_MAX {
            return Ok(());
        }
        let message = format!("a value with more than {VALUE_NODES_MAX} nodes cannot enter the plan");
        Err(fault::raise(
            Error::new(ErrorCode::ValueTooLarge, message).with_limit(VALUE_NODES_MAX, self.nodes),
        ))
    }

    fn string(&mut self, bytes: &[u8]) -> Result<Value<'gc>, Raised<'gc>> {
        self.bytes += bytes.len() as u64;
        let limit = self.codec.meter.limits().memory_bytes;
        let wanted = self.bytes.saturating_add(self.nodes.saturating_mul(NODE_BYTES));
        if wanted > limit {
            return Err(fault::dead(self.codec.meter.refuse_allocation(wanted)));
        }
        Ok(text(self.ctx, bytes))
    }
}

fn check_depth<'gc>(depth: usize) -> Result<(), Raised<'gc>> {
    if depth < VALUE_DEPTH_MAX {
        return Ok(());
    }
    let message = format!("a value nested deeper than {VALUE_DEPTH_MAX} cannot enter the plan");
    Err(fault::raise(Error::new(ErrorCode::ValueTooDeep, message).with_limit(VALUE_DEPTH_MAX, depth + 1)))
}
