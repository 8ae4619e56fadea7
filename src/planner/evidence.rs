//! A message of a run without the data in it.
//!
//! A plan's error message can hold anything a tool or the context gave it. The model gets only words it
//! already knows: those of its own program, and those that Lua and luaplan use in messages. Every other
//! word becomes `…`, so that neither data nor an instruction hidden in it can pass.

use std::collections::BTreeSet;

/// Words of Lua's and luaplan's own messages, and of those of databases about a statement.
const MESSAGE_WORDS: &str = "\
    a aggregate ambiguous an and any appear are argument arguments arithmetic array at attempt bad before big \
    bitwise boolean bound but by call called calls cannot cast character characters clause closed column comparator \
    compare compared concatenate constant conversion converted coroutine database dead deep depth divide does empty \
    error escape exceeded exist exists expected expects expression failed field file finite float for format found \
    from function global got group handler has hash have here huge in index initial inside instructions integer into \
    invalid is it iterator json key keys later length less level limit line list local long looked loop lua \
    malformed many math may memory message metamethod method milliseconds missing must name named near negative \
    nested never nil no not number numeric object of on one operator or out overflow parallel pattern perform \
    permitted plan position positive possible query range reached read relation representation result \
    results retry return returned row rows run schema select short size so spelled sqlstate stack statement step \
    string strings subscript such suspended syntax table test text than that the there this thread times to too \
    traceback type unbalanced unexpected unfinished unknown upvalue use used using value values was were when \
    where while with wrong yield zero";

/// Longer messages are cut before they are read.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// `message` with every word that is neither in `source` nor one of [`MESSAGE_WORDS`] left out.
pub(super) fn without_data(message: &str, source: &str) -> String {
    let known: BTreeSet<&str> = words(source).chain(MESSAGE_WORDS.split_whitespace()).collect();
    let mut text = String::new();
    let mut rest: &str = &message.chars().take(MESSAGE_CHARS_MAX).collect::<String>();
    while let Some(first) = rest.chars().next() {
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(end);
        rest = after;
        if !is_word(first) {
            match first {
                _ if first.is_whitespace() || first.is_control() => push_space(&mut text),
                _ if first.is_ascii_punctuation() => text.push(first),
                _ => push_gap(&mut text),
            }
        } else if known.contains(token)
            || known.contains(token.to_lowercase().as_str())
            || is_ordinal(&text, token)
        {
            text.push_str(token);
        } else {
            push_gap(&mut text);
        }
    }
    text.trim().to_owned()
}

/// The `1` of `argument #1`.
fn is_ordinal(before: &str, token: &str) -> bool {
    before.ends_with('#') && token.len() == 1 && token.bytes().all(|byte| byte.is_ascii_digit())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn push_space(text: &mut String) {
    if !text.ends_with(' ') {
        text.push(' ');
    }
}

/// Adjacent gaps show as one, so that not even the number of words passes.
fn push_gap(text: &mut String) {
    let before = text.trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    if before.ends_with('…') {
        text.truncate(before.len());
    } else {
        text.push('…');
    }
}
