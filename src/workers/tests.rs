//! The wire: every value survives a round trip, and invalid bytes are refused.

use bytes::Bytes;
use proptest::prelude::*;

use luaplan_base::{
    CallArguments, CallId, CallOutcome, CallRequest, Error, ErrorCode, StepReport, StepState, ToolFailure,
    Value,
};
use luaplan_vm::VmUsage;

use super::message::{
    Call, Ended, FromWorker, MessageFault, Outcome, Output, PROTOCOL_VERSION, ToWorker, WireError, decode,
    decode_first, encode, encode_first,
};
use super::session::is_possible;

const LIMIT_BYTES: u64 = 1 << 30;

fn report(name: &str) -> StepReport {
    StepReport {
        name: name.to_owned(),
        state: StepState::Running,
        line: Some(3),
        depends_on: vec!["before".to_owned()],
        attempts: 0,
        attempts_max: 1,
        code: None,
        message: None,
        printed_bytes: 7,
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_map(Value::Float),
        any::<String>().prop_map(Value::String),
        any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(Bytes::from(bytes))),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let members = prop::collection::vec((any::<String>(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::Array),
            members.clone().prop_map(|members| Value::Object(members.into_iter().collect())),
            (any::<String>(), any::<bool>(), members).prop_map(|(message, retryable, members)| {
                Value::Failure(Box::new(ToolFailure {
                    code: "mine".to_owned(),
                    message,
                    retryable,
                    details: members.into_iter().collect(),
                }))
            }),
        ]
    })
}

fn body(frame: &[u8]) -> &[u8] {
    &frame[4..]
}

fn through(value: &Value) -> Value {
    let frame = encode(&ToWorker::Answers(vec![Outcome::Good(value.clone())]), LIMIT_BYTES).unwrap();
    match decode(body(&frame)).unwrap() {
        ToWorker::Answers(mut outcomes) => match outcomes.remove(0) {
            Outcome::Good(value) => value,
            other @ Outcome::Failed(_) => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// As `==`, but bit for bit and with the order of keys.
fn printed(value: &Value) -> String {
    match value {
        Value::Float(number) => format!("{:x}", number.to_bits()),
        Value::Array(items) => format!("{:?}", items.iter().map(printed).collect::<Vec<_>>()),
        Value::Object(members) => {
            format!("{:?}", members.iter().map(|(name, value)| (name, printed(value))).collect::<Vec<_>>())
        }
        Value::Failure(failure) => format!(
            "{} {} {} {}",
            failure.code,
            failure.message,
            failure.retryable,
            printed(&Value::Object(failure.details.clone()))
        ),
        other => format!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn a_value_comes_back_bit_for_bit(value in values()) {
        prop_assert_eq!(printed(&through(&value)), printed(&value));
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in any::<Vec<u8>>()) {
        let _ = decode::<FromWorker>(&bytes);
        let _ = decode::<ToWorker>(&bytes);
        let _ = decode_first::<super::message::Hello>(&bytes);
    }

    #[test]
    fn a_frame_with_one_byte_changed_or_cut_is_read_or_refused(value in values(), at in any::<usize>(), to in any::<u8>()) {
        let message = FromWorker::Done {
            result: Ended::Returned(value),
            output: Output { printed: "x".into(), reports: vec![report("load")] },
            usage: VmUsage::default().into(),
        };
        let mut frame = encode(&message, LIMIT_BYTES).unwrap();
        let place = 4 + at % (frame.len() - 4);
        prop_assert!(decode::<FromWorker>(&frame[4..place]).is_err(), "a part was taken for the whole");
        frame[place] = to;
        let _ = decode::<FromWorker>(body(&frame));
    }
}

#[test]
fn not_a_number_keeps_its_bits() {
    for bits in [f64::NAN.to_bits(), f64::NAN.to_bits() | 1, (-f64::NAN).to_bits(), (-0.0_f64).to_bits()] {
        match through(&Value::Float(f64::from_bits(bits))) {
            Value::Float(number) => assert_eq!(number.to_bits(), bits),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn depth_and_number_of_nodes_are_capped_while_reading() {
    let mut deep = Value::Null;
    for _ in 0..255 {
        deep = Value::Array(vec![deep]);
    }
    assert_eq!(through(&deep), deep);
    let deeper = Value::Array(vec![deep]);
    let refused = encode(&ToWorker::Answers(vec![Outcome::Good(deeper)]), LIMIT_BYTES);
    assert!(matches!(refused, Err(MessageFault::Content(_))));
    // Endlessly nested lists, as an attacker could encode them.
    let mut bytes = vec![2, 0];
    bytes.extend([7, 1].repeat(1_000_000));
    let refused = decode::<FromWorker>(&bytes).map(drop).unwrap_err().to_string();
    assert!(!refused.is_empty());
    let many = Value::Array(vec![Value::Null; usize::try_from(super::value_codec::NODES_MAX).unwrap()]);
    let frame = encode(&ToWorker::Answers(vec![Outcome::Good(many)]), LIMIT_BYTES).unwrap();
    assert!(decode::<ToWorker>(body(&frame)).is_err());
}

#[test]
fn an_error_comes_back_whole_and_made_up_codes_are_refused() {
    let error = Error::new(ErrorCode::LimitMemory, "too much")
        .with_limit(7, 8.5)
        .with_help("less")
        .with_detail("line", 3)
        .with_detail("more", serde_json::json!({ "a": [null] }));
    let frame = encode(&Ended::Broke(WireError::from(&error)), LIMIT_BYTES).unwrap();
    let Ended::Broke(fault) = decode(body(&frame)).unwrap() else { panic!() };
    assert_eq!(fault.into_error().unwrap().to_json(), error.to_json());
    let text = String::from_utf8_lossy(body(&frame)).replace("limit_memory", "limit_mexory");
    let Ended::Broke(fault) = decode(text.as_bytes()).unwrap() else { panic!() };
    assert!(fault.into_error().unwrap_err().contains("limit_mexory"));
}

#[test]
fn calls_and_failures_come_back() {
    let call = CallRequest {
        id: CallId::branch(3, 1),
        tool: "query_db".into(),
        arguments: CallArguments(vec![Value::Null, Value::from("x")]),
        line: Some(7),
    };
    let frame = encode(&Call::from(call), LIMIT_BYTES).unwrap();
    let call: Call = decode(body(&frame)).unwrap();
    assert!(call.is_branch && call.tool == "query_db" && call.line == Some(7));
    assert_eq!(call.arguments, [Value::Null, Value::from("x")]);
    let failure = ToolFailure::new(ErrorCode::HttpStatus, "no").retryable().with_detail("status", 503);
    let frame = encode(&Outcome::from(Err(failure.clone())), LIMIT_BYTES).unwrap();
    let outcome: CallOutcome = decode::<Outcome>(body(&frame)).unwrap().into();
    assert_eq!(outcome, Err(failure));
}

#[test]
fn another_magic_or_version_is_refused_by_name() {
    let frame = encode_first(&7_u8).unwrap();
    assert_eq!(decode_first::<u8>(body(&frame)).unwrap(), 7);
    let mut newer = frame.clone();
    newer[12] += 1;
    let refused = decode_first::<u8>(body(&newer)).unwrap_err().to_string();
    assert!(refused.contains(&format!("version {}", PROTOCOL_VERSION + 1)), "{refused}");
    let mut other = frame;
    other[4] = b'X';
    assert!(decode_first::<u8>(body(&other)).is_err());
}

#[test]
fn a_report_that_no_vm_makes_is_refused() {
    assert!(is_possible(&report("load")) && is_possible(&report(&"é".repeat(50))));
    for name in ["", "a\nb", &"x".repeat(101)] {
        assert!(!is_possible(&report(name)), "{name:?}");
        assert!(!is_possible(&StepReport { depends_on: vec![name.to_owned()], ..report("load") }));
    }
    let others = [
        StepReport { state: StepState::Pending, ..report("load") },
        StepReport { depends_on: vec!["a".to_owned(); 33], ..report("load") },
        StepReport { message: Some("x".repeat(2_001)), ..report("load") },
        StepReport { code: Some("x".repeat(2_001)), ..report("load") },
    ];
    for report in others {
        assert!(!is_possible(&report), "{report:?}");
    }
}
