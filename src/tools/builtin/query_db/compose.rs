//! Turns a request into the SQL that is sent.

use luaplan_base::Value;

use super::check::{Checked, check};
use super::dialect::Dialect;
use super::failure::{Failed, bad_arguments, refused};
use super::functions::AllowedFunctions;
use super::request::{Condition, Form, Request, TableForm};
use super::statement::Statement;
use super::template::{Params, SqlTemplate};

/// Writes the statement for `dialect` and checks its final text.
///
/// # Errors
/// `bad_arguments` and `query_refused`.
pub(super) fn compose(
    dialect: Dialect,
    request: &Request<'_>,
    rows_max: u64,
    write_granted: bool,
    allowed: &AllowedFunctions,
) -> Result<Statement, Failed> {
    let mut template = SqlTemplate::default();
    match &request.form {
        Form::Sql(sql) => template.push_source(dialect, sql, request.params)?,
        Form::Table(table) => {
            // One row more than allowed, so that too many rows are an error and not a silent cut.
            let limit = request.limit.unwrap_or(rows_max.saturating_add(1));
            select(&mut template, dialect, table, request.params, limit)?;
        }
    }
    let rendered = template.render(dialect);
    let Checked { kind, questions } = check(dialect, &rendered.sql, write_granted, allowed)?;
    Ok(Statement { rendered, kind, questions })
}

fn select(
    template: &mut SqlTemplate,
    dialect: Dialect,
    form: &TableForm<'_>,
    params: Params<'_>,
    limit: u64,
) -> Result<(), Failed> {
    template.push_text("SELECT ");
    for (index, column) in form.columns.iter().enumerate() {
        template.push_text(if index > 0 { ", " } else { "" });
        template.push_text(&if *column == "*" { "*".to_owned() } else { name(dialect, "columns", column)? });
    }
    template.push_text(if form.columns.is_empty() { "* FROM " } else { " FROM " });
    template.push_text(&name(dialect, "table", form.table)?);
    match &form.condition {
        None => {}
        Some(Condition::Fragment(fragment)) => {
            template.push_text(" WHERE (");
            template.push_fragment(dialect, "where", fragment, params)?;
            template.push_text(")");
        }
        Some(Condition::Equals(columns)) => {
            for (index, (column, value)) in columns.iter().enumerate() {
                template.push_text(if index > 0 { " AND " } else { " WHERE " });
                equals(template, &name(dialect, "where", column)?, column, value)?;
            }
        }
    }
    if let Some(order_by) = form.order_by {
        template.push_text(&order(dialect, order_by)?);
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    template.push_text(&format!(" LIMIT {limit}"));
    Ok(())
}

fn equals(template: &mut SqlTemplate, quoted: &str, column: &str, value: &Value) -> Result<(), Failed> {
    if matches!(value, Value::Array(items) if items.is_empty()) {
        // A value is never in an empty list; SQL has no `IN ()`.
        template.push_text("1 = 0");
        return Ok(());
    }
    template.push_text(quoted);
    match value {
        Value::Null => template.push_text(" IS NULL"),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                template.push_text(if index > 0 { ", " } else { " IN (" });
                template.push_value(scalar(column, item)?);
            }
            template.push_text(")");
        }
        value => {
            template.push_text(" = ");
            template.push_value(scalar(column, value)?);
        }
    }
    Ok(())
}

fn scalar(column: &str, value: &Value) -> Result<Value, Failed> {
    match value {
        Value::Array(_) | Value::Object(_) | Value::Failure(_) => Err(bad_arguments(format!(
            "`where.{column}` cannot be compared with a value of kind {}",
            value.kind()
        ))),
        Value::Null => Err(bad_arguments(format!("the list `where.{column}` holds null"))
            .with_help("write the condition as text: `column IN (?, ?) OR column IS NULL`")),
        value => Ok(value.clone()),
    }
}

/// A name, or names joined by dots, in quotes. Exactly as spelled: PostgreSQL tells capitals apart.
fn name(dialect: Dialect, argument: &str, text: &str) -> Result<String, Failed> {
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 3 || !parts.iter().all(|part| is_name(part)) {
        return Err(refused(format!("`{argument}` holds `{}`, which is not a plain name", shorten(text)))
            .with_help("names are letters, digits and `_`, joined by dots; use `sql` for expressions"));
    }
    Ok(parts.iter().map(|part| dialect.quote(part)).collect::<Vec<_>>().join("."))
}

fn is_name(part: &str) -> bool {
    const NAME_BYTES_MAX: usize = 128;
    let inner = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-' | ' ');
    let starts = part.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
    starts
        && part.len() <= NAME_BYTES_MAX
        && part.chars().all(inner)
        && !part.contains("--")
        && !part.ends_with(' ')
}

/// ` ORDER BY …` from `name`, `name DESC`, `a, b ASC NULLS LAST`.
fn order(dialect: Dialect, text: &str) -> Result<String, Failed> {
    let mut terms = Vec::new();
    for term in text.split(',') {
        let mut words = term.split_whitespace();
        let column = words.next().ok_or_else(|| bad_arguments("`order_by` has an empty term"))?;
        let suffix = words.map(str::to_ascii_uppercase).collect::<Vec<_>>().join(" ");
        let direction = suffix.trim_end_matches("NULLS FIRST").trim_end_matches("NULLS LAST").trim_end();
        let known = matches!(direction, "" | "ASC" | "DESC") && suffix.matches("NULLS").count() <= 1;
        if !known {
            return Err(refused(format!("`order_by` holds `{}`", shorten(term)))
                .with_help("write column names, each followed by ASC or DESC if wanted"));
        }
        terms.push(format!("{} {suffix}", name(dialect, "order_by", column)?).trim_end().to_owned());
    }
    Ok(format!(" ORDER BY {}", terms.join(", ")))
}

fn shorten(text: &str) -> String {
    const SHOWN_CHARACTERS: usize = 60;
    let mut shown: String =
        text.trim().chars().filter(|character| !character.is_control()).take(SHOWN_CHARACTERS).collect();
    if text.trim().chars().count() > SHOWN_CHARACTERS {
        shown.push('…');
    }
    shown
}
