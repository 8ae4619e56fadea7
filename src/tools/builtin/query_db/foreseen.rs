//! Calls that a plan may make, before it runs: whether they are allowed, and what the database says of their statement.
//!
//! What is not known of a call is left out of its statement, or is NULL in it: what is refused then is refused whatever
//! it would be.

use indexmap::IndexMap;
use serde_json::Value as Json;

use luaplan_base::{ErrorCode, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Prepared};

use super::compose::compose;
use super::database::Database;
use super::dialect::Dialect;
use super::failure::Failed;
use super::lex::{Token, TokenKind, lex};
use super::request::{Form, Request};
use super::result_columns::{self, ResultColumn};
use super::settings::Decimals;
use super::statement::{Statement, StatementKind};
use super::template::Params;
use super::{Describe, QueryDb};

/// Arguments without which a statement is still one.
const LEFT_OUT: [&str; 6] = ["where", "columns", "order_by", "limit", "exact", "intervals"];

/// Classes of SQLSTATE that tell of the statement itself: its names and syntax, its constants, features that the database
/// lacks, the number of its columns.
const OF_THE_STATEMENT: [&str; 4] = ["42", "22", "0A", "21"];

/// The server cannot tell the type of a value, which it may once there is one.
const TYPE_UNKNOWN: &str = "42P18";

/// What is known of a call, with its statement at least.
struct Shown {
    arguments: Value,
    has_any_params: bool,
}

impl Shown {
    /// `None` where the statement or table is not known.
    fn of(call: &ForeseenCall) -> Option<Self> {
        if !call.is_certain("sql") || !call.is_certain("table") {
            return None;
        }
        let mut known = call.known.clone();
        for name in LEFT_OUT {
            if call.partly.contains(name) {
                known.shift_remove(name);
            }
        }
        if let (true, Some(Value::Object(columns))) = (call.partly.contains("where"), call.known.get("where"))
        {
            known.insert("where".to_owned(), Value::Object(without_lists(columns)));
        }
        let is_table = matches!(known.get("table"), Some(Value::String(_)));
        let has_condition = known.get("where").is_some_and(|condition| *condition != Value::Null);
        if is_table && !has_condition && !call.is_certain("where") {
            // Values of a condition that is not known.
            known.shift_remove("params");
        }
        let has_any_params = call.open.contains("params");
        Some(Self { arguments: Value::Object(known), has_any_params })
    }

    fn request(&self) -> Result<Request<'_>, Failed> {
        let mut request = Request::read(&self.arguments)?;
        if self.has_any_params {
            request.params = Params::Any;
        }
        Ok(request)
    }
}

/// A list that holds something unknown stands for one value.
fn without_lists(columns: &IndexMap<String, Value>) -> IndexMap<String, Value> {
    let one = |value: &Value| match value {
        Value::Array(items) if items.contains(&Value::Null) => Value::Null,
        other => other.clone(),
    };
    columns.iter().map(|(name, value)| (name.clone(), one(value))).collect()
}

impl QueryDb {
    /// As [`luaplan_bus::Tool::could_ever_call`].
    pub(super) fn could_ever(&self, call: &ForeseenCall) -> Result<(), ToolFailure> {
        let databases = self.meant(call).map_err(Failed::into_tool_failure)?;
        let Some(shown) = Shown::of(call) else { return Ok(()) };
        let request = shown.request().map_err(Failed::into_tool_failure)?;
        let mut refused = None;
        for database in databases {
            match self.composed(database, &request) {
                Ok(_) => return Ok(()),
                Err(failed) => _ = refused.get_or_insert(failed),
            }
        }
        refused.map_or(Ok(()), |failed| Err(failed.into_tool_failure()))
    }

    /// As [`luaplan_bus::Tool::not_looked_at`].
    pub(super) fn unseen(&self, call: &ForeseenCall) -> Option<String> {
        self.known_statement(call).err()?.map(str::to_owned)
    }

    /// The database and what is known of the statement; else why no database looks at it before the plan runs, where the
    /// call is one that may be made.
    fn known_statement(&self, call: &ForeseenCall) -> Result<(&Database, Shown), Option<&'static str>> {
        if self.describe == Describe::Off {
            // Its words would tell of a schema that is kept back.
            return Err(Some("the schema is kept back (`describe = \"off\"`)"));
        }
        let shown = Shown::of(call).ok_or(Some("it is put together while the plan runs"))?;
        match self.meant(call).unwrap_or_default().as_slice() {
            &[database] => Ok((database, shown)),
            [] => Err(None),
            _ => Err(Some("which database it is for is known only when the plan runs")),
        }
    }

    /// As [`luaplan_bus::Tool::prepare`].
    pub(super) async fn looked_at(&self, call: &ForeseenCall) -> Prepared {
        let Ok((database, shown)) = self.known_statement(call) else { return Prepared::NoStatement };
        let Ok(request) = shown.request() else { return Prepared::NoStatement };
        let Ok(statement) = self.composed(database, &request) else { return Prepared::NoStatement };
        match tokio::time::timeout(self.timeout, database.look_at(&statement)).await {
            Ok(Ok(columns)) => {
                Prepared::Taken { result: self.result_of(call, &request, &statement, &columns) }
            }
            Ok(Err(failed)) => {
                let source = match request.form {
                    Form::Sql(sql) => Some(sql),
                    Form::Table(_) => None,
                };
                let failure = placed(failed.into_tool_failure(), database.dialect(), source, &statement);
                judged(failure, statement.kind, call)
            }
            Err(_) => Prepared::Unasked(self.timed_out(StatementKind::Read)),
        }
    }

    /// What the call gives, where it reads and all is known that its columns depend on.
    fn result_of(
        &self,
        call: &ForeseenCall,
        request: &Request<'_>,
        statement: &Statement,
        columns: &[ResultColumn],
    ) -> Option<Json> {
        if statement.kind != StatementKind::Read || !call.is_certain("columns") {
            return None;
        }
        let decimals = match request.exact {
            Some(true) => Decimals::Text,
            Some(false) => Decimals::Number,
            None => self.decimals,
        };
        let decimals = call.is_certain("exact").then_some(decimals);
        let intervals = call.is_certain("intervals").then_some(request.intervals);
        result_columns::schema(columns, decimals, intervals)
    }

    fn composed(&self, database: &Database, request: &Request<'_>) -> Result<Statement, Failed> {
        compose(database.dialect(), request, self.rows_max, database.write_granted(), &self.allowed)
    }

    /// The databases that the call may mean.
    fn meant(&self, call: &ForeseenCall) -> Result<Vec<&Database>, Failed> {
        if !call.is_certain("database") {
            return Ok(self.databases.values().collect());
        }
        let name = call.known.get("database").and_then(Value::as_str);
        self.database(name).map(|database| vec![database])
    }
}

/// Whether it is the statement that is at fault.
fn judged(failure: ToolFailure, kind: StatementKind, call: &ForeseenCall) -> Prepared {
    let code = failure.code.parse::<ErrorCode>();
    let state = failure.details.get("sqlstate").and_then(Value::as_str);
    let is_plain_sqlite = failure.details.get("sqlite_code") == Some(&Value::Integer(1));
    match code {
        // The session is a reading one, whatever is granted.
        Ok(ErrorCode::QueryRefused) if kind == StatementKind::Write => Prepared::Taken { result: None },
        Ok(ErrorCode::QueryRefused) => Prepared::Refused(failure),
        Ok(ErrorCode::QueryFailed) if state == Some(TYPE_UNKNOWN) && !call.is_whole() => {
            Prepared::Taken { result: None }
        }
        Ok(ErrorCode::QueryFailed)
            if is_plain_sqlite
                || state
                    .is_some_and(|state| OF_THE_STATEMENT.iter().any(|class| state.starts_with(class))) =>
        {
            Prepared::Refused(failure)
        }
        _ => Prepared::Unasked(failure),
    }
}

/// The failure with its position in the text of the plan, where it has one.
fn placed(
    mut failure: ToolFailure,
    dialect: Dialect,
    source: Option<&str>,
    statement: &Statement,
) -> ToolFailure {
    let Some(position) = failure.details.shift_remove("position") else { return failure };
    let sent = match position {
        Value::Integer(position) => usize::try_from(position).ok(),
        _ => None,
    };
    let place = sent.zip(source).and_then(|(position, source)| {
        place_in(dialect, source, &statement.rendered.sql, position.checked_sub(1)?)
    });
    if let Some(place) = place.and_then(|place| i64::try_from(place + 1).ok()) {
        failure.details.insert("position".to_owned(), Value::Integer(place));
    }
    failure
}

/// The character of `source` that is the character `at` of `sent`, both from 0. Placeholders and comments are written
/// differently there, so the word at that place is looked for, and which of its kind it is.
fn place_in(dialect: Dialect, source: &str, sent: &str, at: usize) -> Option<usize> {
    let (offset, _) = sent.char_indices().nth(at)?;
    let tokens = |text| -> Option<Vec<Token<'_>>> {
        let mut tokens = lex(dialect, text).ok()?;
        tokens.retain(|token| token.kind != TokenKind::Comment);
        Some(tokens)
    };
    let (sent, written) = (tokens(sent)?, tokens(source)?);
    let index = sent.iter().position(|token| (token.start..token.end()).contains(&offset))?;
    let token = &sent[index];
    let earlier = sent[..index].iter().filter(|other| other.text == token.text).count();
    let found = written.iter().filter(|other| other.text == token.text).nth(earlier)?;
    Some(source[..found.start].chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_the_plans_own_text() {
        let source = "SELECT a, -- a total\n :x, a FROM t WHERE b = :x AND nope = 1";
        let sent = "SELECT a,  \n $1, a FROM t WHERE b = $1 AND nope = 1";
        let at = |text: &str, words: &str| text.find(words).unwrap();
        for words in ["nope", "a FROM", "t WHERE", "SELECT"] {
            let found = place_in(Dialect::Postgres, source, sent, at(sent, words));
            assert_eq!(found, Some(at(source, words)), "{words}");
        }
        assert_eq!(place_in(Dialect::Postgres, source, sent, sent.len()), None);
    }
}
