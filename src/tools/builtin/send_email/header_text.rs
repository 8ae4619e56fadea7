//! The texts allowed in a header: one line of visible text without hidden meaning.

/// Longest subject, name or file name shown in a failure.
const SHOWN_CHARS_MAX: usize = 80;

/// Refuses what could start another header, hide or reorder text, or be decoded into that.
pub(super) fn check(text: &str) -> Result<(), String> {
    if let Some(character) = text.chars().find(|character| is_unfit(*character)) {
        return Err(format!(
            "holds the character U+{:04X}; line breaks, control and text direction characters are not allowed",
            u32::from(character)
        ));
    }
    // RFC 2047: a reader would decode this into text that was not checked.
    if text.split_once("=?").is_some_and(|(_, rest)| rest.contains("?=")) {
        return Err("holds an encoded word (`=?…?=`); write the text itself".to_owned());
    }
    Ok(())
}

fn is_unfit(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{FEFF}')
        || is_direction(character)
}

fn is_direction(character: char) -> bool {
    matches!(character, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Text for a message: its start, with everything unfit as escapes.
pub(super) fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// A server's words, safe for a message: one line without control characters, cut to a length.
pub(super) fn neutralize(text: &str) -> String {
    const REPLY_CHARS_MAX: usize = 400;
    let spaced = text.chars().map(|character| if is_unfit(character) { ' ' } else { character });
    spaced.take(REPLY_CHARS_MAX).collect::<String>().trim().to_owned()
}
