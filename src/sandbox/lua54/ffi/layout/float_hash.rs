//! The places of floats among the keys of a table.

/// Lua's hash of a number that is no integer.
pub(super) fn float_hash(number: f64) -> u64 {
    let (fraction, exponent) = split(number);
    let scaled = fraction * 2_147_483_648.0;
    if !scaled.is_finite() {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounds toward zero as C does; it is below 2^31")]
    let whole = scaled as i64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Lua adds modulo 2^32")]
    let sum = (exponent as u32).wrapping_add(whole as u32);
    u64::from(if sum <= 0x7fff_ffff { sum } else { !sum })
}

/// `number` as a fraction from a half to one, of its sign, and a power of two.
fn split(number: f64) -> (f64, i32) {
    const FRACTION_BITS: u32 = 52;
    const EXPONENT_MASK: u64 = 0x7ff;
    const BIAS_OF_HALF: i32 = 1_022;
    if number == 0.0 || !number.is_finite() {
        return (number, 0);
    }
    let is_tiny = number.is_subnormal();
    let normal = if is_tiny { number * 18_014_398_509_481_984.0 } else { number };
    let bits = normal.to_bits();
    let raw = i32::try_from((bits >> FRACTION_BITS) & EXPONENT_MASK).unwrap_or(0);
    let exponent = raw - BIAS_OF_HALF - if is_tiny { 54 } else { 0 };
    let half = u64::try_from(BIAS_OF_HALF).unwrap_or(0) << FRACTION_BITS;
    let fraction = f64::from_bits(bits & !(EXPONENT_MASK << FRACTION_BITS) | half);
    (fraction, exponent)
}

#[cfg(test)]
mod tests {
    use super::{float_hash, split};

    #[test]
    fn a_number_is_its_fraction_times_its_power() {
        for (number, expected) in [
            (1.0, (0.5, 1)),
            (-6.5, (-0.8125, 3)),
            (0.1, (0.8, -3)),
            (5e-324, (0.5, -1_073)),
            (1e300, (0.746_610_894_803, 997)),
        ] {
            let (fraction, exponent) = split(number);
            assert!(
                (fraction - expected.0).abs() < 1e-9 && exponent == expected.1,
                "{number}: {fraction} {exponent}"
            );
        }
        assert_eq!(float_hash(f64::INFINITY), 0);
        assert_eq!(float_hash(1.5), 0x6000_0001);
        assert_eq!(float_hash(1.5), float_hash(1.5 + f64::EPSILON));
    }
}
