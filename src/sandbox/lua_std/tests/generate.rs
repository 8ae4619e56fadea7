//! Arguments for natives: numbers, numerals, texts, formats, at their edges more often than not.

use super::compare::{Random, TestValue};

pub(super) fn integer(r: &mut Random) -> i64 {
    match r.below(8) {
        0 => r.pick(&[i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, 0, -1, 1]),
        1 => r.next() as i64,
        2 => (r.next() >> r.below(64)) as i64,
        3 => r.below(300) as i64,
        4 => 1_i64.wrapping_shl(r.below(64) as u32).wrapping_add(r.below(3) as i64 - 1),
        _ => r.below(24) as i64 - 12,
    }
}
pub(super) fn float(r: &mut Random) -> f64 {
    match r.below(10) {
        0 => r.pick(&[
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            2.5e-310,
            9_007_199_254_740_993.0,
            1e15,
            1e16,
            1e100,
            0.1,
            0.5,
            1.5,
            2.5,
            1e-5,
            1e-4,
            123456.5,
        ]),
        1 => f64::from_bits(r.next()),
        2 => integer(r) as f64,
        3 => (r.below(2_000_000) as f64 - 1e6) / 8.0,
        4 => (r.below(2_000_000) as f64 - 1e6) / 1000.0,
        5 => f64::from_bits(r.next() >> 12), // subnormal
        6 => r.next() as f64 / u64::MAX as f64,
        7 => f64::from((r.next() as u32 as i32) >> r.below(31)),
        8 => f64::from(f32::from_bits(r.next() as u32)),
        _ => format!("{}e{}", r.below(100_000), r.below(640) as i64 - 330).parse().unwrap(),
    }
}
pub(super) fn numeral(r: &mut Random) -> Vec<u8> {
    let mut s = Vec::new();
    for _ in 0..r.below(12) {
        let piece: &[u8] = r.pick(&[
            &b"0"[..],
            b"1",
            b"9",
            b"5",
            b"0x",
            b"0X",
            b".",
            b"e",
            b"E",
            b"p",
            b"P",
            b"+",
            b"-",
            b"a",
            b"F",
            b" ",
            b"\t",
            b"\0",
            b"inf",
            b"nan",
            b"99",
            b"0000",
            b"308",
            b"9223372036854775807",
            b"e-3",
            b"p-1074",
            b"p+4",
            b"\x0b",
            b"\xff",
            b"_",
            b"z",
        ]);
        s.extend_from_slice(piece);
    }
    s
}
pub(super) fn near_numeral(r: &mut Random) -> Vec<u8> {
    let mut s = Vec::new();
    for _ in 0..r.below(3) {
        s.push(r.pick(b" \t\n\x0b\x0c\r"));
    }
    match r.below(4) {
        0 => s.push(b'-'),
        1 => s.push(b'+'),
        _ => {}
    }
    match r.below(4) {
        0 => {
            s.extend_from_slice(r.pick(&[&b"0x"[..], b"0X"]));
            for _ in 0..r.below(20) {
                s.push(r.pick(b"0123456789abcdefABCDEF000"));
            }
            if r.one_in(2) {
                s.push(b'.');
                for _ in 0..r.below(20) {
                    s.push(r.pick(b"0123456789abcdef000"));
                }
            }
            if r.one_in(2) {
                s.extend_from_slice(format!("p{}", r.below(2400) as i64 - 1200).as_bytes());
            }
        }
        1 => s.extend_from_slice(format!("{}", float(r)).as_bytes()),
        2 => s.extend_from_slice(format!("{}", integer(r)).as_bytes()),
        _ => {
            for _ in 0..r.below(24) {
                s.push(r.pick(b"0123456789"));
            }
            if r.one_in(2) {
                s.push(b'.');
                for _ in 0..r.below(30) {
                    s.push(r.pick(b"0123456789000"));
                }
            }
            if r.one_in(2) {
                s.extend_from_slice(format!("e{}", r.below(700) as i64 - 350).as_bytes());
            }
        }
    }
    for _ in 0..r.below(2) {
        s.push(r.pick(b" \t\n\x0b\x0c\r"));
    }
    s
}
pub(super) fn text(r: &mut Random) -> Vec<u8> {
    match r.below(9) {
        0 => numeral(r),
        1 | 2 => near_numeral(r),
        3 => {
            let n = r.below(150);
            (0..n).map(|_| r.next() as u8).collect()
        }
        4 => {
            let n = r.below(8);
            (0..n).map(|_| r.pick(b"ab\0\n\"\\\r1\x7f\xff")).collect()
        }
        5 | 6 => {
            let mut s = Vec::new();
            for _ in 0..r.below(12) {
                let piece: &[u8] = r.pick(&[
                    &b"a"[..],
                    "é".as_bytes(),
                    "漢".as_bytes(),
                    "😀".as_bytes(),
                    b"\xed\xa0\x80",
                    b"\xf4\x90\x80\x80",
                    b"\xfd\xbf\xbf\xbf\xbf\xbf",
                    b"\xc0\x80",
                    b"\x80",
                    b"\xc3",
                    b"\xfe",
                    b"\xf8\x88\x80\x80\x80",
                    b"\0",
                    b"\xfc\x84\x80\x80\x80\x80",
                    b"\xe2\x82",
                ]);
                s.extend_from_slice(piece);
            }
            s
        }
        _ => {
            let n = r.below(20);
            (0..n).map(|_| b' ' + r.below(95) as u8).collect()
        }
    }
}
pub(super) fn any(r: &mut Random) -> TestValue {
    match r.below(12) {
        0 => TestValue::Nil,
        1 => TestValue::Boolean(r.one_in(2)),
        2 => TestValue::Table,
        3..=5 => TestValue::Integer(integer(r)),
        6..=8 => TestValue::Number(float(r)),
        _ => TestValue::Text(text(r)),
    }
}
pub(super) fn place(r: &mut Random) -> TestValue {
    if r.one_in(8) {
        any(r)
    } else if r.one_in(6) {
        TestValue::Number(r.below(20) as f64 - 10.0)
    } else {
        TestValue::Integer(integer(r))
    }
}

pub(super) fn format_text(r: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let (mut s, mut letters) = (Vec::new(), Vec::new());
    for _ in 0..=r.below(3) {
        if r.one_in(4) {
            s.extend_from_slice(&text(r));
        }
        s.push(b'%');
        if r.one_in(2) {
            for _ in 0..r.below(4) {
                s.push(r.pick(b"-+ #0"));
            }
        }
        if r.one_in(2) {
            s.extend_from_slice(
                format!("{}", {
                    let most = if r.one_in(9) { 200 } else { 40 };
                    r.below(most)
                })
                .as_bytes(),
            );
        }
        if r.one_in(2) {
            s.push(b'.');
            if !r.one_in(5) {
                s.extend_from_slice(
                    format!("{}", {
                        let most = if r.one_in(5) { 101 } else { 22 };
                        r.below(most)
                    })
                    .as_bytes(),
                );
            }
        }
        let letter = if r.one_in(30) { r.next() as u8 } else { r.pick(b"diucxXoeEfgGaAqss%") };
        if letter == b'p' {
            s.push(b'd');
        } else {
            s.push(letter);
        }
        letters.push(letter);
    }
    (s, letters)
}
pub(super) fn pack_text(r: &mut Random) -> Vec<u8> {
    let mut s = Vec::new();
    for _ in 0..r.below(7) {
        let piece: &[u8] = r.pick(&[
            &b"b"[..],
            b"B",
            b"h",
            b"H",
            b"l",
            b"L",
            b"j",
            b"J",
            b"T",
            b"f",
            b"n",
            b"d",
            b"i",
            b"I",
            b"s",
            b"z",
            b"x",
            b"X",
            b" ",
            b"<",
            b">",
            b"=",
            b"!",
            b"c",
            b"i3",
            b"I7",
            b"i16",
            b"I16",
            b"i9",
            b"s1",
            b"s2",
            b"s4",
            b"c0",
            b"c5",
            b"c12",
            b"!4",
            b"!2",
            b"!16",
            b"!3",
            b"Xi4",
            b"Xd",
            b"Xc4",
            b"i17",
            b"i0",
            b"s0",
            b"c70000",
            b"q",
            b"\0",
            b"\xff",
            b"X>",
            b"i4",
            b"I1",
        ]);
        s.extend_from_slice(piece);
    }
    s
}
