//! Generated sources that are disturbed: here and not beside the other mutants, as they are made by running a plan.

use super::dice::Dice;

/// Cuts, doubles or moves a piece of a generated source.
pub(crate) fn disturb(source: &str, seed: u64) -> String {
    let dice = &mut Dice::new(seed);
    let border = |dice: &mut Dice| {
        let mut at = dice.below(source.len() + 1);
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (one, two) = (border(dice), border(dice));
    let (from, to) = (one.min(two), one.max(two));
    match dice.below(4) {
        0 => source[..from].to_owned(),
        1 => format!("{}{}", &source[..from], &source[to..]),
        2 => format!("{}{}{}", &source[to..], &source[from..to], &source[..from]),
        _ => {
            let end = (from..=source.len().min(from + 200)).rev().find(|at| source.is_char_boundary(*at));
            let piece = &source[from..end.unwrap_or(from)];
            format!("{}{}{}", &source[..from], piece.repeat(1 + dice.below(100)), &source[from..])
        }
    }
}
