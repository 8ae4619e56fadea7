//! piccolo as our parts and a plan run on it.

use piccolo::{Context, Executor, Lua, StashedTable, Value, Variadic};

use luaplan_base::{Error, ErrorCode, Result};

/// The most bytes of source this engine takes, whatever the limit.
pub(super) const SOURCE_BYTES_MAX: u64 = 48 * 1024;

/// piccolo with our helpers.
pub(super) struct Engine {
    pub(super) lua: Lua,
    /// The helpers of rewritten chunks, as a list.
    pub(super) helpers: StashedTable,
}

/// The error of an invariant of ours that does not hold.
pub(super) fn broken(message: &str) -> Error {
    Error::new(ErrorCode::Internal, message)
}

impl Engine {
    /// Runs functions of our own to their end; nothing of a plan.
    pub(super) fn run<R>(
        &mut self,
        start: impl for<'gc> FnOnce(Context<'gc>) -> Executor<'gc>,
        take: impl for<'gc> FnOnce(Context<'gc>, Vec<Value<'gc>>) -> Result<R>,
    ) -> Result<R> {
        let executor = self.lua.enter(|ctx| ctx.stash(start(ctx)));
        self.lua.finish(&executor);
        self.lua.enter(|ctx| match ctx.fetch(&executor).take_result::<Variadic<Vec<Value<'_>>>>(ctx) {
            Ok(Ok(values)) => take(ctx, values.0),
            Ok(Err(error)) => Err(broken("the VM could not be made").with_source(error.into_static())),
            Err(error) => Err(broken("the VM could not be made").with_source(error)),
        })
    }
}
