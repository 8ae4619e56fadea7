//! `string.find`, `match`, `gmatch`, `gsub` and `rep`: patterns as Lua 5.4 has them.
//!
//! The pattern is read during the match, as in the original, so that a malformed one is an error only
//! where the match gets that far. There is no recursion. Each step is counted, so the instruction limit
//! ends a pattern that would backtrack for ever.

mod class;
mod matcher;
mod repeat;
mod replace;
mod search;
mod steps;

use super::args::{Args, start_place};
use super::buffer::Buffer;
use super::{Arg, Item, Native, NativeCall, NativeError};
use matcher::{Captured, Matcher};
use steps::Steps;

/// The functions of this file.
pub(super) const NATIVES: &[Native] = &[
    Native { name: "find", run: find },
    Native { name: "match", run: match_ },
    Native { name: "gmatch", run: gmatch },
    Native { name: "gmatch_step", run: gmatch_step },
    Native { name: "gsub", run: gsub },
    Native { name: "gsub_step", run: gsub_step },
    Native { name: "rep", run: repeat::rep },
];

/// `string.find(s, pattern [, init [, plain]])`
pub(super) fn find(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let (subject, pattern) = (args.text(1)?, args.text(2)?);
    let from = start_place(args.integer_or(3, 1)?, subject.len()) - 1;
    if from > subject.len() {
        call.out.push(Item::Nil);
        return Ok(());
    }
    let mut steps = Steps::new(call.meter);
    steps.add_bytes(pattern.len())?;
    if args.truth(4) || search::is_plain(&pattern) {
        let found = search::find_plain(&subject, &pattern, from, &mut steps);
        steps.settle()?;
        match found? {
            Some(place) => {
                call.out.push(Item::Integer(place as i64 + 1));
                call.out.push(Item::Integer((place + pattern.len()) as i64));
            }
            None => call.out.push(Item::Nil),
        }
        return Ok(());
    }
    first_match(call, &subject, &pattern, from, steps, true)
}

/// `string.match(s, pattern [, init])`
pub(super) fn match_(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let (subject, pattern) = (args.text(1)?, args.text(2)?);
    let from = start_place(args.integer_or(3, 1)?, subject.len()) - 1;
    if from > subject.len() {
        call.out.push(Item::Nil);
        return Ok(());
    }
    let steps = Steps::new(call.meter);
    first_match(call, &subject, &pattern, from, steps, false)
}

fn first_match(
    call: &mut NativeCall<'_>,
    subject: &[u8],
    pattern: &[u8],
    from: usize,
    steps: Steps<'_>,
    with_place: bool,
) -> Result<(), NativeError> {
    let (anchored, pattern) = without_anchor(pattern);
    let mut matcher = Matcher::new(subject, pattern, steps);
    let found = matcher.find_from(from, anchored, None);
    let pushed = found.and_then(|found| {
        let Some((start, end)) = found else {
            call.out.push(Item::Nil);
            return Ok(());
        };
        if with_place {
            call.out.push(Item::Integer(start as i64 + 1));
            call.out.push(Item::Integer(end as i64));
            push_captures(call, &mut matcher, None)
        } else {
            push_captures(call, &mut matcher, Some((start, end)))
        }
    });
    matcher.steps.settle()?;
    pushed
}

/// A pattern, and whether it had a `^` in front.
fn without_anchor(pattern: &[u8]) -> (bool, &[u8]) {
    match pattern {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, pattern),
    }
}

/// Gives the captures of the last match back; where it has none, `whole` stands for them.
fn push_captures(
    call: &mut NativeCall<'_>,
    matcher: &mut Matcher<'_>,
    whole: Option<(usize, usize)>,
) -> Result<(), NativeError> {
    let count = matcher.capture_count();
    if count == 0
        && let Some((from, to)) = whole
    {
        return push_slice(call, matcher, from, to);
    }
    for place in 0..count {
        let captured = matcher.capture(place)?;
        push_captured(call, matcher, captured)?;
    }
    Ok(())
}

fn push_captured(
    call: &mut NativeCall<'_>,
    matcher: &mut Matcher<'_>,
    captured: Captured,
) -> Result<(), NativeError> {
    match captured {
        Captured::Position(position) => {
            call.out.push(Item::Integer(position as i64 + 1));
            Ok(())
        }
        Captured::Slice { from, to } => push_slice(call, matcher, from, to),
    }
}

/// Gives bytes of the subject back, which is the first argument or, where that is a number, its
/// text.
fn push_slice(
    call: &mut NativeCall<'_>,
    matcher: &mut Matcher<'_>,
    from: usize,
    to: usize,
) -> Result<(), NativeError> {
    matcher.steps.add(1 + (to - from) as u64 / 16)?;
    match call.arg(0) {
        Arg::Text(_) => call.out.push(Item::Slice { arg: 0, from, to }),
        _ => call.out.push_text(&matcher.subject[from..to]),
    }
    Ok(())
}

/// Gives an argument back as the text it is read as. `place` counts from 1.
fn push_argument(call: &mut NativeCall<'_>, place: usize, text: &[u8]) {
    match call.arg(place - 1) {
        Arg::Text(_) => call.out.push(Item::Arg(place - 1)),
        _ => call.out.push_text(text),
    }
}

/// The first part of `string.gmatch(s, pattern [, init])`: gives subject and pattern as texts and the
/// place where the first search starts, counted from 0.
pub(super) fn gmatch(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let (subject, pattern) = (args.text(1)?, args.text(2)?);
    let from = start_place(args.integer_or(3, 1)?, subject.len()) - 1;
    push_argument(call, 1, &subject);
    push_argument(call, 2, &pattern);
    call.out.push(Item::Integer(from.min(subject.len() + 1) as i64));
    Ok(())
}

/// `gmatch_step(s, pattern, place, last)`: the next match at or behind `place` that does not end at
/// `last`. Gives where it ends, and its captures; nothing where there is none. Both places count
/// from 0, and `last` is nil before the first match. A `^` stands for itself.
pub(super) fn gmatch_step(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let (subject, pattern, from, last) = step_arguments(call)?;
    let mut matcher = Matcher::new(&subject, &pattern, Steps::new(call.meter));
    let found = matcher.find_from(from, false, last);
    let pushed = found.and_then(|found| {
        let Some((start, end)) = found else { return Ok(()) };
        call.out.push(Item::Integer(end as i64));
        push_captures(call, &mut matcher, Some((start, end)))
    });
    matcher.steps.settle()?;
    pushed
}

type StepArguments<'a> = (std::borrow::Cow<'a, [u8]>, std::borrow::Cow<'a, [u8]>, usize, Option<usize>);

fn step_arguments<'a>(call: &NativeCall<'a>) -> Result<StepArguments<'a>, NativeError> {
    let args = Args::of(call);
    let from = usize::try_from(args.integer(3)?).unwrap_or(usize::MAX);
    let last = match args.get(4) {
        Arg::None | Arg::Nil => None,
        _ => usize::try_from(args.integer(4)?).ok(),
    };
    Ok((args.text(1)?, args.text(2)?, from, last))
}

/// `string.gsub(s, pattern, replacement [, n])`. With a text or a number as replacement this is the
/// whole function. With a function or a table it is the first part: it gives subject and pattern as
/// texts, and how many matches may be replaced.
pub(super) fn gsub(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let (subject, pattern) = (args.text(1)?, args.text(2)?);
    let most = args.integer_or(4, subject.len() as i64 + 1)?;
    let (anchored, bare) = without_anchor(&pattern);
    if matches!(args.get(3), Arg::Other("function" | "table")) {
        push_argument(call, 1, &subject);
        push_argument(call, 2, &pattern);
        call.out.push(Item::Integer(if anchored { most.min(1) } else { most }));
        return Ok(());
    }
    if !matches!(args.get(3), Arg::Text(_) | Arg::Integer(_) | Arg::Number(_)) {
        return args.wrong_type(3, "string/function/table");
    }
    let replacement = args.text(3)?;
    let mut matcher = Matcher::new(&subject, bare, Steps::new(call.meter));
    let mut text = Vec::new();
    let buffer = Buffer::new(call.meter, &mut text);
    let replaced = replace::replace(&mut matcher, anchored, &replacement, most, buffer);
    matcher.steps.settle()?;
    let count = replaced?;
    if count > 0 {
        call.out.push_text(&text);
    } else {
        push_argument(call, 1, &subject);
    }
    call.out.push(Item::Integer(count));
    Ok(())
}

/// `gsub_step(s, pattern, place, last, one)`: the next match to replace, as `gmatch_step` finds it,
/// but a `^` in front makes it match at `place` alone. Gives the two ends of the match, counted from
/// 0, and its captures, or with `one` the first of them; nothing where there is none.
pub(super) fn gsub_step(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let (subject, pattern, from, last) = step_arguments(call)?;
    let (anchored, pattern) = without_anchor(&pattern);
    let mut matcher = Matcher::new(&subject, pattern, Steps::new(call.meter));
    let found = matcher.find_from(from, anchored, last);
    let pushed = found.and_then(|found| {
        let Some((start, end)) = found else { return Ok(()) };
        call.out.push(Item::Integer(start as i64));
        call.out.push(Item::Integer(end as i64));
        if !Args::of(call).truth(5) {
            return push_captures(call, &mut matcher, Some((start, end)));
        }
        let first = matcher.numbered(0, start, end)?;
        push_captured(call, &mut matcher, first)
    });
    matcher.steps.settle()?;
    pushed
}
