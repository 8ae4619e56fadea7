//! Tables of any shape go out: as a document, or with a code that says why not.
#![no_main]

use std::fmt::Write as _;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use luaplan::base::{ErrorCode, Value};
use luaplan::support::{assert_not_ours, run};

#[derive(Debug, Arbitrary)]
enum Scalar {
    Nil,
    Boolean(bool),
    Integer(i64),
    Small(i8),
    Float(f64),
    Bytes(Vec<u8>),
    Name(u8),
    Function,
    Thread,
    Null,
}

#[derive(Debug, Arbitrary)]
enum Shape {
    None,
    EmptyObject,
    FromContext,
    EmptyList,
}

#[derive(Debug, Arbitrary)]
enum Step {
    /// A new table becomes the current one.
    Make(Shape),
    Set(Scalar, Scalar),
    Append(Scalar),
    /// The table so many back becomes a member of the current one.
    Hang(Scalar, u8),
    Nest(u8),
    Metatable(u8, u8),
    Remove(Scalar),
    GoTo(u8),
}

#[derive(Debug, Arbitrary)]
struct Plan {
    steps: Vec<Step>,
    result: u8,
    as_argument: bool,
}

fn scalar(text: &mut String, scalar: &Scalar) {
    let _ = match scalar {
        Scalar::Nil => write!(text, "nil"),
        Scalar::Boolean(value) => write!(text, "{value}"),
        Scalar::Integer(value) if *value == i64::MIN => write!(text, "math.mininteger"),
        Scalar::Integer(value) => write!(text, "({value})"),
        Scalar::Small(value) => write!(text, "({value})"),
        Scalar::Float(value) if value.is_nan() => write!(text, "(0/0)"),
        Scalar::Float(value) if value.is_infinite() => write!(text, "(1/0)"),
        Scalar::Float(value) => write!(text, "({value:e})"),
        Scalar::Bytes(bytes) => {
            text.push('"');
            for byte in bytes.iter().take(64) {
                let _ = write!(text, "\\x{byte:02x}");
            }
            text.write_char('"')
        }
        Scalar::Name(name) => write!(text, "'n{}'", name % 8),
        Scalar::Function => write!(text, "print"),
        Scalar::Thread => write!(text, "coroutine.create(print)"),
        Scalar::Null => write!(text, "c.list[2]"),
    };
}

fn key(text: &mut String, key: &Scalar) {
    match key {
        Scalar::Nil => text.push_str("'nil'"),
        Scalar::Float(value) if value.is_nan() => text.push_str("'nan'"),
        other => scalar(text, other),
    }
}

fn source(plan: &Plan) -> String {
    let mut text = "function run(c)\nlocal t, all = {}, {}\nall[1] = t\n".to_owned();
    let mut made = 1_u32;
    for step in plan.steps.iter().take(60) {
        let _ = match step {
            Step::Make(shape) => {
                made += 1;
                let new = match shape {
                    Shape::None => "{}",
                    Shape::EmptyObject => "json.object()",
                    Shape::FromContext => "c.object",
                    Shape::EmptyList => "c.list",
                };
                write!(text, "t = {new}; all[{made}] = t")
            }
            Step::Set(name, value) => {
                text.push_str("t[");
                key(&mut text, name);
                text.push_str("] = ");
                scalar(&mut text, value);
                Ok(())
            }
            Step::Append(value) => {
                text.push_str("t[#t + 1] = ");
                scalar(&mut text, value);
                Ok(())
            }
            Step::Hang(name, which) => {
                text.push_str("t[");
                key(&mut text, name);
                write!(text, "] = all[{}]", u32::from(*which) % made + 1)
            }
            Step::Nest(times) => {
                let name = if times % 2 == 0 { "1" } else { "'n'" };
                write!(text, "for _ = 1, {times} do t[{name}] = {{}}; t = t[{name}] end")
            }
            Step::Metatable(which, of) => {
                let with = u32::from(*which) % made + 1;
                let kind = ["__index", "__len", "__pairs", "__newindex", "__eq"][usize::from(of % 5)];
                write!(text, "pcall(setmetatable, t, {{ {kind} = all[{with}] }})")
            }
            Step::Remove(name) => {
                text.push_str("t[");
                key(&mut text, name);
                text.push_str("] = nil");
                Ok(())
            }
            Step::GoTo(which) => write!(text, "t = all[{}]", u32::from(*which) % made + 1),
        };
        text.push('\n');
    }
    let result = u32::from(plan.result) % made + 1;
    let _ = match plan.as_argument {
        true => write!(text, "local x = echo(all[{result}])\nreturn x\nend"),
        false => write!(text, "return all[{result}]\nend"),
    };
    text
}

fuzz_target!(|plan: Plan| {
    let source = source(&plan);
    let context = Value::from_json_text(r#"{"object":{"z":1,"n1":null,"n2":{}},"list":[1,null,[]]}"#);
    let stopped = run(&source, &context.expect("the context"));
    assert_not_ours(&stopped);
    match stopped.result {
        Ok(value) => {
            // What came out has a JSON form that says the same.
            let again = Value::from_json(value.to_json()).expect("plain form");
            assert!(again == value || value.to_json() == again.to_json(), "{source}");
        }
        Err(error) => {
            let code = error.code();
            let expected = code.as_str().starts_with("value_")
                || code.as_str().starts_with("limit_")
                // A metatable of the plan's own may make one of the assignments fail.
                || code == ErrorCode::PlanError;
            assert!(expected, "{source}\n{error}");
        }
    }
});
