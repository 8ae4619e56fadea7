//! SQL with holes for values: turns the placeholders of plans into those of a database.

use indexmap::IndexMap;

use luaplan_base::Value;

use super::dialect::Dialect;
use super::failure::{Failed, bad_arguments, refused};
use super::lex::{Token, TokenKind, lex};

/// The values for placeholders, as the plan gave them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Params<'v> {
    /// Positional, for `?` and `$1`.
    List(&'v [Value]),
    /// By name, for `:name`.
    Named(&'v IndexMap<String, Value>),
    /// Not known: each placeholder has some.
    Any,
}

/// SQL text with numbered holes. One hole may appear several times.
#[derive(Debug, Default, Clone)]
pub(super) struct SqlTemplate {
    parts: Vec<SqlPart>,
    values: Vec<Value>,
}

#[derive(Debug, Clone)]
enum SqlPart {
    Text(String),
    Hole(usize),
}

/// SQL text as one database takes it, and the values of its placeholders in order.
#[derive(Debug, Clone)]
pub(super) struct Rendered {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl SqlTemplate {
    /// Adds SQL text.
    pub(super) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(SqlPart::Text(last)) => last.push_str(text),
            _ => self.parts.push(SqlPart::Text(text.to_owned())),
        }
    }

    /// Adds a value.
    pub(super) fn push_value(&mut self, value: Value) {
        let hole = self.new_hole(value);
        self.parts.push(SqlPart::Hole(hole));
    }

    /// Adds SQL text as a plan wrote it, with its placeholders filled from `params`. Comments
    /// become a space.
    ///
    /// # Errors
    /// `query_refused` as [`lex`]; `bad_arguments` where placeholders and values do not match.
    pub(super) fn push_source(
        &mut self,
        dialect: Dialect,
        source: &str,
        params: Params<'_>,
    ) -> Result<(), Failed> {
        let tokens = lex(dialect, source)?;
        let style = Style::of(dialect, &tokens, params)?;
        let mut filler = Filler { template: self, dialect, params, style, holes: IndexMap::new(), asked: 0 };
        let mut copied = 0;
        for (index, token) in tokens.iter().enumerate() {
            let gap = source.get(copied..token.start).unwrap_or_default();
            filler.template.push_text(gap);
            copied = token.end();
            match token.kind {
                // MySQL reads two minus signs without white space after them as operators.
                TokenKind::Comment if source.get(..token.start).is_some_and(|text| text.ends_with("--")) => {
                    return Err(refused("the SQL has `--` right before a comment".to_owned()));
                }
                TokenKind::Comment => filler.template.push_text(" "),
                TokenKind::Placeholder => filler.fill(&tokens, index)?,
                _ => filler.template.push_text(token.text),
            }
        }
        filler.finish()
    }

    /// As [`SqlTemplate::push_source`], for a piece inside a larger statement: it may not end the
    /// statement, open or close a parenthesis around it, or hold a comment.
    ///
    /// # Errors
    /// As [`SqlTemplate::push_source`], and `query_refused` for what such a piece may not hold.
    pub(super) fn push_fragment(
        &mut self,
        dialect: Dialect,
        argument: &str,
        fragment: &str,
        params: Params<'_>,
    ) -> Result<(), Failed> {
        let tokens = lex(dialect, fragment)?;
        if tokens.is_empty() {
            return Err(bad_arguments(format!("`{argument}` is empty; leave it out")));
        }
        let mut depth = 0_u32;
        for token in &tokens {
            if token.kind == TokenKind::Comment || token.is(";") {
                return Err(refused(format!("`{argument}` holds `{}`", token.text.trim())));
            }
            if token.is("(") {
                depth += 1;
            } else if token.is(")") {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| refused(format!("`{argument}` closes a parenthesis it did not open")))?;
            }
        }
        if depth > 0 {
            return Err(refused(format!("`{argument}` leaves a parenthesis open")));
        }
        self.push_source(dialect, fragment, params)
    }

    /// The text and values for `dialect`.
    pub(super) fn render(&self, dialect: Dialect) -> Rendered {
        let mut sql = String::new();
        let mut in_order = Vec::new();
        for part in &self.parts {
            match part {
                SqlPart::Text(text) => sql.push_str(text),
                SqlPart::Hole(hole) => match dialect {
                    Dialect::Mysql => {
                        sql.push('?');
                        in_order.push(self.values.get(*hole).cloned().unwrap_or_default());
                    }
                    Dialect::Sqlite => sql.push_str(&format!("?{}", hole + 1)),
                    Dialect::Postgres => sql.push_str(&self.postgres_hole(*hole)),
                },
            }
        }
        let values = if dialect == Dialect::Mysql { in_order } else { self.values.clone() };
        Rendered { sql, values }
    }

    /// A fraction does not fit the integer columns it is often compared with, so it gets a cast to its own
    /// type; everything else takes the type that the database infers.
    fn postgres_hole(&self, hole: usize) -> String {
        match self.values.get(hole) {
            Some(Value::Float(number)) if number.fract() != 0.0 => format!("${}::float8", hole + 1),
            _ => format!("${}", hole + 1),
        }
    }

    fn new_hole(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }
}

/// How a text marks its values. One text has one style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `?`, in order.
    Question,
    /// `$1` or `?1`.
    Numbered,
    /// `:name`.
    Named,
}

impl Style {
    fn of(dialect: Dialect, tokens: &[Token<'_>], params: Params<'_>) -> Result<Self, Failed> {
        let marks = || tokens.iter().filter(|token| token.kind == TokenKind::Placeholder);
        let numbered = marks().any(|token| token.text.len() > 1 && !token.text.starts_with(':'));
        let question = marks().any(|token| token.text == "?");
        let is_named = match params {
            Params::Named(_) => true,
            Params::Any => marks().any(|token| token.text.starts_with(':')),
            Params::List(_) => false,
        };
        if is_named {
            return Ok(Self::Named);
        }
        if numbered && question && dialect != Dialect::Postgres {
            return Err(bad_arguments("the SQL mixes `?` with numbered placeholders"));
        }
        Ok(if numbered { Self::Numbered } else { Self::Question })
    }
}

struct Filler<'t, 'v> {
    template: &'t mut SqlTemplate,
    dialect: Dialect,
    params: Params<'v>,
    style: Style,
    /// Placeholders met so far: their number or name, and where they went.
    holes: IndexMap<String, Vec<usize>>,
    /// How many `?` were met.
    asked: usize,
}

impl Filler<'_, '_> {
    fn fill(&mut self, tokens: &[Token<'_>], index: usize) -> Result<(), Failed> {
        let Some(token) = tokens.get(index) else { return Ok(()) };
        if self.is_operator(tokens, index) {
            self.template.push_text(token.text);
            return Ok(());
        }
        let key = match (self.style, token.text) {
            (Style::Question, "?") => {
                self.asked += 1;
                self.asked.to_string()
            }
            (Style::Numbered, text) if !text.starts_with(':') => {
                text.get(1..).unwrap_or_default().trim_start_matches('0').to_owned()
            }
            (Style::Named, text) if text.starts_with(':') => text.get(1..).unwrap_or_default().to_owned(),
            (_, text) => return Err(self.misfit(text)),
        };
        if let Some(holes) = self.holes.get(&key).cloned() {
            self.push_holes(&holes);
            return Ok(());
        }
        let value = self.value(&key, token.text)?;
        let holes = match value {
            Value::Array(items) if in_parentheses(tokens, index) => {
                if items.is_empty() {
                    return Err(bad_arguments(format!(
                        "the list for `{}` is empty, and SQL has no empty `IN ()`",
                        token.text
                    ))
                    .with_help("test the list before the call"));
                }
                items.into_iter().map(|item| self.template.new_hole(item)).collect()
            }
            Value::Array(_) if self.dialect != Dialect::Postgres => {
                return Err(bad_arguments(format!("the value for `{}` is a list", token.text))
                    .with_help("a list can stand in `IN (?)` only"));
            }
            value => vec![self.template.new_hole(value)],
        };
        self.push_holes(&holes);
        self.holes.insert(key, holes);
        Ok(())
    }

    /// A placeholder of another kind than `params`.
    fn misfit(&self, placeholder: &str) -> Failed {
        let what = match self.params {
            // What a plan gives as `{day = context.day}` where there is no day.
            Params::List(values) if values.is_empty() && placeholder.starts_with(':') => {
                format!(
                    "there is no value for the placeholder `{placeholder}`: `params` is empty, and a name whose value is nil is not given"
                )
            }
            Params::List(_) => {
                format!(
                    "`params` is a list, and the placeholder `{placeholder}` takes its value from a table with names"
                )
            }
            Params::Named(_) | Params::Any => {
                format!(
                    "`params` is a table with names, and the placeholder `{placeholder}` takes its value from a list"
                )
            }
        };
        bad_arguments(what).with_help("give `?` and `$1` a list of values, `:name` a table with names")
    }

    fn push_holes(&mut self, holes: &[usize]) {
        for (index, hole) in holes.iter().enumerate() {
            if index > 0 {
                self.template.push_text(", ");
            }
            self.template.parts.push(SqlPart::Hole(*hole));
        }
    }

    fn value(&self, key: &str, placeholder: &str) -> Result<Value, Failed> {
        let found = match self.params {
            Params::List(values) => {
                key.parse::<usize>().ok().and_then(|number| values.get(number.checked_sub(1)?))
            }
            Params::Named(values) => values.get(key),
            Params::Any => return Ok(Value::Null),
        };
        match found {
            Some(Value::Failure(_)) => {
                Err(bad_arguments(format!("the value for `{placeholder}` is the error of a failed call")))
            }
            Some(value) => Ok(value.clone()),
            None => Err(bad_arguments(format!("there is no value for the placeholder `{placeholder}`"))
                .with_help("give every placeholder its value in `params`")),
        }
    }

    /// PostgreSQL has operators spelled with `?`, and array slices spelled with `:`.
    fn is_operator(&self, tokens: &[Token<'_>], index: usize) -> bool {
        let Some(token) = tokens.get(index).filter(|_| self.dialect == Dialect::Postgres) else {
            return false;
        };
        if token.text.starts_with(':') {
            return self.style != Style::Named && inside_brackets(tokens.get(..index).unwrap_or_default());
        }
        if token.text != "?" {
            return false;
        }
        let no_values = matches!(self.params, Params::List(values) if values.is_empty());
        let next = tokens.get(index + 1).filter(|next| next.start == token.end());
        self.style != Style::Question || no_values || next.is_some_and(|next| next.is("|") || next.is("&"))
    }

    fn finish(self) -> Result<(), Failed> {
        match self.params {
            Params::List(values) if self.holes.len() < values.len() => Err(bad_arguments(format!(
                "`params` has {} values, the SQL has placeholders for {}",
                values.len(),
                self.holes.len()
            ))),
            Params::Named(values) => match values.keys().find(|name| !self.holes.contains_key(*name)) {
                Some(name) => {
                    Err(bad_arguments(format!("`params` has `{name}`, but the SQL has no `:{name}`")))
                }
                None => Ok(()),
            },
            Params::List(_) | Params::Any => Ok(()),
        }
    }
}

/// Whether the placeholder stands alone in the parentheses of an `IN`.
fn in_parentheses(tokens: &[Token<'_>], index: usize) -> bool {
    let before = |back: usize| index.checked_sub(back).and_then(|at| tokens.get(at));
    before(1).is_some_and(|token| token.is("("))
        && before(2).is_some_and(|token| token.is_keyword("IN"))
        && tokens.get(index + 1).is_some_and(|token| token.is(")"))
}

fn inside_brackets(before: &[Token<'_>]) -> bool {
    let count = |bracket: &str| before.iter().filter(|token| token.is(bracket)).count();
    count("[") > count("]")
}
