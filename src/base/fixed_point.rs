//! Decimal numbers with a fixed number of digits after the point.

/// `number` units of the last of `places` digits, as text: -1050 with three places is `-1.050`. `places` is above 0.
#[must_use]
pub fn fixed_point(number: i128, places: usize) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", number.unsigned_abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}
