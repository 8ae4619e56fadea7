//! Numbers within the bounds a schema sets.

use serde_json::{Map, Number, Value as Json, json};

use super::draw::Draw;
use super::words;

/// How far a number may be from its only bound.
const SPAN: i64 = 100;

/// Every whole double below this magnitude is an exact integer.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A whole number within `minimum`, `maximum`, their exclusive forms and `multipleOf`.
pub(super) fn integer(schema: &Map<String, Json>, name: &str, draw: &mut Draw) -> Option<Json> {
    let (low, high) = bounds(schema);
    let whole = |bound: f64| -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        (bound.abs() <= EXACT_MAX).then_some(bound as i64)
    };
    let exact = |key: &str| schema.get(key).and_then(Json::as_i64);
    let low = match low {
        Some((bound, true)) => Some(whole(bound.floor())?.checked_add(1)?),
        Some((bound, false)) => exact("minimum").or(whole(bound.ceil())),
        None => None,
    };
    let high = match high {
        Some((bound, true)) => Some(whole(bound.ceil())?.checked_sub(1)?),
        Some((bound, false)) => exact("maximum").or(whole(bound.floor())),
        None => None,
    };
    let step = match schema.get("multipleOf").and_then(Json::as_f64) {
        Some(step) if step.fract() == 0.0 && step >= 1.0 => whole(step)?,
        Some(step) if (1.0 / step).fract() == 0.0 => 1,
        Some(_) => return None,
        None => 1,
    };
    if low.is_none() && high.is_none() && step == 1 {
        return Some(json!(words::integer(name, draw)));
    }
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (Some(low), None) => (low, low.saturating_add(SPAN.saturating_mul(step))),
        (None, Some(high)) => (high.saturating_sub(SPAN.saturating_mul(step)), high),
        (None, None) => (0, SPAN.saturating_mul(step)),
    };
    let first = low.div_euclid(step) + i64::from(low.rem_euclid(step) != 0);
    let last = high.div_euclid(step);
    (first <= last)
        .then(|| draw.between(first, last))
        .and_then(|drawn| drawn.checked_mul(step))
        .map(|n| json!(n))
}

/// A number within the same bounds, with few decimals.
pub(super) fn number(schema: &Map<String, Json>, name: &str, draw: &mut Draw) -> Option<Json> {
    let (low, high) = bounds(schema);
    let step = schema.get("multipleOf").and_then(Json::as_f64);
    if let (None, None, None) = (low, high, step) {
        return Some(json!(words::number(name, draw)));
    }
    #[expect(clippy::cast_precision_loss, reason = "small by construction")]
    let span = SPAN as f64;
    let (from, to) = match (low, high) {
        (Some((low, _)), Some((high, _))) => (low, high),
        (Some((low, _)), None) => (low, low + span),
        (None, Some((high, _))) => (high - span, high),
        (None, None) => (0.0, span * step.unwrap_or(1.0)),
    };
    let is_inside = |number: &f64| {
        low.is_none_or(|(low, is_exclusive)| if is_exclusive { *number > low } else { *number >= low })
            && high.is_none_or(
                |(high, is_exclusive)| if is_exclusive { *number < high } else { *number <= high },
            )
    };
    #[expect(clippy::cast_precision_loss, reason = "small by construction")]
    let share = draw.between(0, 1000) as f64 / 1000.0;
    let drawn = from + (to - from) * share;
    let rounded = (drawn * 100.0).round() / 100.0;
    let candidates = match step {
        Some(step) => {
            vec![(drawn / step).round() * step, (from / step).ceil() * step, (to / step).floor() * step]
        }
        None => vec![rounded, drawn, f64::midpoint(from, to), from, to],
    };
    candidates.into_iter().find(is_inside).and_then(Number::from_f64).map(Json::Number)
}

/// A bound, and whether it is exclusive.
type Bound = Option<(f64, bool)>;

fn bounds(schema: &Map<String, Json>) -> (Bound, Bound) {
    let number = |key: &str| schema.get(key).and_then(Json::as_f64);
    let tighter = |given: Option<f64>, exclusive: Option<f64>, is_beyond: fn(f64, f64) -> bool| match (
        given, exclusive,
    ) {
        (Some(given), Some(exclusive)) if is_beyond(given, exclusive) => Some((given, false)),
        (_, Some(exclusive)) => Some((exclusive, true)),
        (Some(given), None) => Some((given, false)),
        (None, None) => None,
    };
    let low = tighter(number("minimum"), number("exclusiveMinimum"), |given, exclusive| given > exclusive);
    let high = tighter(number("maximum"), number("exclusiveMaximum"), |given, exclusive| given < exclusive);
    (low, high)
}
