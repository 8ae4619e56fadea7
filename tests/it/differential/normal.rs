//! Takes off what the sandbox does differently on purpose.

use luaplan::base::Value;

use super::outcome::{End, Outcome};

/// What both sides say differently on purpose: which function a message about an argument names
/// (its own name, or the whole one) and whether it has a position; an argument left out is nil; tables
/// have numbers for addresses.
fn plain_words(text: &str) -> String {
    let mut text = text.replace("got no value", "got nil").replace(" 'stock_", " '");
    for library in ["string", "table", "math", "coroutine", "utf8"] {
        text = text.replace(&format!(" to '{library}."), " to '");
    }
    for kind in ["table: ", "function: ", "thread: "] {
        let mut from = 0;
        while let Some(at) = text[from..].find(kind).map(|at| from + at + kind.len()) {
            let digits =
                text[at..].bytes().take_while(|byte| byte.is_ascii_hexdigit() || *byte == b'x').count();
            if digits > 0 {
                text.replace_range(at..at + digits, "?");
            }
            from = at;
        }
    }
    for prefix in ["plan.lua:", "harness:"] {
        let mut from = 0;
        while let Some(at) = text[from..].find(prefix).map(|at| from + at) {
            let digits = text[at + prefix.len()..].bytes().take_while(u8::is_ascii_digit).count();
            let end = at + prefix.len() + digits;
            from = end;
            let said = [": bad argument", ": invalid UTF-8 code", ": attempt to yield", ": cannot change a"]
                .into_iter()
                .find(|said| text[end..].starts_with(said));
            if said.is_some() {
                text.replace_range(at..end + 2, "");
                from = 0;
            }
        }
    }
    text
}

/// The outcome of Lua.
pub(crate) fn lua(mut outcome: Outcome) -> Outcome {
    rewrite(&mut outcome, &plain_words);
    if let End::Failed(_, message) = &mut outcome.end {
        *message = match position(message, "plan.lua:", ':') {
            Some((line, rest)) => format!("line {line}: {rest}"),
            None => message.clone(),
        };
    }
    outcome
}

/// The outcome of ours, for comparison with that of Lua. Ours names a line even where Lua does not.
pub(crate) fn ours(mut outcome: Outcome, lua: &Outcome) -> Outcome {
    rewrite(&mut outcome, &plain_words);
    if let (End::Failed(_, message), End::Failed(_, said)) = (&mut outcome.end, &lua.end) {
        if let (Some((_, rest)), None) = (position(message, "line ", ':'), position(said, "line ", ':')) {
            *message = rest.to_owned();
        }
        *message = message.replace("the plan raised a", "raised a");
    }
    outcome
}

/// Changes every text a program gave out.
fn rewrite(outcome: &mut Outcome, change: &impl Fn(&str) -> String) {
    outcome.printed = change(&outcome.printed);
    match &mut outcome.end {
        End::Failed(_, message) => *message = change(message),
        End::Returned(Value::Array(items)) => {
            for item in items {
                if let Value::String(text) = item {
                    *text = change(text);
                }
            }
        }
        End::Returned(_) | End::Unjudged(_) => {}
    }
}

fn position<'a>(message: &'a str, prefix: &str, end: char) -> Option<(&'a str, &'a str)> {
    let (line, rest) = message.strip_prefix(prefix)?.split_once(end)?;
    line.bytes().all(|byte| byte.is_ascii_digit()).then(|| (line, rest.strip_prefix(' ').unwrap_or(rest)))
}
