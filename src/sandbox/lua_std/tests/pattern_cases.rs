//! Generated subjects, patterns and replacements.

use super::compare::{Random, TestValue};

/// What subjects are made of, and patterns now and then.
const BYTES: &[u8] = b"aaabbbcA1 -.%()[]^$\0\xff\n_";

pub(super) fn subject(random: &mut Random) -> Vec<u8> {
    let few: [u8; 3] = [random.pick(BYTES), random.pick(BYTES), random.pick(BYTES)];
    let length = random.below(24);
    (0..length).map(|_| if random.one_in(4) { random.pick(BYTES) } else { random.pick(&few) }).collect()
}

/// A pattern: of the grammar mostly, broken now and then.
pub(super) fn pattern(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    if random.one_in(6) {
        text.push(b'^');
    }
    let (mut open, mut repeats) = (0, 0);
    for _ in 0..random.below(7) {
        match random.below(14) {
            0 => {
                text.push(b'(');
                open += 1;
            }
            1 if open > 0 => {
                text.push(b')');
                open -= 1;
            }
            2 => text.extend_from_slice(b"()"),
            3 => text.extend_from_slice(&[b'%', random.pick(b"1112309")]),
            4 => text.extend_from_slice(&[b'%', b'b', random.pick(BYTES), random.pick(BYTES)]),
            5 => {
                text.extend_from_slice(b"%f");
                set(random, &mut text);
            }
            _ => {
                single(random, &mut text);
                if repeats < 5 && random.one_in(2) {
                    text.push(random.pick(b"?*+-"));
                    repeats += 1;
                }
            }
        }
    }
    for _ in 0..open {
        text.extend_from_slice(b")");
        if random.one_in(4) {
            single(random, &mut text);
        }
    }
    if random.one_in(6) {
        text.push(b'$');
    }
    if random.one_in(5) {
        break_it(random, &mut text);
    }
    text
}

fn single(random: &mut Random, text: &mut Vec<u8>) {
    match random.below(6) {
        0 => text.push(b'.'),
        1 => text.extend_from_slice(&[b'%', class(random)]),
        2 => set(random, text),
        3 => text.extend_from_slice(&[b'%', random.pick(b"%.-[]()^$+*?ab\0\xff")]),
        _ => text.push(random.pick(b"aaabbbcA1 _\0\xff]-")),
    }
}

fn class(random: &mut Random) -> u8 {
    if random.one_in(12) { random.next() as u8 } else { random.pick(b"acdglpsuwxACDGLPSUWX") }
}

fn set(random: &mut Random, text: &mut Vec<u8>) {
    text.push(b'[');
    if random.one_in(3) {
        text.push(b'^');
    }
    if random.one_in(6) {
        text.push(b']');
    }
    for _ in 0..random.below(4) {
        match random.below(5) {
            0 => text.extend_from_slice(&[b'%', class(random)]),
            1 => text.extend_from_slice(&[random.pick(b"\0 %Aa01"), b'-', random.pick(b"9%Zbz\xff")]),
            2 => text.extend_from_slice(&[b'%', random.pick(b"]%-^a")]),
            _ => text.push(random.pick(b"aab-^%[. \0\xff")),
        }
    }
    text.push(b']');
}

fn break_it(random: &mut Random, text: &mut Vec<u8>) {
    for _ in 0..=random.below(2) {
        let place = random.below(text.len() + 1);
        match random.below(3) {
            0 => text.insert(place, random.pick(b"%[]()^$*+-?bf1.\0")),
            1 if place < text.len() => {
                text.remove(place);
            }
            _ => text.truncate(place),
        }
    }
}

/// A replacement text of `gsub`.
pub(super) fn replacement(random: &mut Random) -> TestValue {
    if random.one_in(8) {
        return anything(random);
    }
    let mut text = Vec::new();
    for _ in 0..random.below(5) {
        match random.below(6) {
            0 => text.extend_from_slice(b"%%"),
            1 | 2 => text.extend_from_slice(&[b'%', random.pick(b"000111239")]),
            3 if random.one_in(4) => text.extend_from_slice(&[b'%', random.next() as u8]),
            3 if random.one_in(6) => text.push(b'%'),
            _ => text.push(random.pick(BYTES)),
        }
    }
    // A lone escape is mostly made whole, so that most cases are no errors.
    if text.ends_with(b"%") && random.one_in(2) {
        text.push(b'%');
    }
    TestValue::Text(text)
}

/// A start or a count: small mostly, of any size and kind now and then.
pub(super) fn whole_number(random: &mut Random) -> TestValue {
    match random.below(12) {
        0 => anything(random),
        1 => TestValue::Number(random.below(40) as f64 - 20.0),
        2 => TestValue::Integer(random.pick(&[i64::MIN, i64::MAX, i64::MIN + 1, i64::MAX - 1])),
        3 => TestValue::Nil,
        _ => TestValue::Integer(random.below(60) as i64 - 30),
    }
}

pub(super) fn anything(random: &mut Random) -> TestValue {
    match random.below(10) {
        0 => TestValue::Nil,
        1 => TestValue::Boolean(random.one_in(2)),
        2 => TestValue::Integer(random.next() as i64),
        3 => TestValue::Integer(random.below(200) as i64 - 100),
        4 => TestValue::Number(random.pick(&[0.5, -0.0, 1e15, 1e100, 3.0, f64::INFINITY, 0.1])),
        5 => TestValue::Table,
        6 => TestValue::Function,
        7 => TestValue::Text(random.pick(&[&b"3"[..], b" 0x10 ", b"1.5", b"1e1", b"x", b"", b"10"]).to_vec()),
        _ => TestValue::Text(subject(random)),
    }
}

/// Arguments of a function that takes a subject and a pattern first.
pub(super) fn subject_and_pattern(random: &mut Random) -> Vec<TestValue> {
    let first = if random.one_in(20) { anything(random) } else { TestValue::Text(subject(random)) };
    let second = if random.one_in(20) { anything(random) } else { TestValue::Text(pattern(random)) };
    let mut args = vec![first, second];
    if random.one_in(50) {
        args.truncate(random.below(2));
    }
    args
}
