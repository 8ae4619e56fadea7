//! Which functions a statement calls, as far as its text tells.
//!
//! SQLite and MySQL call a function by its name and a bracket, so there the text decides. PostgreSQL
//! also calls `f` in `x.f`, reads a name and a bracket as a type or as an alias with columns, and lets a
//! schema define functions and operators of any name: where the text leaves it open, the tool asks the
//! server ([`Questions`]).

use std::collections::BTreeSet;

use super::denied::denied_function;
use super::dialect::Dialect;
use super::failure::{Failed, refused};
use super::functions::{AllowedFunctions, is_pure};
use super::lex::{Token, TokenKind};
use super::statement::{Questions, StatementKind};

/// Bare words that a bracket may follow without a call, in every dialect.
const WORDS: &str = "IN AND OR NOT EXISTS ANY ALL SOME SELECT FROM WHERE ON USING JOIN AS VALUES OVER GROUP BY HAVING \
    LIMIT UNION EXCEPT INTERSECT DISTINCT CASE WHEN THEN ELSE BETWEEN LIKE IS SET WITH RECURSIVE \
    PARTITION ORDER ROWS RANGE RETURNING";
const SQLITE_WORDS: &str = "OFFSET ESCAPE FILTER MATERIALIZED GLOB REGEXP MATCH CONFLICT GROUPS NULL";
const POSTGRES_WORDS: &str = "OFFSET ESCAPE FILTER MATERIALIZED ILIKE SIMILAR TO LATERAL ARRAY CUBE ROLLUP SETS CONFLICT GROUPS FIRST NEXT \
    VARIADIC ONLY FOR OPERATOR EXPLAIN REPEATABLE PASSING COLUMNS NESTED KEYS VALUE WRAPPER SYMMETRIC ASYMMETRIC WITHIN";
const MYSQL_WORDS: &str = "DIV MOD XOR REGEXP RLIKE BINARY INDEX KEY FOR AGAINST MATCH COLUMNS STRAIGHT_JOIN UPDATE \
    DECIMAL NUMERIC CHAR NCHAR VARCHAR VARBINARY DATETIME FLOAT DOUBLE SIGNED UNSIGNED ROLLUP LATERAL TABLE";

/// MySQL reads these as its own functions only where no blank stands before the bracket; with one it
/// looks for a function of the schema.
const MYSQL_WITHOUT_BLANK: &str = "adddate bit_and bit_or bit_xor cast count curdate curtime date_add date_sub extract \
    group_concat max mid min now position session_user std stddev stddev_pop stddev_samp subdate substr substring sum \
    sysdate system_user trim variance var_pop var_samp";

/// Checks each name that may be a call. `tokens` have no comments.
///
/// # Errors
/// `query_refused` for a function that is neither pure nor allowed.
pub(super) fn calls(
    dialect: Dialect,
    tokens: &[Token<'_>],
    kind: StatementKind,
    allowed: &AllowedFunctions,
) -> Result<Questions, Failed> {
    let mut questions = Questions::default();
    let mut target_end = insert_target(tokens, kind);
    for (index, token) in tokens.iter().enumerate() {
        let called = tokens.get(index + 1).is_some_and(|next| next.is("("));
        let before = index.checked_sub(1).and_then(|at| tokens.get(at));
        let Some(name) = resolved(dialect, token) else {
            let named = token.kind == TokenKind::Placeholder && token.text.starts_with(':');
            if called && (named || (dialect == Dialect::Sqlite && token.kind == TokenKind::Text)) {
                return Err(refused(format!("`{}` stands where a function is called", token.text)));
            }
            continue;
        };
        let member = before.is_some_and(|before| before.is("."));
        if tokens.get(index + 1).is_some_and(|next| next.is(".")) {
            questions.schemas.insert(name.clone());
        }
        if !called {
            if member && dialect == Dialect::Postgres && !allowed.contains(&name) {
                if calls_as_member(&name) {
                    return Err(not_allowed(&name));
                }
                questions.members.insert(name);
            }
            continue;
        }
        if target_end.take_if(|end| *end == index).is_some() || names_columns(dialect, tokens, index) {
            continue;
        }
        if allowed.contains(&name) {
            continue;
        }
        let word = token.kind == TokenKind::Word && !member && is_word(dialect, token.text);
        let known = word || is_pure(dialect, &name);
        if dialect == Dialect::Postgres {
            if !known && denied_function(&name) {
                return Err(not_allowed(&name));
            }
            if token.is_keyword("OPERATOR") && !in_pg_catalog(tokens, index + 2) {
                return Err(refused("OPERATOR(…) may name operators of `pg_catalog` alone"));
            }
            if known {
                questions.known.insert(name.clone());
            }
            questions.called.insert(name);
            continue;
        }
        // A schema before the name is one with functions of its own.
        if !known || member {
            return Err(not_allowed(&name));
        }
        let blank = tokens.get(index + 1).is_some_and(|next| next.start != token.end());
        if dialect == Dialect::Mysql && blank && MYSQL_WITHOUT_BLANK.split_whitespace().any(|one| one == name)
        {
            return Err(refused(format!("a blank stands between `{name}` and its bracket"))
                .with_help("with a blank MySQL calls a function of the schema; write none"));
        }
    }
    if dialect == Dialect::Postgres {
        questions.operators = operators(tokens);
    }
    Ok(questions)
}

/// The refusal of a function.
pub(super) fn not_allowed(name: &str) -> Failed {
    refused(format!("the function `{name}` is not allowed")).with_help(format!(
        "functions that only compute are allowed; name others under `[tools.query_db] allow_functions = [\"{name}\"]`"
    ))
}

/// The name as the database looks it up: PostgreSQL keeps capitals in quotes and cuts long names.
fn resolved(dialect: Dialect, token: &Token<'_>) -> Option<String> {
    const POSTGRES_NAME_BYTES: usize = 63;
    let spelled = token.spelled_name()?;
    if dialect != Dialect::Postgres {
        return Some(spelled.to_ascii_lowercase());
    }
    let mut name = if token.kind == TokenKind::Word { spelled.to_ascii_lowercase() } else { spelled };
    let mut end = name.len().min(POSTGRES_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    Some(name)
}

fn is_word(dialect: Dialect, text: &str) -> bool {
    let own = match dialect {
        Dialect::Sqlite => SQLITE_WORDS,
        Dialect::Postgres => POSTGRES_WORDS,
        Dialect::Mysql => MYSQL_WORDS,
    };
    WORDS.split_whitespace().chain(own.split_whitespace()).any(|word| word.eq_ignore_ascii_case(text))
}

/// Functions that reach outside and take one argument, so that `x.f` calls them. No real column has such
/// a name.
fn calls_as_member(name: &str) -> bool {
    const BEGINNINGS: [&str; 29] = [
        "dblink_",
        "lo_import",
        "lo_export",
        "lo_get",
        "lo_create",
        "lo_unlink",
        "lo_open",
        "pg_read_",
        "pg_ls_",
        "pg_sleep",
        "pg_stat_file",
        "pg_stat_get_",
        "pg_terminate_",
        "pg_cancel_",
        "pg_advisory_",
        "pg_try_advisory_",
        "pg_logical_",
        "pg_replication_",
        "pg_create_",
        "pg_drop_",
        "pg_promote",
        "pg_backup_",
        "pg_wal_",
        "pg_notify",
        "pg_export_",
        "query_to_xml",
        "set_config",
        "nextval",
        "current_setting",
    ];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// The index of the table's name in `INTO table (columns)`, where `tokens` start after INTO.
fn insert_target(tokens: &[Token<'_>], kind: StatementKind) -> Option<usize> {
    if kind == StatementKind::Read {
        return None;
    }
    let mut end = 0;
    while tokens.get(end + 1).is_some_and(|next| next.is(".")) {
        end += 2;
    }
    Some(end)
}

/// Whether the bracket after the name at `index` holds names of columns, or the size of a type.
fn names_columns(dialect: Dialect, tokens: &[Token<'_>], index: usize) -> bool {
    let mut first = index;
    while first >= 2 && tokens.get(first - 1).is_some_and(|dot| dot.is(".")) {
        first -= 2;
    }
    let before = |back: usize| first.checked_sub(back).and_then(|at| tokens.get(at));
    if before(1).is_some_and(|word| word.is_keyword("AS")) {
        return true;
    }
    if dialect == Dialect::Postgres {
        return before(1).is_some_and(|colon| colon.is(":")) && before(2).is_some_and(|colon| colon.is(":"));
    }
    // `WITH t(a, b) AS (`, and MySQL's `(SELECT …) t(a, b)`.
    let Some(close) = list_of_names(tokens, index + 2) else { return false };
    let after = |ahead: usize| tokens.get(close + ahead);
    let defined = after(1).is_some_and(|word| word.is_keyword("AS"))
        && after(2).is_some_and(|next| next.is("(") || next.is_any_keyword(&["NOT", "MATERIALIZED"]));
    defined || (dialect == Dialect::Mysql && before(1).is_some_and(|token| token.is(")")))
}

/// The index of the bracket that closes a list of plain names.
fn list_of_names(tokens: &[Token<'_>], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        tokens.get(at)?.name()?;
        match tokens.get(at + 1)? {
            comma if comma.is(",") => at += 2,
            close if close.is(")") => return Some(at + 1),
            _ => return None,
        }
    }
}

fn in_pg_catalog(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).and_then(Token::name).is_some_and(|schema| schema == "pg_catalog")
        && tokens.get(at + 1).is_some_and(|dot| dot.is("."))
}

/// Every operator that may be read from the signs that stand together.
fn operators(tokens: &[Token<'_>]) -> BTreeSet<String> {
    const SIGNS: &str = "+-*/<>=~!@#%^&|`?";
    let mut runs: Vec<(usize, String)> = Vec::new();
    for token in tokens {
        let sign = token.text.len() == 1 && SIGNS.contains(token.text);
        match runs.last_mut() {
            Some((end, run)) if sign && *end == token.start => {
                run.push_str(token.text);
                *end = token.end();
            }
            _ if sign => runs.push((token.end(), token.text.to_owned())),
            _ => {}
        }
    }
    let mut operators = BTreeSet::new();
    const LENGTH_MAX: usize = 8;
    for (_, run) in runs {
        for from in 0..run.len() {
            for to in from + 1..=run.len().min(from + LENGTH_MAX) {
                operators.extend(run.get(from..to).map(str::to_owned));
            }
        }
    }
    operators
}
