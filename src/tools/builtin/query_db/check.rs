//! Decides whether a statement may be sent: a single statement, of a permitted kind, that reaches nothing
//! beyond the tables.
//!
//! This is the first of two walls; the second is the database's own read-only session. This one reads
//! words, not meaning, and refuses when in doubt. It catches what the session lets through: reading
//! files of the server, sleeping, locks, session settings.

use super::calls::calls;
use super::denied::{NamePosition, denied_name};
use super::dialect::Dialect;
use super::failure::{Failed, refused};
use super::functions::AllowedFunctions;
use super::generators::generators;
use super::lex::{Token, TokenKind, lex};
use super::statement::{Questions, StatementKind};

const READING: [&str; 4] = ["SELECT", "WITH", "VALUES", "TABLE"];
const WRITING: [&str; 3] = ["INSERT", "UPDATE", "DELETE"];
const MODIFYING: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"];
/// What MySQL's SHOW may show: structure, not accounts, other sessions or the server.
const SHOWN: [&str; 8] = ["TABLES", "COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS", "DATABASES", "TABLE"];
/// What may follow `SHOW FULL`; the processes of other sessions may not.
const SHOWN_FULL: [&str; 3] = ["TABLES", "COLUMNS", "FIELDS"];

/// What PostgreSQL's SHOW may show: how values are read and written, not the server's files and addresses.
const SETTINGS: &str = "application_name bytea_output client_encoding datestyle default_transaction_isolation \
    default_transaction_read_only extra_float_digits integer_datetimes intervalstyle lc_collate lc_ctype lc_messages \
    lc_monetary lc_numeric lc_time lock_timeout max_identifier_length search_path server_encoding server_version \
    server_version_num standard_conforming_strings statement_timeout timezone time_zone transaction_isolation \
    transaction_isolation_level transaction_read_only default_text_search_config";

/// A statement that may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) kind: StatementKind,
    /// The questions to the server before it runs.
    pub(super) questions: Questions,
}

/// Checks the text exactly as it will be sent. `write_granted` also lets single INSERT, UPDATE
/// and DELETE statements through.
///
/// # Errors
/// `query_refused`, saying what is not allowed.
pub(super) fn check(
    dialect: Dialect,
    sql: &str,
    write_granted: bool,
    allowed: &AllowedFunctions,
) -> Result<Checked, Failed> {
    let tokens = statement_tokens(dialect, sql)?;
    let kind = kind_of(dialect, &tokens, write_granted)?;
    let statement = tokens.get(granted_head(&tokens, kind)..).unwrap_or_default();
    words(dialect, statement, kind)?;
    let questions = calls(dialect, statement, kind, allowed)?;
    generators(dialect, statement)?;
    Ok(Checked { kind, questions })
}

/// As [`check`], without the check of functions: what a statement of a manifest does, before the configuration
/// is known.
///
/// # Errors
/// As [`check`].
pub(super) fn check_kind(dialect: Dialect, sql: &str) -> Result<StatementKind, Failed> {
    let tokens = statement_tokens(dialect, sql)?;
    let kind = kind_of(dialect, &tokens, true)?;
    words(dialect, tokens.get(granted_head(&tokens, kind)..).unwrap_or_default(), kind)?;
    Ok(kind)
}

/// The tokens of a single statement, without comments.
fn statement_tokens(dialect: Dialect, sql: &str) -> Result<Vec<Token<'_>>, Failed> {
    let mut tokens = lex(dialect, sql)?;
    tokens.retain(|token| token.kind != TokenKind::Comment);
    while tokens.last().is_some_and(|last| last.is(";")) {
        tokens.pop();
    }
    if tokens.iter().any(|token| token.is(";")) {
        return Err(refused("the SQL holds more than one statement"));
    }
    balanced(&tokens)?;
    Ok(tokens)
}

/// How many tokens at the head of a granted write are part of the grant: its keyword, and INTO
/// with what may stand before it (`INSERT IGNORE INTO`).
fn granted_head(tokens: &[Token<'_>], kind: StatementKind) -> usize {
    const HEAD_MAX: usize = 3;
    if kind == StatementKind::Read {
        return 0;
    }
    let into = tokens.iter().take(HEAD_MAX).position(|token| token.is_keyword("INTO"));
    into.map_or(1, |at| at + 1)
}

fn balanced(tokens: &[Token<'_>]) -> Result<(), Failed> {
    let mut depth = 0_i64;
    for token in tokens {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth -= 1;
        }
        if depth < 0 {
            break;
        }
    }
    if depth == 0 { Ok(()) } else { Err(refused("the SQL's parentheses do not match")) }
}

fn kind_of(dialect: Dialect, tokens: &[Token<'_>], write_granted: bool) -> Result<StatementKind, Failed> {
    let mut rest = skip_parentheses(tokens);
    let first = rest.first().ok_or_else(|| refused("the SQL holds no statement"))?;
    if first.is_keyword("EXPLAIN") {
        rest = explained(rest);
        return match rest.first() {
            Some(target) if target.is_any_keyword(&READING) => Ok(StatementKind::Read),
            _ => Err(refused("only a reading statement can be explained")),
        };
    }
    let reads = first.is_any_keyword(&READING)
        || match dialect {
            Dialect::Sqlite => false,
            Dialect::Postgres if first.is_keyword("SHOW") => return shows_setting(rest),
            Dialect::Postgres => false,
            Dialect::Mysql => shows(rest) || first.is_any_keyword(&["DESCRIBE", "DESC"]),
        };
    if reads {
        return Ok(StatementKind::Read);
    }
    let word = first.text.to_uppercase();
    if first.is_any_keyword(&WRITING) {
        return if write_granted {
            Ok(StatementKind::Write)
        } else {
            Err(refused(format!("{word} writes, and this database is granted for reading only"))
                .with_help("name the database under `[tools.query_db] writes` to grant it"))
        };
    }
    Err(refused(format!("a statement that begins with `{word}` is not allowed"))
        .with_help("send one SELECT, WITH … SELECT, VALUES, EXPLAIN or SHOW"))
}

fn shows_setting(tokens: &[Token<'_>]) -> Result<StatementKind, Failed> {
    let named: Vec<String> = tokens.iter().skip(1).map(|token| token.name().unwrap_or_default()).collect();
    let name = named.join("_");
    if SETTINGS.split_whitespace().any(|setting| setting == name) {
        return Ok(StatementKind::Read);
    }
    Err(refused(format!("the setting `{name}` may not be shown"))
        .with_help("SHOW tells how values are read and written: `SHOW timezone`, `SHOW server_version`"))
}

fn shows(tokens: &[Token<'_>]) -> bool {
    let is =
        |at: usize, keywords: &[&str]| tokens.get(at).is_some_and(|token| token.is_any_keyword(keywords));
    is(0, &["SHOW"])
        && (is(1, &SHOWN)
            || (is(1, &["FULL"]) && is(2, &SHOWN_FULL))
            || (is(1, &["CREATE"]) && is(2, &["TABLE", "VIEW"])))
}

fn skip_parentheses<'t, 's>(mut tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    while let [first, rest @ ..] = tokens
        && first.is("(")
    {
        tokens = rest;
    }
    tokens
}

/// What follows EXPLAIN and its options.
fn explained<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let mut rest = tokens.get(1..).unwrap_or_default();
    if rest.first().is_some_and(|first| first.is("("))
        && !rest.get(1).is_some_and(|second| second.is_any_keyword(&READING))
    {
        let close = rest.iter().position(|token| token.is(")")).map_or(rest.len(), |at| at + 1);
        rest = rest.get(close..).unwrap_or_default();
    }
    while rest
        .first()
        .is_some_and(|first| first.is_any_keyword(&["ANALYZE", "VERBOSE", "QUERY", "PLAN", "EXTENDED"]))
    {
        rest = rest.get(1..).unwrap_or_default();
    }
    if rest.first().is_some_and(|first| first.is_keyword("FORMAT")) {
        rest = rest.get(3..).unwrap_or_default();
    }
    skip_parentheses(rest)
}

fn words(dialect: Dialect, tokens: &[Token<'_>], kind: StatementKind) -> Result<(), Failed> {
    let show = skip_parentheses(tokens).first().is_some_and(|first| first.is_keyword("SHOW"));
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        let before = index.checked_sub(1).and_then(|at| tokens.get(at));
        let called = next.is_some_and(|next| next.is("("));
        let member = before.is_some_and(|before| before.is("."));
        if !member {
            keyword(token, next, called, kind)?;
        }
        if let Some(name) = token.name() {
            let inside = index.checked_sub(2).filter(|_| member).and_then(|at| tokens.get(at)?.name());
            let listed = show && before.is_some_and(|before| before.is_any_keyword(&["FROM", "IN"]));
            let schema = listed || next.is_some_and(|next| next.is("."));
            if denied_name(dialect, &name, NamePosition { inside: inside.as_deref(), schema }) {
                return Err(refused(format!("`{name}` may not be read")));
            }
        }
        if dialect == Dialect::Sqlite && token.kind == TokenKind::Text {
            text_as_table(token, before)?;
        }
        variables(dialect, token, next)?;
    }
    Ok(())
}

/// SQLite takes a text in quotes for a name where a table stands.
fn text_as_table(token: &Token<'_>, before: Option<&Token<'_>>) -> Result<(), Failed> {
    let stands = before.is_some_and(|before| {
        before.is_any_keyword(&["FROM", "JOIN", "INTO", "UPDATE", "TABLE"])
            || before.is(",")
            || before.is(".")
            || before.is("(")
    });
    let name = token.unquoted().to_lowercase();
    if stands && denied_name(Dialect::Sqlite, &name, NamePosition { inside: None, schema: false }) {
        return Err(refused(format!("`{name}` may not be read")));
    }
    Ok(())
}

fn keyword(
    token: &Token<'_>,
    next: Option<&Token<'_>>,
    called: bool,
    kind: StatementKind,
) -> Result<(), Failed> {
    let next_is = |keywords: &[&str]| next.is_some_and(|next| next.is_any_keyword(keywords));
    let word = token.text.to_uppercase();
    if token.is_keyword("INTO") {
        return Err(refused("INTO would write the result somewhere"));
    }
    // `ON CONFLICT … DO UPDATE` and `ON DUPLICATE KEY UPDATE` belong to a granted INSERT.
    let upsert = kind == StatementKind::Write && token.is_keyword("UPDATE");
    if token.is_any_keyword(&MODIFYING) && !called && !upsert {
        return Err(refused(format!("{word} writes")).with_help("put a column of that name in quotes"));
    }
    if token.is_keyword("FOR") && next_is(&["UPDATE", "SHARE", "NO", "KEY"]) {
        return Err(refused("FOR UPDATE and FOR SHARE lock rows"));
    }
    if token.is_keyword("FOR") && next_is(&["CONNECTION"]) {
        return Err(refused("FOR CONNECTION looks into another session"));
    }
    if token.is_keyword("LOCK") && next_is(&["IN"]) {
        return Err(refused("LOCK IN SHARE MODE locks rows"));
    }
    if (token.is_keyword("NEXT") || token.is_keyword("PREVIOUS")) && next_is(&["VALUE"]) {
        return Err(refused("NEXT VALUE FOR advances a sequence"));
    }
    Ok(())
}

/// Variables outlive the statement in MySQL, and are nothing but empty in SQLite.
fn variables(dialect: Dialect, token: &Token<'_>, next: Option<&Token<'_>>) -> Result<(), Failed> {
    let assigns = token.is(":") && next.is_some_and(|next| next.is("=") && next.start == token.end());
    if dialect == Dialect::Mysql && (token.is("@") || assigns) {
        return Err(refused("session and server variables are not allowed"));
    }
    if dialect == Dialect::Sqlite && (token.is("@") || token.is("$") || token.is("#")) {
        return Err(refused(format!("`{}` is not a placeholder luaplan knows", token.text))
            .with_help("use `?`, `$1` or `:name`"));
    }
    Ok(())
}
