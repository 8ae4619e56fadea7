//! Runs a plan in bursts, and checks its fuel, memory and depth between them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use piccolo::{Fuel, Lua};

use luaplan_base::{Error, ErrorCode, LimitName};

use super::depth;
use super::vm::{PiccoloVm, Running};

/// Fuel between two checks of meter, memory and depth.
const BURST_FUEL: i32 = 4096;

/// Bytes that a forced collection traverses for the price of an instruction.
const COLLECTED_BYTES_PER_INSTRUCTION: u64 = 64;

impl PiccoloVm {
    /// Runs for one burst. Whether the plan has nothing more to do by itself.
    pub(super) fn burst(&mut self, running: &Running) -> bool {
        let mut fuel = Fuel::with(BURST_FUEL);
        let lua = &mut self.engine.lua;
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            lua.enter(|ctx| ctx.fetch(&running.executor).step(ctx, &mut fuel))
        }));
        let Ok(has_stopped) = stepped else {
            // After a panic the VM is not touched again, not even to drop it.
            std::mem::forget(std::mem::replace(&mut self.engine.lua, Lua::empty()));
            self.host.meter.kill(Error::new(ErrorCode::EngineFailed, "the engine `piccolo` failed inside"));
            return true;
        };
        let used = BURST_FUEL.saturating_sub(fuel.remaining());
        // The caller sees a meter that has died meanwhile.
        let _ = self.host.meter.charge(u64::try_from(used).unwrap_or(0));
        self.look_at_memory();
        self.look_at_depth(running);
        has_stopped
    }

    fn look_at_memory(&mut self) {
        let limit = self.host.meter.limits().memory_bytes;
        let mut held = self.engine.lua.total_memory() as u64;
        self.host.meter.sample_memory(held.min(limit));
        if held <= limit {
            return;
        }
        let _ = self.host.meter.charge(held / COLLECTED_BYTES_PER_INSTRUCTION);
        self.engine.lua.gc_collect();
        held = self.engine.lua.total_memory() as u64;
        if held > limit {
            self.host.meter.sample_memory(held);
            self.host.meter.out_of_memory();
        }
    }

    fn look_at_depth(&mut self, running: &Running) {
        let limit = self.host.meter.limits().call_depth;
        let inner = self.host.active.borrow().last().cloned();
        let found = self.engine.lua.enter(|ctx| {
            let thread = ctx.fetch(inner.as_ref().unwrap_or(&running.thread));
            depth::frames(thread, limit)
        });
        if found > limit {
            self.host.meter.kill(LimitName::Depth.exceeded(limit, found));
        }
    }
}
