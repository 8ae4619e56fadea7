//! What a database holds, as data: names and types, never rows.

use std::fmt::{self, Write as _};

use serde::Serialize;

/// The most characters of a comment that are shown: the authors of a table may write any text there.
const COMMENT_CHARS_MAX: usize = 120;
/// The most values of an enumeration that are shown.
const VALUES_SHOWN_MAX: usize = 24;
/// The most characters of one such value.
const VALUE_CHARS_MAX: usize = 40;

/// One configured database, as far as its user may read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatabaseSchema {
    /// The configured name, which a call gives as `database`.
    pub name: String,
    /// `SQLite`, `PostgreSQL`, `MySQL` or `MariaDB`, with the version.
    pub product: String,
    /// Whether a call that names no database means this one.
    pub is_default: bool,
    /// Whether statements may write.
    pub is_writable: bool,
    /// Its tables and views, in the database's order.
    pub tables: Vec<TableSchema>,
}

/// A table or view.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TableSchema {
    /// The name as a statement writes it, with its schema where that must be named.
    pub name: String,
    /// Whether it is a view.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_view: bool,
    /// What its makers say about it. Untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// About how many rows it has, where the database knows without counting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_estimate: Option<u64>,
    /// Its columns in their order.
    pub columns: Vec<ColumnSchema>,
    /// The columns of the primary key, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primary_key: Vec<String>,
    /// Its foreign keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ColumnSchema {
    /// Its name.
    pub name: String,
    /// Its type as the database writes it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether it may be NULL.
    pub is_nullable: bool,
    /// The only values it may have, where the schema lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// What its makers say about it. Untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The table they refer to, named as in [`TableSchema::name`].
    pub table: String,
    /// The columns there.
    pub target_columns: Vec<String>,
}

impl DatabaseSchema {
    /// The line above its tables: ``main` is PostgreSQL 15.4, read only, the default.`
    #[must_use]
    pub fn heading(&self) -> String {
        let access = if self.is_writable { "may be written" } else { "read only" };
        let default = if self.is_default { ", the default" } else { "" };
        format!("`{}`: {}, {access}{default}", line(&self.name, COMMENT_CHARS_MAX), self.product)
    }
}

impl fmt::Display for DatabaseSchema {
    /// The heading and every table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.heading())?;
        for table in &self.tables {
            write!(f, "\n{table}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TableSchema {
    /// One line: `orders(id bigint, customer_id bigint -> customers.id, note text?) key id; ~1200 rows -- comment`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_view {
            f.write_str("view ")?;
        }
        let columns: Vec<String> = self.columns.iter().map(|column| self.column(column)).collect();
        write!(f, "{}({})", line(&self.name, COMMENT_CHARS_MAX), columns.join(", "))?;
        if !self.primary_key.is_empty() {
            write!(f, " key {}", names(&self.primary_key))?;
        }
        for reference in self.references.iter().filter(|reference| reference.columns.len() > 1) {
            let (columns, table) = (names(&reference.columns), line(&reference.table, COMMENT_CHARS_MAX));
            write!(f, "; ({columns}) -> {table}({})", names(&reference.target_columns))?;
        }
        if let Some(rows) = self.rows_estimate {
            write!(f, "; ~{rows} rows")?;
        }
        comment(f, self.comment.as_deref())
    }
}

impl TableSchema {
    fn column(&self, column: &ColumnSchema) -> String {
        let mut text = names(std::slice::from_ref(&column.name));
        let optional = if column.is_nullable { "?" } else { "" };
        if column.values.is_empty() {
            let _ = write!(text, " {}{optional}", line(&column.type_name, COMMENT_CHARS_MAX));
        } else {
            let shown = column.values.iter().take(VALUES_SHOWN_MAX);
            let mut values: Vec<String> =
                shown.map(|value| format!("'{}'", line(value, VALUE_CHARS_MAX))).collect();
            if column.values.len() > VALUES_SHOWN_MAX {
                values.push("…".to_owned());
            }
            let _ = write!(text, " {}{optional}", values.join("|"));
        }
        let refers = self.references.iter().find(|reference| reference.columns == [column.name.as_str()]);
        if let Some(reference) = refers {
            let table = line(&reference.table, COMMENT_CHARS_MAX);
            let _ = write!(text, " -> {table}.{}", names(&reference.target_columns));
        }
        let _ = comment(&mut text, column.comment.as_deref());
        text
    }
}

fn names(names: &[String]) -> String {
    names.iter().map(|name| line(name, COMMENT_CHARS_MAX)).collect::<Vec<_>>().join(", ")
}

fn comment(into: &mut impl fmt::Write, comment: Option<&str>) -> fmt::Result {
    match comment.map(|comment| line(comment, COMMENT_CHARS_MAX)) {
        Some(comment) if !comment.is_empty() => write!(into, " \"{}\"", comment.replace(['"', '`'], "'")),
        _ => Ok(()),
    }
}

/// One line of at most `chars_max` characters.
fn line(text: &str, chars_max: usize) -> String {
    let mut words = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}
