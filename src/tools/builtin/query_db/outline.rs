//! What a statement does, before its database is known.

use super::check::check_kind;
use super::dialect::Dialect;
use super::lex::{TokenKind, lex};
use super::statement::StatementKind;

/// A statement as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The names of its `:name` placeholders, each once, in order.
    pub(crate) names: Vec<String>,
    /// Whether it inserts, updates or deletes.
    pub(crate) writes: bool,
}

/// Reads a statement by the rules of the first dialect that allows it, writing included.
///
/// # Errors
/// Why no dialect allows it, in words; also for placeholders without a name.
pub(crate) fn outline(sql: &str) -> Result<Outline, String> {
    let mut first_refusal = None;
    for dialect in [Dialect::Postgres, Dialect::Sqlite, Dialect::Mysql] {
        match outline_in(dialect, sql) {
            Ok(outline) => return Ok(outline),
            Err(refusal) => _ = first_refusal.get_or_insert(refusal),
        }
    }
    Err(first_refusal.unwrap_or_default())
}

fn outline_in(dialect: Dialect, sql: &str) -> Result<Outline, String> {
    let words = |failed: super::failure::Failed| failed.into_tool_failure().message;
    let tokens = lex(dialect, sql).map_err(words)?;
    let mut names: Vec<String> = Vec::new();
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Placeholder) {
        let Some(name) = token.text.strip_prefix(':') else {
            return Err(format!("the placeholder `{}` has no name; write `:name`", token.text));
        };
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let kind = check_kind(dialect, sql).map_err(words)?;
    Ok(Outline { names, writes: kind == StatementKind::Write })
}

#[cfg(test)]
mod tests {
    use super::outline;

    #[test]
    fn names_and_effect_are_read_from_the_text() {
        let read =
            outline("SELECT ':no', a::text FROM t WHERE a = :x AND b IN (:list) OR c = :x -- :y").unwrap();
        assert_eq!((read.names, read.writes), (vec!["x".to_owned(), "list".to_owned()], false));
        assert!(outline("UPDATE t SET a = :a").unwrap().writes);
        assert!(outline("SELECT `a` FROM t WHERE x = :x").is_ok(), "MySQL's quotes");
        for refused in ["DROP TABLE t", "SELECT 1; SELECT 2", "SELECT ?", "SELECT $1", ""] {
            assert!(outline(refused).is_err(), "{refused}");
        }
    }
}
