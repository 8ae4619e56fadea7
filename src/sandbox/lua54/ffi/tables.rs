//! Natives on tables without metamethods: they read and write items raw.
//!
//! The prelude has checked their arguments: a table first, integers where integers belong.

use std::ffi::c_int;

use mlua::{Lua, Table, ffi};

use super::duty::with_meter;
use super::native::{finish, read_at, with_out};
use crate::lua_std::number::Number;
use crate::lua_std::sort::{Comparisons, Paid, flat_price, sort};
use crate::lua_std::{Arg, Item, NativeError, Out, concat, number};
use crate::vm::meter::{Charge, Dead};

/// Items moved between two checks of the meter, and how many cost one instruction.
const ITEMS_PER_CHARGE: u64 = 1024;
const ITEMS_PER_INSTRUCTION: u64 = 4;

type TableNative = unsafe extern "C-unwind" fn(*mut ffi::lua_State) -> c_int;

/// Adds them to the table of natives.
///
/// # Errors
/// Only if memory is used up.
pub(in crate::lua54) fn add(lua: &Lua, natives: &Table) -> mlua::Result<()> {
    let functions: [(&str, TableNative); 4] = [
        ("table_concat", table_concat),
        ("table_move", table_move),
        ("table_sort", table_sort),
        ("table_sort_keys", table_sort_keys),
    ];
    for (name, function) in functions {
        #[expect(unsafe_code, reason = "a light C function is what makes natives cheap")]
        // SAFETY: the functions keep to Lua's protocol for C functions, and own nothing where they
        // raise.
        let function = unsafe { lua.create_c_function(function)? };
        natives.raw_set(name, function)?;
    }
    Ok(())
}

/// `table_sort(list, count)`: sorts a list of numbers alone or of strings alone, and says whether
/// it was one.
#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn table_sort(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the state is alive; what the closure owns is dropped before `finish` may raise.
    unsafe {
        let ended = with_out(state, |meter, out| {
            let sorted = sort_items(state, meter, false)?;
            out.push(Item::Boolean(sorted));
            Ok(())
        });
        finish(state, "sort", ended)
    }
}

/// `table_sort_keys(list, count)`: the same at a price that depends on the items alone, not on the
/// order they come in.
#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn table_sort_keys(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the state is alive; what the closure owns is dropped before `finish` may raise.
    unsafe {
        let ended = with_out(state, |meter, out| {
            let sorted = sort_items(state, meter, true)?;
            out.push(Item::Boolean(sorted));
            Ok(())
        });
        finish(state, "sort", ended)
    }
}

/// `table_concat(list, separator, first, last)`: the text of the items.
#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn table_concat(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the state is alive; what the closure owns is dropped before `finish` may raise.
    unsafe {
        let ended = with_out(state, |meter, out| concat_items(state, meter, out));
        finish(state, "concat", ended)
    }
}

/// `table_move(source, first, last, to, target)`: copies items in the order that keeps what is
/// still to be read.
#[expect(unsafe_code, reason = "called by Lua, which hands over a live state")]
unsafe extern "C-unwind" fn table_move(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the state is alive and the arguments are what the prelude checked. Writing may raise
    // for want of memory, and nothing is owned meanwhile.
    unsafe {
        let (first, last, to) = (integer(state, 2), integer(state, 3), integer(state, 4));
        let count = last.wrapping_sub(first).cast_unsigned().wrapping_add(1);
        let is_same = ffi::lua_rawequal(state, 1, 5) != 0;
        let upward = to > last || to <= first || !is_same;
        let mut done = 0;
        while done < count {
            let stretch = ITEMS_PER_CHARGE.min(count - done);
            if with_meter(state, |meter| meter.charge(1 + stretch / ITEMS_PER_INSTRUCTION)) != Some(Ok(())) {
                return finish(state, "move", None);
            }
            for step in done..done + stretch {
                let step = if upward { step } else { count - 1 - step }.cast_signed();
                ffi::lua_rawgeti(state, 1, first.wrapping_add(step));
                ffi::lua_rawseti(state, 5, to.wrapping_add(step));
            }
            done += stretch;
        }
    }
    0
}

#[expect(unsafe_code, reason = "reads an argument where Lua keeps it")]
unsafe fn integer(state: *mut ffi::lua_State, index: c_int) -> i64 {
    // SAFETY: reading the stack of a live state.
    unsafe { ffi::lua_tointegerx(state, index, std::ptr::null_mut()) }
}

/// Pushes an item of the list, reads it, and pops it again: the list keeps holding it.
#[expect(unsafe_code, reason = "reads an item where Lua keeps it")]
unsafe fn item<'a>(state: *mut ffi::lua_State, place: i64) -> Arg<'a> {
    // SAFETY: the first argument is a table, and a C function has room for twenty values. The text
    // stays where it is while the table holds it, and nothing is collected or changed meanwhile, as
    // reading allocates nothing.
    unsafe {
        ffi::lua_rawgeti(state, 1, place);
        let arg = read_at(state, -1);
        ffi::lua_settop(state, -2);
        arg
    }
}

#[expect(unsafe_code, reason = "reads and writes the items of a table")]
unsafe fn sort_items(
    state: *mut ffi::lua_State,
    meter: &dyn Charge,
    is_flat: bool,
) -> Result<bool, NativeError> {
    // SAFETY: the first argument is a table and nothing but this function touches it. Items are
    // written to places that hold one, so that writing needs no memory and cannot raise.
    unsafe {
        let count = integer(state, 2);
        match item(state, 1) {
            Arg::Integer(_) | Arg::Number(_) => {
                let Some(mut numbers) = gather(state, count, meter, |arg, _| match arg {
                    Arg::Integer(integer) => Some(Number::Integer(integer)),
                    Arg::Number(float) => Some(Number::Float(float)),
                    _ => None,
                })?
                else {
                    return Ok(false);
                };
                let paid = pay(meter, is_flat, numbers.len(), 0)?;
                let mut comparisons = Comparisons::charged_to(paid.as_ref().map_or(meter, |paid| paid));
                sort(&mut numbers, |left, right| comparisons.number_less(*left, *right))?;
                comparisons.settle()?;
                for (number, place) in numbers.iter().zip(1..) {
                    match *number {
                        Number::Integer(integer) => ffi::lua_pushinteger(state, integer),
                        Number::Float(float) => ffi::lua_pushnumber(state, float),
                    }
                    ffi::lua_rawseti(state, 1, place);
                }
                Ok(true)
            }
            Arg::Text(_) => {
                let Some(mut texts) = gather(state, count, meter, |arg, place| match arg {
                    Arg::Text(text) => Some((text, place)),
                    _ => None,
                })?
                else {
                    return Ok(false);
                };
                let bytes = texts.iter().map(|(text, _)| text.len()).sum();
                let paid = pay(meter, is_flat, texts.len(), bytes)?;
                let mut comparisons = Comparisons::charged_to(paid.as_ref().map_or(meter, |paid| paid));
                sort(&mut texts, |left, right| comparisons.text_less(left.0, right.0))?;
                comparisons.settle()?;
                let mut sources: Vec<i64> = texts.iter().map(|(_, place)| *place).collect();
                rearrange(state, &mut sources);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Where the price is flat, charges it, and returns a meter that does not charge the work again.
fn pay(meter: &dyn Charge, is_flat: bool, items: usize, bytes: usize) -> Result<Option<Paid<'_>>, Dead> {
    if !is_flat {
        return Ok(None);
    }
    meter.charge(flat_price(items as u64, bytes as u64))?;
    Ok(Some(Paid(meter)))
}

/// The items of the list in Rust, or nothing where `take` refuses one.
#[expect(unsafe_code, reason = "reads the items of a table")]
unsafe fn gather<'a, T>(
    state: *mut ffi::lua_State,
    count: i64,
    meter: &dyn Charge,
    take: impl Fn(Arg<'a>, i64) -> Option<T>,
) -> Result<Option<Vec<T>>, Dead> {
    let many = usize::try_from(count).unwrap_or(0);
    // Once for the items, once for the room they are merged in.
    meter.reserve((2 * many * size_of::<T>()) as u64)?;
    let mut items = Vec::with_capacity(many);
    for place in 1..=count {
        if place.cast_unsigned().is_multiple_of(ITEMS_PER_CHARGE) {
            meter.charge(ITEMS_PER_CHARGE / ITEMS_PER_INSTRUCTION)?;
        }
        // SAFETY: as for `item`.
        match take(unsafe { item(state, place) }, place) {
            Some(item) => items.push(item),
            None => return Ok(None),
        }
    }
    Ok(Some(items))
}

/// Puts at each place the item that stood at the place `sources` names for it, both counted from 1.
#[expect(unsafe_code, reason = "moves the items of a table")]
unsafe fn rearrange(state: *mut ffi::lua_State, sources: &mut [i64]) {
    const SETTLED: i64 = 0;
    for start in 1..=sources.len() as i64 {
        let mut place = start;
        let source_of = |sources: &mut [i64], place: i64| {
            let slot = usize::try_from(place - 1).ok().and_then(|index| sources.get_mut(index));
            slot.map_or(SETTLED, |slot| std::mem::replace(slot, SETTLED))
        };
        let mut source = source_of(sources, place);
        if source == SETTLED || source == place {
            continue;
        }
        // SAFETY: one item is kept on the stack while the others of its cycle move up; all places
        // hold an item, so writing needs no memory and cannot raise.
        unsafe {
            ffi::lua_rawgeti(state, 1, start);
            while source != start {
                ffi::lua_rawgeti(state, 1, source);
                ffi::lua_rawseti(state, 1, place);
                place = source;
                source = source_of(sources, place);
            }
            ffi::lua_rawseti(state, 1, place);
        }
    }
}

#[expect(unsafe_code, reason = "reads the items of a table")]
unsafe fn concat_items(
    state: *mut ffi::lua_State,
    meter: &dyn Charge,
    out: &mut Out,
) -> Result<(), NativeError> {
    // SAFETY: the arguments are what the prelude checked, and stay on the stack meanwhile.
    unsafe {
        let (first, last) = (integer(state, 3), integer(state, 4));
        let mut separator = Vec::new();
        match read_at(state, 2) {
            Arg::Text(text) => separator.extend_from_slice(text),
            Arg::Integer(integer) => number::write_integer(&mut separator, integer),
            Arg::Number(float) => number::write_float(&mut separator, float),
            _ => {}
        }
        let mut items = Vec::new();
        let mut place = first;
        while place <= last {
            if (items.len() as u64 + 1).is_multiple_of(ITEMS_PER_CHARGE) {
                meter.charge(ITEMS_PER_CHARGE / ITEMS_PER_INSTRUCTION)?;
            }
            let item = item(state, place);
            if !matches!(item, Arg::Text(_) | Arg::Integer(_) | Arg::Number(_)) {
                return Err(concat::invalid(item, place));
            }
            items.push(item);
            match place.checked_add(1) {
                Some(next) => place = next,
                None => break,
            }
        }
        out.push_written(|bytes| concat::join(&items, &separator, first, meter, bytes))
    }
}
