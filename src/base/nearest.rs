//! "Did you mean …": the known name nearest to an unknown one.

/// The name in `known` nearest to `unknown`, if any is near enough for a typing error.
///
/// Near means one of: at most a third of the letters differ (a swap of two neighbours counts once), one name
/// is the other plus a part set off by `_` or `.`, one is a prefix of the other, or `unknown` lacks
/// letters between the first and the last.
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The comparison is quadratic, and longer names are not typed by hand.
    const LENGTH_MAX: usize = 64;
    if unknown.is_empty() || unknown.len() > LENGTH_MAX {
        return None;
    }
    let wanted = unknown.to_lowercase();
    known
        .into_iter()
        .filter(|name| name.len() <= LENGTH_MAX && *name != unknown)
        .filter_map(|name| score(&wanted, &name.to_lowercase()).map(|score| (score, name)))
        .min_by_key(|(score, _)| *score)
        .map(|(_, name)| name)
}

fn score(wanted: &str, name: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (wanted.chars().collect(), name.chars().collect());
    let distance = distance(&a, &b);
    let longest = a.len().max(b.len());
    if distance * 3 <= longest || distance == 1 && longest > 1 {
        return Some(distance);
    }
    let is_part = |whole: &str, part: &str| {
        part.len() >= 3 && whole.split(['_', '.']).any(|piece| piece == part)
            || part.contains('_') && whole.contains(part)
    };
    let begins = |whole: &str, part: &str| part.len() >= BEGINNING_LETTERS_MIN && whole.starts_with(part);
    let is_longer = is_part(name, wanted) || is_part(wanted, name);
    (is_longer || begins(name, wanted) || begins(wanted, name) || is_abbreviation(&a, &b)).then_some(longest)
}

/// Shorter common prefixes occur by chance.
const BEGINNING_LETTERS_MIN: usize = 4;

/// Whether `short` is `long` without some inner letters, at most half of them: `fmt` of `format`.
fn is_abbreviation(short: &[char], long: &[char]) -> bool {
    let mut left = long.iter();
    short.len() >= 3
        && short.len() * 2 >= long.len()
        && short.first() == long.first()
        && short.last() == long.last()
        && short.iter().all(|letter| left.any(|other| other == letter))
}

/// Edit distance where a swap of neighbours is one edit.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = change.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
