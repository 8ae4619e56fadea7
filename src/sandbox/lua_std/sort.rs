//! A stable merge sort that can be stopped, and the orders Lua knows by itself.

use std::cmp::Ordering;

use super::Charge;
use super::number::Number;
use crate::vm::meter::{BYTES_PER_INSTRUCTION, Dead};

/// Runs of so many items are sorted by insertion before they are merged.
const RUN_ITEMS: usize = 8;

/// Comparisons between two charges.
const COMPARISONS_PER_CHARGE: u64 = 64;

/// Texts are compared in stretches of so many bytes, each charged.
const STRETCH_BYTES: usize = 4096;

/// Sorts `items`: equal ones keep their order. `is_less` may fail, which ends the sort with that
/// failure and the items in an unspecified order. An inconsistent order gives an unspecified but
/// deterministic result.
///
/// # Errors
/// Those of `is_less`.
pub(crate) fn sort<T: Copy, E>(
    items: &mut [T],
    mut is_less: impl FnMut(&T, &T) -> Result<bool, E>,
) -> Result<(), E> {
    for run in items.chunks_mut(RUN_ITEMS) {
        insert_each(run, &mut is_less)?;
    }
    if items.len() <= RUN_ITEMS {
        return Ok(());
    }
    let mut spare = items.to_vec();
    let mut width = RUN_ITEMS;
    let mut in_spare = false;
    while width < items.len() {
        let (from, to) = if in_spare { (&spare[..], &mut items[..]) } else { (&items[..], &mut spare[..]) };
        for (source, target) in from.chunks(2 * width).zip(to.chunks_mut(2 * width)) {
            let (left, right) = source.split_at(width.min(source.len()));
            merge(left, right, target, &mut is_less)?;
        }
        in_spare = !in_spare;
        width *= 2;
    }
    if in_spare {
        items.copy_from_slice(&spare);
    }
    Ok(())
}

fn insert_each<T: Copy, E>(
    run: &mut [T],
    is_less: &mut impl FnMut(&T, &T) -> Result<bool, E>,
) -> Result<(), E> {
    for next in 1..run.len() {
        let item = run[next];
        let mut place = next;
        while place > 0 && is_less(&item, &run[place - 1])? {
            run[place] = run[place - 1];
            place -= 1;
        }
        run[place] = item;
    }
    Ok(())
}

fn merge<T: Copy, E>(
    left: &[T],
    right: &[T],
    target: &mut [T],
    is_less: &mut impl FnMut(&T, &T) -> Result<bool, E>,
) -> Result<(), E> {
    let (mut l, mut r) = (0, 0);
    // Two runs already in order need one comparison.
    if let (Some(last), Some(first)) = (left.last(), right.first())
        && !is_less(first, last)?
    {
        target[..left.len()].copy_from_slice(left);
        target[left.len()..].copy_from_slice(right);
        return Ok(());
    }
    for place in target.iter_mut() {
        let from_left = match (left.get(l), right.get(r)) {
            (Some(left), Some(right)) => !is_less(right, left)?,
            (left, _) => left.is_some(),
        };
        if from_left {
            *place = left[l];
            l += 1;
        } else {
            *place = right[r];
            r += 1;
        }
    }
    Ok(())
}

/// Counts comparisons and charges for them.
pub(crate) struct Comparisons<'a> {
    meter: &'a dyn Charge,
    uncharged: u64,
}

impl<'a> Comparisons<'a> {
    /// Comparisons charged to `meter`.
    #[must_use]
    pub(crate) fn charged_to(meter: &'a dyn Charge) -> Self {
        Self { meter, uncharged: 0 }
    }

    /// Whether one number is less than another, as Lua's `<`: exactly, between integers and floats
    /// too; a NaN is neither less nor greater.
    ///
    /// # Errors
    /// [`Dead`] where the run has been stopped.
    pub(crate) fn number_less(&mut self, left: Number, right: Number) -> Result<bool, Dead> {
        self.count()?;
        Ok(number_less(left, right))
    }

    /// Whether one text is less than another, byte by byte.
    ///
    /// # Errors
    /// [`Dead`] where the run has been stopped.
    pub(crate) fn text_less(&mut self, left: &[u8], right: &[u8]) -> Result<bool, Dead> {
        self.count()?;
        let common = left.len().min(right.len());
        let mut start = 0;
        while start + STRETCH_BYTES < common {
            let stretch = start..start + STRETCH_BYTES;
            match left[stretch.clone()].cmp(&right[stretch]) {
                Ordering::Equal => start += STRETCH_BYTES,
                order => return Ok(order == Ordering::Less),
            }
            self.meter.charge(STRETCH_BYTES as u64 / BYTES_PER_INSTRUCTION)?;
        }
        // Reading the rest may cost more than the comparison itself.
        self.uncharged += (common - start) as u64 / BYTES_PER_INSTRUCTION / 8;
        Ok(left[start..] < right[start..])
    }

    fn count(&mut self) -> Result<(), Dead> {
        self.uncharged += 1;
        if self.uncharged >= COMPARISONS_PER_CHARGE {
            self.meter.charge(std::mem::take(&mut self.uncharged))?;
        }
        Ok(())
    }

    /// Charges what is still owed.
    ///
    /// # Errors
    /// [`Dead`] where the run has been stopped.
    pub(crate) fn settle(&mut self) -> Result<(), Dead> {
        self.meter.charge(std::mem::take(&mut self.uncharged))
    }
}

/// A meter for a sort whose [`flat_price`] is paid: checks whether the run was stopped and counts nothing.
pub(crate) struct Paid<'a>(pub(crate) &'a dyn Charge);

impl Charge for Paid<'_> {
    fn charge(&self, _: u64) -> Result<(), Dead> {
        self.0.charge(0)
    }

    fn reserve(&self, bytes: u64) -> Result<(), Dead> {
        self.0.reserve(bytes)
    }
}

/// A price of sorting `count` items of `bytes` altogether that does not depend on their order.
#[must_use]
pub(crate) fn flat_price(count: u64, bytes: u64) -> u64 {
    let rounds = u64::from(count.max(1).ilog2()) + 1;
    (count + bytes / BYTES_PER_INSTRUCTION).saturating_mul(rounds)
}

/// Whether one number is less than another, exactly.
#[must_use]
pub(crate) fn number_less(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => left < right,
        (Number::Float(left), Number::Float(right)) => left < right,
        (Number::Integer(left), Number::Float(right)) => {
            // The least integer that is not below the float decides.
            if right.is_nan() { false } else { i128::from(left) < right.ceil() as i128 }
        }
        (Number::Float(left), Number::Integer(right)) => {
            if left.is_nan() {
                false
            } else {
                (left.floor() as i128) < i128::from(right)
            }
        }
    }
}
