//! `tonumber`, and numbers as text.

use super::args::{Args, bad};
use super::number::{Number, parse, parse_in_base};
use super::{Arg, Item, Native, NativeCall, NativeError};

/// The natives of this file.
pub(super) const NATIVES: &[Native] =
    &[Native { name: "tonumber", run: tonumber }, Native { name: "number_text", run: number_text }];

/// The text of a number or text, as `tostring` gives it.
fn number_text(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let text = Args::of(call).text(1)?;
    call.out.push_text(&text);
    Ok(())
}

/// `tonumber(value [, base])`
fn tonumber(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let number = match (args.get(1), args.get(2)) {
        (Arg::None, Arg::None | Arg::Nil) => return bad(1, "value expected"),
        (Arg::Text(text), Arg::None | Arg::Nil) => {
            args.charge_bytes(text.len())?;
            parse(text)
        }
        (Arg::Integer(_) | Arg::Number(_), Arg::None | Arg::Nil) => {
            call.out.push(Item::Arg(0));
            return Ok(());
        }
        (_, Arg::None | Arg::Nil) => None,
        (value, _) => {
            let base = args.integer(2)?;
            let Arg::Text(text) = value else { return args.wrong_type(1, "string") };
            let Some(base) = u64::try_from(base).ok().filter(|base| (2..=36).contains(base)) else {
                return bad(2, "base out of range");
            };
            args.charge_bytes(text.len())?;
            parse_in_base(text, base).map(Number::Integer)
        }
    };
    match number {
        Some(Number::Integer(integer)) => call.out.push(Item::Integer(integer)),
        Some(Number::Float(float)) => call.out.push(Item::Number(float)),
        None => call.out.push(Item::Nil),
    }
    Ok(())
}
