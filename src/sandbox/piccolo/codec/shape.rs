//! What a table from outside remembers: its kind, its keys in order, which of them were null.

use indexmap::IndexMap;
use piccolo::{Context, Table, Value};

use luaplan_base::Value as Carried;

use super::Codec;
use crate::piccolo::fault::Raised;
use crate::piccolo::host::Host;
use crate::piccolo::values::text;

/// The kind of a table from outside.
#[derive(Clone, Copy)]
pub(super) enum Shape<'gc> {
    Array,
    /// Its metatable.
    Object(Table<'gc>),
}

impl Codec {
    /// Makes `table` a list even while it is empty.
    pub(in crate::piccolo) fn mark_array<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        table: Table<'gc>,
    ) -> Result<(), Raised<'gc>> {
        let metatable = match self.array.get() {
            Some(array) => ctx.fetch(array),
            None => {
                let array = marked(host, ctx)?;
                let _ = self.array.set(ctx.stash(array));
                array
            }
        };
        table.set_metatable(&ctx, Some(metatable));
        Ok(())
    }

    /// Makes `table` an object even while it is empty.
    pub(in crate::piccolo) fn mark_object<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        table: Table<'gc>,
    ) -> Result<(), Raised<'gc>> {
        let metatable = self.object_metatable(host, ctx, &IndexMap::new())?;
        table.set_metatable(&ctx, Some(metatable));
        Ok(())
    }

    /// The metatable for an object with these members.
    pub(super) fn object_metatable<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        members: &IndexMap<String, Carried>,
    ) -> Result<Table<'gc>, Raised<'gc>> {
        let keys: Vec<(String, bool)> =
            members.iter().map(|(name, value)| (name.clone(), *value == Carried::Null)).collect();
        if let Some(known) = self.objects.borrow().get(&keys) {
            return Ok(ctx.fetch(known));
        }
        let metatable = marked(host, ctx)?;
        let (names, known, nulls) = (Table::new(&ctx), Table::new(&ctx), Table::new(&ctx));
        for (place, (name, is_null)) in keys.iter().enumerate() {
            let name = text(ctx, name);
            names.set(ctx, place as i64 + 1, name)?;
            known.set(ctx, name, true)?;
            if *is_null {
                nulls.set(ctx, name, true)?;
            }
        }
        metatable.set(ctx, 2, names)?;
        metatable.set(ctx, 3, known)?;
        metatable.set(ctx, 4, nulls)?;
        self.objects.borrow_mut().insert(keys, ctx.stash(metatable));
        Ok(metatable)
    }

    /// The keys an object from outside had, in their order.
    pub(in crate::piccolo) fn known_keys<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        table: Table<'gc>,
    ) -> Option<Table<'gc>> {
        match self.shape_of(host, ctx, table)? {
            Shape::Array => None,
            Shape::Object(metatable) => match metatable.get(ctx, 2) {
                Value::Table(names) => Some(names),
                _ => None,
            },
        }
    }

    /// The shape of a table, if it came from outside.
    pub(super) fn shape_of<'gc>(
        &self,
        host: &Host,
        ctx: Context<'gc>,
        table: Table<'gc>,
    ) -> Option<Shape<'gc>> {
        let metatable = table.metatable()?;
        let mark = ctx.fetch(&host.kept.get()?.mark);
        match (metatable.get(ctx, 1), metatable.get(ctx, 2)) {
            (Value::Table(first), Value::Nil) if first == mark => Some(Shape::Array),
            (Value::Table(first), _) if first == mark => Some(Shape::Object(metatable)),
            _ => None,
        }
    }
}

fn marked<'gc>(host: &Host, ctx: Context<'gc>) -> Result<Table<'gc>, Raised<'gc>> {
    let metatable = Table::new(&ctx);
    if let Some(kept) = host.kept.get() {
        metatable.set(ctx, 1, ctx.fetch(&kept.mark))?;
    }
    Ok(metatable)
}
