//! The natives of the string and utf8 libraries, and `tonumber`, against the originals.

use mlua::Lua;

use super::compare::{Budget, LuaSide, Outcome, Random, TestValue, each_case, run_native};
use super::generate::{any, float, format_text, integer, near_numeral, numeral, pack_text, place, text};
use crate::lua_std::{NATIVES, Native};

/// Our natives and the originals.
const FUNCTIONS: &[(&str, &str)] = &[
    ("format", "string.format"),
    ("pack", "string.pack"),
    ("unpack", "string.unpack"),
    ("packsize", "string.packsize"),
    ("len", "string.len"),
    ("sub", "string.sub"),
    ("byte", "string.byte"),
    ("char", "string.char"),
    ("reverse", "string.reverse"),
    ("upper", "string.upper"),
    ("lower", "string.lower"),
    ("utf8.len", "utf8.len"),
    ("utf8.codepoint", "utf8.codepoint"),
    ("utf8.char", "utf8.char"),
    ("utf8.offset", "utf8.offset"),
    ("tonumber", "tonumber"),
    ("number_text", "tostring"),
    ("utf8.codes", "utf8.codes"),
    ("utf8.next", "next_code"),
    ("utf8.next_lax", "next_code_lax"),
];

fn case(r: &mut Random) -> (usize, Vec<TestValue>) {
    let which = match r.below(10) {
        0..=2 => 0,
        3 => 1,
        4 => 2,
        5 => r.pick(&[15, 16]),
        _ => r.below(FUNCTIONS.len()),
    };
    let name = FUNCTIONS[which].1;
    let mut args = Vec::new();
    match name {
        "string.format" => {
            let (format, letters) = format_text(r);
            args.push(TestValue::Text(format));
            for letter in letters {
                args.push(if r.one_in(12) {
                    any(r)
                } else {
                    match letter {
                        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
                            if r.one_in(4) {
                                TestValue::Number(integer(r) as f64)
                            } else {
                                TestValue::Integer(integer(r))
                            }
                        }
                        b'c' => TestValue::Integer(integer(r)),
                        b's' | b'q' => TestValue::Text(text(r)),
                        _ => TestValue::Number(float(r)),
                    }
                });
            }
            if r.one_in(15) {
                args.pop();
            }
        }
        "string.pack" => {
            args.push(TestValue::Text(pack_text(r)));
            for _ in 0..r.below(8) {
                args.push(match r.below(4) {
                    0 => TestValue::Text(text(r)),
                    1 => TestValue::Number(float(r)),
                    2 => TestValue::Integer(integer(r)),
                    _ => any(r),
                });
            }
        }
        "string.unpack" => {
            args.push(TestValue::Text(pack_text(r)));
            let n = r.below(40);
            args.push(TestValue::Text(
                (0..n).map(|_| if r.one_in(3) { r.pick(&[0, 0xff, 1, 5]) } else { r.next() as u8 }).collect(),
            ));
            if r.one_in(3) {
                args.push(place(r));
            }
        }
        "string.packsize" => {
            let mut s = pack_text(r);
            if r.one_in(3) {
                s.extend_from_slice(r.pick(&[
                    &b"c2147483648"[..],
                    b"c99999999999",
                    b"c214748363",
                    b"c1999999999c147483647",
                    b"c1999999999c147483639ic8",
                ]));
            }
            args.push(TestValue::Text(s));
        }
        "tostring" => {
            args.push(if r.one_in(2) { TestValue::Number(float(r)) } else { TestValue::Integer(integer(r)) });
        }
        "tonumber" => {
            args.push(if r.one_in(8) {
                any(r)
            } else if r.one_in(3) {
                TestValue::Text(numeral(r))
            } else {
                TestValue::Text(near_numeral(r))
            });
            if r.one_in(3) {
                if r.one_in(2) {
                    let n = r.below(14);
                    args[0] = TestValue::Text((0..n).map(|_| r.pick(b" 01239aAfzZ-\t")).collect());
                }
                args.push(if r.one_in(6) { any(r) } else { TestValue::Integer(r.below(40) as i64) });
            }
        }
        "string.char" | "utf8.char" => {
            for _ in 0..r.below(6) {
                args.push(if r.one_in(8) {
                    any(r)
                } else {
                    TestValue::Integer((r.next() >> (32 + r.below(31))) as i64)
                });
            }
        }
        "utf8.codes" => args.push(if r.one_in(8) { any(r) } else { TestValue::Text(text(r)) }),
        "next_code" | "next_code_lax" => {
            args.push(TestValue::Text(text(r)));
            args.push(place(r));
        }
        _ => {
            args.push(if r.one_in(8) { any(r) } else { TestValue::Text(text(r)) });
            for _ in 0..r.below(4) {
                args.push(place(r));
            }
        }
    }
    if name == "string.format" {
        // The text of a table is the prelude's to make.
        for arg in &mut args {
            if matches!(arg, TestValue::Table) {
                *arg = TestValue::Boolean(true);
            }
        }
    }
    (which, args)
}

/// What the original says as ours would say it.
fn in_our_words(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Error(message) => Outcome::Error(message.replace("'string.", "'").replace("'utf8.", "'")),
        other => other,
    }
}

/// Whether a difference is meant: pointers are refused, and bytes that are no UTF-8 stand in
/// messages as such.
fn is_meant(ours: &Outcome) -> bool {
    match ours {
        Outcome::Dead => true,
        Outcome::Error(message) => message.contains("'%p'") || message.contains('\u{FFFD}'),
        Outcome::Results(_) => false,
    }
}

fn original(name: &str) -> LuaSide {
    let iterator = |start: &str| {
        LuaSide::new(
            Lua::new(),
            &format!(
                "local next = utf8.codes({start}) local r = table.pack(next(...)) return table.unpack(r, 1, r.n)"
            ),
        )
    };
    match name {
        "next_code" => iterator("''"),
        "next_code_lax" => iterator("'', true"),
        "utf8.codes" => LuaSide::new(Lua::new(), "utf8.codes(...)"),
        name => LuaSide::original(name),
    }
}

#[test]
fn the_string_functions_do_what_the_originals_do() {
    let natives: Vec<(&Native, &str, LuaSide)> = FUNCTIONS
        .iter()
        .map(|(ours, theirs)| {
            let native = NATIVES.iter().copied().flatten().find(|native| native.name == *ours).unwrap();
            let name =
                if ours.starts_with("utf8.next") { "next" } else { theirs.rsplit('.').next().unwrap() };
            (native, name, original(theirs))
        })
        .collect();
    each_case("string functions", 20_000, |random| {
        let (which, args) = case(random);
        let (native, name, original) = &natives[which];
        let ours = run_native(native, name, &args, &Budget::new(u64::MAX, 1 << 24));
        if is_meant(&ours) {
            return;
        }
        assert_eq!(ours, in_our_words(original.call(&args)), "ours and theirs for {}{args:?}", native.name);
    });
}
