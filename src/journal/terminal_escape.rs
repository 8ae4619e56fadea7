//! Text that cannot control a terminal or disguise its reading order.

use std::fmt::Write as _;

/// `text` with everything visible that could control a terminal or hide from a reader.
///
/// Control characters (ANSI escapes begin with one), line and paragraph separators, direction
/// marks and overrides, byte order marks and tag characters become `\u{…}`; carriage return
/// becomes `\r`. Line feed and tab stay, and so does everything else.
#[must_use]
pub fn neutralize(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => safe.push(character),
            '\r' => safe.push_str("\\r"),
            _ if is_unsafe(character) => {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(character));
            }
            _ => safe.push(character),
        }
    }
    safe
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{2060}'..='\u{2064}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
