//! A call's arguments as a request.

use indexmap::IndexMap;

use luaplan_base::Value;

use super::failure::{Failed, bad_arguments};
use super::settings::Intervals;
use super::template::Params;

/// The two forms of a query.
#[derive(Debug)]
pub(super) enum Form<'v> {
    /// One table.
    Table(TableForm<'v>),
    /// A statement.
    Sql(&'v str),
}

/// `table`, `columns`, `where` and `order_by`.
#[derive(Debug)]
pub(super) struct TableForm<'v> {
    pub(super) table: &'v str,
    /// Empty means all.
    pub(super) columns: Vec<&'v str>,
    pub(super) condition: Option<Condition<'v>>,
    pub(super) order_by: Option<&'v str>,
}

/// The argument `where`.
#[derive(Debug)]
pub(super) enum Condition<'v> {
    Fragment(&'v str),
    /// Columns and the values they must equal.
    Equals(&'v IndexMap<String, Value>),
}

/// A call's arguments, sorted out.
#[derive(Debug)]
pub(super) struct Request<'v> {
    /// The database's name; `None` for the default one.
    pub(super) database: Option<&'v str>,
    pub(super) form: Form<'v>,
    pub(super) params: Params<'v>,
    /// The most rows wanted.
    pub(super) limit: Option<u64>,
    /// Whether decimals are kept exact; `None`: the configuration decides.
    pub(super) exact: Option<bool>,
    pub(super) intervals: Intervals,
}

impl<'v> Request<'v> {
    /// Reads the arguments.
    ///
    /// # Errors
    /// `bad_arguments`, naming the argument.
    pub(super) fn read(arguments: &'v Value) -> Result<Self, Failed> {
        let table = text(arguments, "table")?;
        let sql = text(arguments, "sql")?;
        let form = match (table, sql) {
            (Some(_), Some(_)) => return Err(bad_arguments("both `table` and `sql` are given; choose one")),
            (None, None) => return Err(bad_arguments("neither `table` nor `sql` is given")),
            (Some(table), None) => Form::Table(TableForm {
                table,
                columns: columns(arguments)?,
                condition: condition(arguments)?,
                order_by: text(arguments, "order_by")?,
            }),
            (None, Some(sql)) => {
                if let Some(stray) =
                    ["where", "columns", "order_by"].into_iter().find(|name| given(arguments, name).is_some())
                {
                    return Err(bad_arguments(format!("`{stray}` belongs to `table`, not to `sql`")));
                }
                Form::Sql(sql)
            }
        };
        let params = params(arguments)?;
        let equals = matches!(&form, Form::Table(TableForm { condition: Some(Condition::Equals(_)), .. }));
        let unused = !matches!(params, Params::List([]))
            && (equals || matches!(&form, Form::Table(TableForm { condition: None, .. })));
        if unused {
            return Err(bad_arguments("`params` is given, but there is no SQL text with placeholders"));
        }
        let (limit, exact, intervals) = (limit(arguments)?, exact(arguments)?, intervals(arguments)?);
        Ok(Self { database: text(arguments, "database")?, form, params, limit, exact, intervals })
    }
}

/// The argument, unless it is absent or null.
fn given<'v>(arguments: &'v Value, name: &str) -> Option<&'v Value> {
    arguments.get(name).filter(|value| **value != Value::Null)
}

fn wrong_kind(name: &str, expected: &str, seen: &Value) -> Failed {
    bad_arguments(format!("`{name}` must be {expected}, not {}", seen.kind()))
}

fn text<'v>(arguments: &'v Value, name: &str) -> Result<Option<&'v str>, Failed> {
    match given(arguments, name) {
        None => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => {
            Err(bad_arguments(format!("`{name}` is empty")))
        }
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_kind(name, "a string", other)),
    }
}

fn columns(arguments: &Value) -> Result<Vec<&str>, Failed> {
    match given(arguments, "columns") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.split(',').map(str::trim).collect()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().ok_or_else(|| wrong_kind("columns", "a list of strings", item)))
            .collect(),
        Some(Value::Object(members)) if members.is_empty() => Ok(Vec::new()),
        Some(other) => Err(wrong_kind("columns", "a list of strings", other)),
    }
}

fn condition(arguments: &Value) -> Result<Option<Condition<'_>>, Failed> {
    match given(arguments, "where") {
        None => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(Condition::Fragment(text))),
        Some(Value::Object(members)) if members.is_empty() => Ok(None),
        Some(Value::Object(members)) => Ok(Some(Condition::Equals(members))),
        Some(Value::Array(items)) if items.is_empty() => Ok(None),
        Some(other) => Err(wrong_kind("where", "a string, or a table of columns and values", other)),
    }
}

fn params(arguments: &Value) -> Result<Params<'_>, Failed> {
    match given(arguments, "params") {
        None => Ok(Params::List(&[])),
        Some(Value::Array(items)) => Ok(Params::List(items)),
        Some(Value::Object(members)) if members.is_empty() => Ok(Params::List(&[])),
        Some(Value::Object(members)) => Ok(Params::Named(members)),
        Some(other) => Err(wrong_kind("params", "a list, or a table with names", other)),
    }
}

fn exact(arguments: &Value) -> Result<Option<bool>, Failed> {
    match given(arguments, "exact") {
        None => Ok(None),
        Some(Value::Bool(exact)) => Ok(Some(*exact)),
        Some(other) => Err(wrong_kind("exact", "a boolean", other)),
    }
}

fn intervals(arguments: &Value) -> Result<Intervals, Failed> {
    match text(arguments, "intervals")? {
        None | Some("iso") => Ok(Intervals::Iso),
        Some("seconds") => Ok(Intervals::Seconds),
        Some(_) => Err(bad_arguments("`intervals` must be \"iso\" or \"seconds\"")),
    }
}

fn limit(arguments: &Value) -> Result<Option<u64>, Failed> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let number = match given(arguments, "limit") {
        None => return Ok(None),
        Some(Value::Integer(number)) => u64::try_from(*number).ok(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the guard checks the range"
        )]
        Some(Value::Float(number)) if number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(number) => {
            Some(*number as u64)
        }
        Some(Value::Float(_)) => None,
        Some(other) => return Err(wrong_kind("limit", "a whole number", other)),
    };
    number.map(Some).ok_or_else(|| bad_arguments("`limit` must be a whole number from 0"))
}
