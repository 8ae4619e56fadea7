//! `string.rep`.

use super::super::args::{Args, fail};
use super::super::{Arg, NativeCall, NativeError};

/// The longest result of the original, in bytes.
const RESULT_BYTES_MAX: u64 = i32::MAX as u64;

/// Bytes copied between two checks of the meter.
const COPY_BYTES: usize = 1 << 20;

/// `string.rep(s, n [, separator])`
///
/// A result that the run's memory cannot hold ends the run; one that would fit but is longer than the
/// original allows raises the original's error.
pub(in crate::lua_std) fn rep(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    let times = u64::try_from(args.integer(2)?).unwrap_or(0);
    let separator = match args.get(3) {
        Arg::None | Arg::Nil => Default::default(),
        _ => args.text(3)?,
    };
    let unit_bytes = (text.len() + separator.len()) as u64;
    if times == 0 || unit_bytes == 0 {
        call.out.push_text(b"");
        return Ok(());
    }
    let total_bytes = unit_bytes.saturating_mul(times).saturating_sub(separator.len() as u64);
    call.meter.reserve(total_bytes)?;
    if unit_bytes > RESULT_BYTES_MAX / times {
        return fail("resulting string too large");
    }
    let total = total_bytes as usize;
    let meter = call.meter;
    call.out.push_written(|bytes| {
        let start = bytes.len();
        bytes.reserve(total);
        bytes.extend_from_slice(&text);
        if times > 1 {
            bytes.extend_from_slice(&separator);
        }
        let unit = unit_bytes as usize;
        while bytes.len() - start < total {
            let have = bytes.len() - start;
            let within_unit = have % unit;
            let more = (have - within_unit).min(total - have).min(COPY_BYTES);
            let from = start + within_unit;
            bytes.extend_from_within(from..from + more);
            meter.charge(0)?;
        }
        Ok(())
    })
}
