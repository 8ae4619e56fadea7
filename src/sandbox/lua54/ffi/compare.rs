//! Charges comparisons of long texts before they run.
//!
//! One instruction compares texts of any length, and `<` restarts after each NUL. So once a plan has made
//! a very long text ([`Watch::looks_closely`]), the hook checks before each instruction.

use std::ffi::c_int;

use mlua::ffi;

use luaplan_base::{Error, ErrorCode};

use super::alloc::TEXT_BYTES_PER_INSTRUCTION;
use super::watch::Watch;
use crate::vm::meter::Meter;

/// How many NULs the texts of one comparison may have: some fifty milliseconds.
const NULS_MAX: u64 = 8 << 20;

/// The operations that compare two registers, by number.
const EQUAL: u32 = 57;
const LESS: u32 = 58;
const LESS_OR_EQUAL: u32 = 59;

/// Charges what the instruction about to run compares. The run may be dead after it.
pub(super) fn charge(meter: &Meter, state: *mut ffi::lua_State) {
    let Some(instruction) = Watch::coroutine(state).instruction() else { return };
    let register = |shift: u32| c_int::try_from(instruction >> shift & 0xff).unwrap_or(0) + 1;
    let operation = instruction & 0x7f;
    if !matches!(operation, EQUAL | LESS | LESS_OR_EQUAL) {
        return;
    }
    let (Some(left), Some(right)) = (text(state, register(7)), text(state, register(16))) else { return };
    if operation == EQUAL {
        if left.len() == right.len() && !std::ptr::eq(left, right) {
            let _ = meter.charge(left.len() as u64 / TEXT_BYTES_PER_INSTRUCTION);
        }
        return;
    }
    let shorter = if left.len() < right.len() { left } else { right };
    let nuls = count_nuls(shorter);
    if nuls > NULS_MAX {
        let message = format!(
            "the limit `instructions` would be passed by a single one: a comparison of texts with {nuls} NUL \
             bytes, of {NULS_MAX} at most"
        );
        let observed = meter.instructions().saturating_add(nuls);
        let error = Error::new(ErrorCode::LimitInstructions, message)
            .with_limit(meter.limits().instructions, observed);
        let _ = meter.kill(error);
        return;
    }
    let _ = meter.charge(shorter.len() as u64 / TEXT_BYTES_PER_INSTRUCTION + nuls);
}

/// Counted eight at a time: of each byte that is 0 the highest bit is left.
fn count_nuls(bytes: &[u8]) -> u64 {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut count = rest.iter().filter(|byte| **byte == 0).count() as u64;
    for word in words {
        let word = u64::from_ne_bytes(*word);
        count += u64::from((!(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)).count_ones());
    }
    count
}

/// The text in a register of the function that runs, counted from 1.
#[expect(unsafe_code, reason = "reads a register where Lua keeps it")]
fn text<'a>(state: *mut ffi::lua_State, register: c_int) -> Option<&'a [u8]> {
    // SAFETY: inside the hook a frame's registers can be read as a native's arguments can. A text is
    // not converted, and stays in its register while the hook runs.
    unsafe {
        if ffi::lua_type(state, register) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let bytes = ffi::lua_tolstring(state, register, &raw mut length);
        Some(std::slice::from_raw_parts(bytes.cast(), length))
    }
}

#[cfg(test)]
mod tests {
    use super::count_nuls;

    #[test]
    fn nuls_are_counted_wherever_they_stand() {
        assert_eq!(count_nuls(b""), 0);
        assert_eq!(count_nuls(b"\0\x01\x80\xff\0abc\0\0d"), 4);
        assert_eq!(count_nuls(&[0; 1001]), 1001);
        assert_eq!(count_nuls(&[0x80; 1001]), 0);
    }
}
