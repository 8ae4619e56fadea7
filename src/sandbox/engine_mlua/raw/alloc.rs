//! An allocator around the binding's: it sees every text the VM makes, however it comes about.
//!
//! A long text costs time that no instruction shows: `..` of two megabytes is one instruction. So
//! texts above [`TEXT_BYTES_UNCHARGED`] are charged. Only texts: they are made
//! anew each time, at the same instruction on every machine, while tables grow when hash seeds and
//! the collector have it. The memory limit stays with the binding's allocator.
//!
//! Each request looks at the interrupt too, so that work the hook does not see for long, such as
//! tables that rehash and collections that barely free anything, ends soon after it comes. And it
//! sees the stack grow, which has to have frames to grow for.

use std::ffi::c_void;

use mlua::{Lua, ffi};

use super::layout::SLOT_BYTES;
use super::watch::Watch;

/// Texts up to here cost no more than other instructions do.
const TEXT_BYTES_UNCHARGED: usize = 1024;

/// How many bytes of a text the VM makes count as one instruction: what it copies at memory speed
/// while it runs one.
const TEXT_BYTES_PER_INSTRUCTION: usize = 64;

/// Blocks above this shorten the interval.
const BLOCK_BYTES_NOTED: usize = 256 << 10;

/// Bytes a stack may have without frames that need them.
const STACK_BYTES_FREE: usize = 40_000 * SLOT_BYTES;

/// Slots a frame may need, however many registers its function has.
const FRAME_SLOTS: usize = 256;

/// What says that a new block is to hold a text.
const TEXT_TAG: usize = ffi::LUA_TSTRING as usize;

pub(super) const FUNCTION: ffi::lua_Alloc = allocate;

/// Puts our allocator around the VM's.
#[expect(unsafe_code, reason = "exchanges the allocator of a live state")]
pub(super) fn wrap(watch: &Watch, lua: &Lua) {
    let state = lua.exec_raw_lua(mlua::state::RawLua::state);
    let mut data = std::ptr::null_mut();
    // SAFETY: the state is alive; ours delegates to the function it replaces with that function's
    // own data, so every block is freed by who made it. The watch stays where it is until
    // `unwrap`. The binding guards its allocations, as a memory limit is set before.
    unsafe {
        let function = ffi::lua_getallocf(state, &raw mut data);
        watch.inner.set(Some((function, data)));
        ffi::lua_setallocf(state, FUNCTION, std::ptr::from_ref(watch).cast_mut().cast());
    }
}

/// Gives the VM the allocator it had: the binding looks for its own data there.
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
    /// Whether `block` is the stack of the running coroutine, about to be larger than its frames
    /// need: values passed by the ten thousand, or a `__call` that is a table calling itself, to
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

    /// Notes a block that was asked for. The run may be dead after it; the next instruction then
    /// ends it, as refusing memory would first collect all there is.
    fn look(&self, is_text: bool, bytes: usize, is_made: bool) {
        let mut is_news = self.meter.check_alive().is_err();
        if is_text && bytes > TEXT_BYTES_UNCHARGED {
            // A request that was refused comes again after a collection.
            if is_made {
                let _ = self.meter.charge((bytes / TEXT_BYTES_PER_INSTRUCTION) as u64);
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
