//! `table.concat`, once its items are read.

use super::args::type_name;
use super::number::{self, Number};
use super::{Arg, Charge, NativeError};

/// Longest text of a number.
const NUMBER_BYTES: usize = 24;

/// Items read or joined between two charges, and what each costs beside its bytes.
const ITEMS_PER_CHARGE: usize = 1024;
const ITEM_INSTRUCTIONS: u64 = 1;

/// Appends to `joined` the text of `items` with `separator` between each two. `first` is the place
/// of the first item in its table, for the message.
///
/// # Errors
/// An item that is neither text nor number; [`NativeError::Dead`] where the run has been stopped
/// or the text would not fit.
pub(crate) fn join(
    items: &[Arg<'_>],
    separator: &[u8],
    first: i64,
    meter: &dyn Charge,
    joined: &mut Vec<u8>,
) -> Result<(), NativeError> {
    let mut bytes = separator.len().saturating_mul(items.len().saturating_sub(1));
    for (count, item) in items.iter().enumerate() {
        let more = match item {
            Arg::Text(text) => text.len(),
            Arg::Integer(_) | Arg::Number(_) => NUMBER_BYTES,
            other => return Err(invalid(*other, first.wrapping_add(count as i64))),
        };
        bytes = bytes.saturating_add(more);
    }
    meter.reserve(bytes as u64)?;
    joined.reserve(bytes);
    for (count, item) in items.iter().enumerate() {
        if count.is_multiple_of(ITEMS_PER_CHARGE) {
            meter.charge(ITEM_INSTRUCTIONS * ITEMS_PER_CHARGE.min(items.len() - count) as u64)?;
        }
        if count > 0 {
            joined.extend_from_slice(separator);
        }
        match item {
            Arg::Text(text) => joined.extend_from_slice(text),
            Arg::Integer(integer) => number::write_number(joined, Number::Integer(*integer)),
            Arg::Number(float) => number::write_number(joined, Number::Float(*float)),
            _ => {}
        }
    }
    Ok(())
}

/// The error of an item that cannot be joined.
#[must_use]
pub(crate) fn invalid(item: Arg<'_>, place: i64) -> NativeError {
    NativeError::Message(format!(
        "invalid value ({}) at index {place} in table for 'concat'",
        type_name(item)
    ))
}
