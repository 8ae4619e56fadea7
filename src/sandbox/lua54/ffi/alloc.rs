//! An allocator around the binding's: it sees every text that the VM makes.
//!
//! A long text costs time that no instruction shows: `..` of two megabytes is one instruction. So
//! texts above [`TEXT_BYTES_UNCHARGED`] are charged. Only texts: a plan makes them at the same
//! instruction on every machine, while hash seeds and the collector decide when tables grow. The
//! memory limit stays with the binding's allocator.
//!
//! Each request checks the interrupt too, so that work outside the hook's sight, such as rehashing
//! tables and collections that free little, ends soon after an interrupt. It also sees the stack grow,
//! and refuses growth that no frames need.

use std::ffi::c_void;

use mlua::{Lua, ffi};

use super::layout::SLOT_BYTES;
use super::watch::Watch;

/// Texts up to here cost no more than other instructions do.
const TEXT_BYTES_UNCHARGED: usize = 1024;

/// How many bytes of a text that is made or compared count as one instruction: what the VM copies at memory speed
/// while it runs one.
pub(super) const TEXT_BYTES_PER_INSTRUCTION: u64 = 64;

/// Blocks above this shorten the interval.
const BLOCK_BYTES_NOTED: usize = 256 << 10;

/// Bytes a stack may have without frames that need them.
const STACK_BYTES_FREE: usize = 40_000 * SLOT_BYTES;

/// Slots a frame may need, however many registers its function has.
const FRAME_SLOTS: usize = 256;

/// The tag that Lua passes for a new block that will hold a text.
const TEXT_TAG: usize = ffi::LUA_TSTRING as usize;

pub(super) const FUNCTION: ffi::lua_Alloc = allocate;

/// Puts our allocator around the VM's.
#[expect(unsafe_code, reason = "exchanges the allocator of a live state")]
pub(super) fn wrap(watch: &Watch, lua: &Lua) {
    let state = lua.exec_raw_lua(mlua::state::RawLua::state);
    let mut data = std::ptr::null_mut();
    // SAFETY: the state is alive; ours delegates to the function it replaces with that function's
    // own data, so the allocator that made a block frees it. The watch stays where it is until
    // `unwrap`. The binding guards its allocations, as a memory limit is set before.
    unsafe {
        let function = ffi::lua_getallocf(state, &raw mut data);
        watch.inner.set(Some((function, data)));
        ffi::lua_setallocf(state, FUNCTION, std::ptr::from_ref(watch).cast_mut().cast());
    }
}

/// Restores the VM's own allocator: the binding looks for its data there.
#[expect(unsafe_code, reason = "exchanges the allocator of a live state")]
pub(super) fn unwrap(watch: &Watch, lua: &Lua) {
    let state = lua.exec_raw_lua(mlua::state::RawLua::state);
    if let Some((function, data)) = watch.inner.take() {
        // SAFETY: as in `wrap`; function and data are the pair that was there.
        unsafe { ffi::lua_setallocf(state, function, data) }
    }
}

#[expect(unsafe_code, reason = "called by Lua with the data set beside it")]
unsafe extern "C" fn allocate(
    data: *mut c_void,
    block: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
) -> *mut c_void {
    // SAFETY: the data is a watch on duty, see `wrap`; it is only read, its cells aside.
    let watch = unsafe { &*data.cast_const().cast::<Watch>() };
    let is_text = block.is_null() && old_bytes == TEXT_TAG;
    if new_bytes > old_bytes
        && !is_text
        && new_bytes > STACK_BYTES_FREE
        && watch.is_mere_stack(block, new_bytes)
    {
        return std::ptr::null_mut();
    }
    if block.is_null() && old_bytes == 0 && watch.is_endless_move(new_bytes) {
        return std::ptr::null_mut();
    }
    let Some((function, inner)) = watch.inner.get() else { return std::ptr::null_mut() };
    // SAFETY: the request as it came, to the function that made the block, with its own data.
    let made = unsafe { function(inner, block, old_bytes, new_bytes) };
    if new_bytes > 0 {
        watch.look(is_text, new_bytes, !made.is_null());
    }
    made
}

impl Watch {
    /// Whether `block` is the stack of the running coroutine, about to become larger than its frames
    /// need: tens of thousands of passed values, or a `__call` that is a table calling itself, to
    /// which Lua adds an argument each round without running an instruction.
    fn is_mere_stack(&self, block: *mut c_void, new_bytes: usize) -> bool {
        let running = self.running.get();
        if running.is_null() || block.is_null() {
            return false;
        }
        let coroutine = Self::coroutine(running);
        let frames = usize::try_from(coroutine.frames_at_most()).unwrap_or(usize::MAX);
        coroutine.has_stack(block)
            && new_bytes > STACK_BYTES_FREE.saturating_add(frames.saturating_mul(FRAME_SLOTS * SLOT_BYTES))
    }

    /// Notes a requested block. The run may be dead after it; the next instruction then ends it, as a
    /// refusal of memory would first run a full collection.
    fn look(&self, is_text: bool, bytes: usize, is_made: bool) {
        let mut is_news = self.meter.check_alive().is_err();
        if is_text && bytes > TEXT_BYTES_UNCHARGED {
            // Lua repeats a refused request after a collection.
            if is_made {
                let _ = self.meter.charge(bytes as u64 / TEXT_BYTES_PER_INSTRUCTION);
            }
            self.largest_text_bytes.set(self.largest_text_bytes.get().max(bytes));
            is_news = true;
        } else if bytes > BLOCK_BYTES_NOTED && bytes > self.largest_block_bytes.get() {
            self.largest_block_bytes.set(bytes);
            is_news = true;
        }
        if is_news {
            self.refresh(self.running.get());
        }
    }
}
