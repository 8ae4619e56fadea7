//! Values in PostgreSQL's binary parameter format, where the declared type has a simple one.

use sqlx::encode::{Encode, IsNull};
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo};
use sqlx::{Arguments, Postgres, Type, TypeInfo};

use luaplan_base::Value;

use super::super::failure::{Failed, bad_arguments, query_failed};

/// One parameter, ready to send; `bytes` is `None` for NULL.
#[derive(Debug)]
pub(super) struct Encoded {
    bytes: Option<Vec<u8>>,
    info: PgTypeInfo,
}

impl Type<Postgres> for Encoded {
    fn type_info() -> PgTypeInfo {
        <str as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Encoded {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, sqlx::error::BoxDynError> {
        match &self.bytes {
            Some(bytes) => {
                buffer.extend_from_slice(bytes);
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        }
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(self.info.clone())
    }
}

/// All parameters together.
pub(super) fn arguments(parameters: Vec<Encoded>) -> Result<PgArguments, Failed> {
    let mut arguments = PgArguments::default();
    for parameter in parameters {
        let added = arguments.add(parameter);
        added.map_err(|error| query_failed(format!("a parameter cannot be sent: {error}")))?;
    }
    Ok(arguments)
}

/// The value in the binary form of the declared type; `None` where the server must convert it
/// from text. `cast` is the type the server will convert it to, once that is arranged.
///
/// # Errors
/// `bad_arguments` for bytes that are not text where the database wants no bytes.
pub(super) fn encode(
    info: &PgTypeInfo,
    value: &Value,
    cast: Option<&str>,
) -> Result<Option<Encoded>, Failed> {
    let encoded = |bytes: Vec<u8>| Some(Encoded { bytes: Some(bytes), info: info.clone() });
    if *value == Value::Null {
        return Ok(Some(Encoded { bytes: None, info: info.clone() }));
    }
    if matches!(value, Value::Bytes(_)) && info.name() != "BYTEA" {
        return Err(bad_arguments(format!(
            "a parameter holds bytes that are not text, where the database wants {}",
            info.name()
        )));
    }
    if let Some(cast) = cast {
        return Ok(encoded(text(value, cast.ends_with("[]")).into_bytes()));
    }
    Ok(match (info.name(), value) {
        ("BOOL", Value::Bool(boolean)) => encoded(vec![u8::from(*boolean)]),
        ("INT2", value) => integer(value)
            .and_then(|number| i16::try_from(number).ok())
            .and_then(|number| encoded(number.to_be_bytes().into())),
        ("INT4", value) => integer(value)
            .and_then(|number| i32::try_from(number).ok())
            .and_then(|number| encoded(number.to_be_bytes().into())),
        ("INT8", value) => integer(value).and_then(|number| encoded(number.to_be_bytes().into())),
        #[expect(clippy::cast_precision_loss, reason = "as the server itself converts")]
        ("FLOAT8", Value::Integer(number)) => encoded((*number as f64).to_be_bytes().into()),
        ("FLOAT8", Value::Float(number)) => encoded(number.to_be_bytes().into()),
        ("BYTEA", value) => value.as_bytes().and_then(|bytes| encoded(bytes.to_vec())),
        ("JSON", value) => encoded(json_text(value).into_bytes()),
        ("JSONB", value) => {
            // The version of the binary form, then the text.
            let mut bytes = vec![1];
            bytes.extend_from_slice(json_text(value).as_bytes());
            encoded(bytes)
        }
        ("TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "citext", value) => {
            encoded(text(value, false).into_bytes())
        }
        _ => None,
    })
}

fn integer(value: &Value) -> Option<i64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Integer(number) => Some(*number),
        #[expect(clippy::cast_possible_truncation, reason = "the guard checks the range")]
        Value::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT_MAX => Some(*number as i64),
        _ => None,
    }
}

/// Text is taken as JSON that is already written.
fn json_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_json().to_string(),
    }
}

/// The value as PostgreSQL would read it from text.
fn text(value: &Value, array: bool) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if array => array_literal(items),
        Value::Float(number) if number.fract() == 0.0 => format!("{number:.0}"),
        value => value.to_json().to_string(),
    }
}

/// `{1,2,NULL,"a b"}`, nested for lists of lists.
fn array_literal(items: &[Value]) -> String {
    let items = items.iter().map(|item| match item {
        Value::Null => "NULL".to_owned(),
        Value::Array(items) => array_literal(items),
        item => format!("\"{}\"", text(item, false).replace('\\', "\\\\").replace('"', "\\\"")),
    });
    format!("{{{}}}", items.collect::<Vec<_>>().join(","))
}
