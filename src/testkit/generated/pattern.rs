//! Texts that match a regular expression, for the expressions manifests use.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::draw::Draw;

/// How many times beyond its minimum an unbounded repetition repeats.
const REPEATED_MORE: u32 = 4;

/// The longest text made, in characters.
const CHARACTERS_MAX: usize = 10_000;

/// A text that matches `pattern`; `None` where it is invalid or uses an unsupported construct, such as
/// look-ahead.
pub(super) fn matching(pattern: &str, draw: &mut Draw) -> Option<String> {
    // Without Unicode tables `\d` and `\w` mean ASCII, which every implementation accepts.
    let mut parser = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build();
    let parsed = parser.parse(pattern).or_else(|_| regex_syntax::parse(pattern)).ok()?;
    let mut text = String::new();
    write(&parsed, draw, &mut text)?;
    Some(text)
}

fn write(expression: &Hir, draw: &mut Draw, text: &mut String) -> Option<()> {
    if text.len() > CHARACTERS_MAX {
        return None;
    }
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(one_of(class, draw)?),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min.saturating_add(REPEATED_MORE));
            let most = most.min(repetition.min.saturating_add(REPEATED_MORE));
            let count = draw.between(repetition.min.into(), most.into());
            for _ in 0..count {
                write(&repetition.sub, draw, text)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, draw, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, draw, text))?,
        HirKind::Alternation(choices) => write(draw.pick(choices)?, draw, text)?,
    }
    Some(())
}

/// A character of the class, a printable ASCII one where there is any.
fn one_of(class: &Class, draw: &mut Draw) -> Option<char> {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => {
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    let printable: Vec<(u32, u32)> = ranges
        .iter()
        .map(|(start, end)| (*start.max(&0x20), *end.min(&0x7e)))
        .filter(|(start, end)| start <= end)
        .collect();
    let (start, end) = *draw.pick(if printable.is_empty() { &ranges } else { &printable })?;
    let drawn = u32::try_from(draw.between(start.into(), end.into())).ok()?;
    char::from_u32(drawn).or_else(|| char::from_u32(start))
}
