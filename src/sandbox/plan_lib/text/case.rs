//! Characters, upper and lower case. A character is a Unicode scalar value.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::super::call::Call;
use super::super::value::{Result, Value};
use super::give;

pub(super) fn len<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    Ok(Value::Integer(call.utf8(0, "s")?.chars().count() as i64))
}

/// Characters `from` to `to`, counted as `string.sub` counts bytes.
pub(super) fn sub<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let count = text.chars().count() as i64;
    let resolve = |position: i64| if position < 0 { count + position + 1 } else { position };
    let from = resolve(call.integer(1, "from")?).max(1);
    let to = resolve(if call.is_absent(2) { -1 } else { call.integer(2, "to")? }).min(count);
    if from > to {
        return call.give("");
    }
    let (skip, take) = (from as usize - 1, (to - from + 1) as usize);
    give(call, text.chars().skip(skip).take(take).collect::<String>())
}

pub(super) fn upper<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    give(call, call.utf8(0, "s")?.to_uppercase())
}

pub(super) fn lower<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    give(call, call.utf8(0, "s")?.to_lowercase())
}

/// The first letter of each word upper case, the others lower case. An apostrophe does not start
/// a word ("don't").
pub(super) fn title<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let mut titled = String::with_capacity(text.len());
    let mut inside = false;
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            if inside {
                titled.extend(letter.to_lowercase());
            } else {
                titled.extend(letter.to_uppercase());
            }
            inside = true;
        } else {
            titled.push(letter);
            inside = inside && matches!(letter, '\'' | '\u{2019}');
        }
    }
    give(call, titled)
}

/// Lower case letters and digits joined by a separator, accents taken off.
pub(super) fn slug<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let separator = call.utf8_or(1, "separator", "-")?;
    let mut slug = String::with_capacity(text.len());
    let mut gap = false;
    for letter in text.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase) {
        if !letter.is_alphanumeric() {
            gap = gap || !matches!(letter, '\'' | '\u{2019}');
            continue;
        }
        if gap && !slug.is_empty() {
            call.charge_bytes(separator.len())?;
            slug.push_str(&separator);
        }
        gap = false;
        // Letters that Unicode does not decompose, in their usual Latin spelling.
        match letter {
            'ß' => slug.push_str("ss"),
            'æ' => slug.push_str("ae"),
            'œ' => slug.push_str("oe"),
            'ø' => slug.push('o'),
            'ł' => slug.push('l'),
            'đ' | 'ð' => slug.push('d'),
            'þ' => slug.push_str("th"),
            'ı' => slug.push('i'),
            other => slug.push(other),
        }
    }
    give(call, slug)
}
