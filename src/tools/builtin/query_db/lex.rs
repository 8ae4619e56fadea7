//! SQL text into tokens, by the lexical rules of each dialect.
//!
//! The rules decide where a string, a comment or a quoted name ends, so they follow the databases
//! exactly; where databases or their settings differ, the text is refused rather than guessed.

use super::dialect::Dialect;
use super::failure::{Failed, refused};

/// The longest SQL text taken, in bytes.
pub(super) const SQL_BYTES_MAX: usize = 64 * 1024;

/// What a stretch of SQL is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A bare word: keyword, name, function.
    Word,
    /// A name in quotes.
    QuotedName,
    /// A string, in any of its forms.
    Text,
    Number,
    Comment,
    /// `?`, `?1`, `$1` or `:name`.
    Placeholder,
    /// Any other single character.
    Punctuation,
}

/// One stretch of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind,
    pub(super) text: &'s str,
    /// Offset of the first byte.
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is(&self, punctuation: &str) -> bool {
        self.kind == TokenKind::Punctuation && self.text == punctuation
    }

    /// The name without quotes, lower case; `None` for what cannot be a name.
    pub(super) fn name(&self) -> Option<String> {
        self.spelled_name().map(|name| name.to_lowercase())
    }

    /// The name without quotes, as it is spelled.
    pub(super) fn spelled_name(&self) -> Option<String> {
        match self.kind {
            TokenKind::Word => Some(self.text.to_owned()),
            TokenKind::QuotedName => Some(self.unquoted()),
            _ => None,
        }
    }

    /// What stands between quotes, doubled ones made single.
    pub(super) fn unquoted(&self) -> String {
        let inner = self.text.get(1..self.text.len().saturating_sub(1)).unwrap_or_default();
        let closing = self.text.chars().last().unwrap_or('"');
        inner.replace(&format!("{closing}{closing}"), &closing.to_string())
    }

    /// Whether this is the bare keyword `keyword` (given in capitals).
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    pub(super) fn is_any_keyword(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is_keyword(keyword))
    }
}

/// Every token of `text`, comments included, white space left out.
///
/// # Errors
/// `query_refused` for unterminated strings and comments, executable comments, control characters
/// and names or strings in Unicode-escape form.
pub(super) fn lex(dialect: Dialect, text: &str) -> Result<Vec<Token<'_>>, Failed> {
    if text.len() > SQL_BYTES_MAX {
        return Err(refused(format!("the SQL text is longer than {SQL_BYTES_MAX} bytes"))
            .with_limit(SQL_BYTES_MAX as u64, text.len() as u64));
    }
    let mut lexer = Lexer { dialect, text, at: 0, tokens: Vec::new() };
    while let Some(character) = lexer.peek(0) {
        lexer.step(character)?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    dialect: Dialect,
    text: &'s str,
    at: usize,
    tokens: Vec<Token<'s>>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest().chars().nth(ahead)
    }

    fn push(&mut self, kind: TokenKind, length_bytes: usize) {
        let text = self.rest().get(..length_bytes).unwrap_or_else(|| self.rest());
        self.tokens.push(Token { kind, text, start: self.at });
        self.at += text.len().max(1);
    }

    fn step(&mut self, first: char) -> Result<(), Failed> {
        let second = self.peek(1);
        match first {
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => {
                self.at += 1;
                Ok(())
            }
            control if control.is_control() => {
                Err(refused("the SQL holds a control character outside of a string"))
            }
            '-' if second == Some('-') && self.dash_comment() => self.line_comment(),
            '#' if self.dialect == Dialect::Mysql => self.line_comment(),
            '/' if second == Some('*') => self.block_comment(),
            '\'' => self.single_quoted(),
            '"' if self.dialect == Dialect::Mysql => self.quoted(TokenKind::Text, '"', true),
            '"' => self.quoted(TokenKind::QuotedName, '"', false),
            '`' if self.dialect != Dialect::Postgres => self.quoted(TokenKind::QuotedName, '`', false),
            '[' if self.dialect == Dialect::Sqlite => self.bracket_name(),
            '$' if self.dialect == Dialect::Postgres && self.dollar_tag().is_some() => self.dollar_quoted(),
            '$' if second.is_some_and(|next| next.is_ascii_digit()) => self.numbered_placeholder(),
            '?' if self.dialect != Dialect::Postgres && second.is_some_and(|next| next.is_ascii_digit()) => {
                self.numbered_placeholder()
            }
            '?' => {
                self.push(TokenKind::Placeholder, 1);
                Ok(())
            }
            ':' => {
                self.colon(second);
                Ok(())
            }
            digit if digit.is_ascii_digit() => {
                self.number();
                Ok(())
            }
            start if is_word_start(start) => self.word(second),
            other => {
                self.push(TokenKind::Punctuation, other.len_utf8());
                Ok(())
            }
        }
    }

    /// In MySQL two dashes start a comment only before white space or the end.
    fn dash_comment(&self) -> bool {
        self.dialect != Dialect::Mysql
            || self.peek(2).is_none_or(|third| third.is_whitespace() || third.is_control())
    }

    fn line_comment(&mut self) -> Result<(), Failed> {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.push(TokenKind::Comment, length);
        Ok(())
    }

    fn block_comment(&mut self) -> Result<(), Failed> {
        let body = self.rest().get(2..).unwrap_or_default();
        if body.starts_with('!') || body.starts_with("M!") {
            return Err(refused("the SQL holds an executable comment (`/*! … */`)"));
        }
        let nests = self.dialect == Dialect::Postgres;
        let (mut depth, mut offset) = (1_usize, 2);
        while depth > 0 {
            let rest = self.rest().get(offset..).unwrap_or_default();
            let close = rest.find("*/").ok_or_else(|| refused("the SQL holds an unterminated comment"))?;
            // `/*/` opens: so the star of the close may belong to an opening.
            match rest.get(..=close).and_then(|before| before.find("/*")) {
                Some(open) if nests => {
                    depth += 1;
                    offset += open + 2;
                }
                _ => {
                    depth -= 1;
                    offset += close + 2;
                }
            }
        }
        self.push(TokenKind::Comment, offset);
        Ok(())
    }

    /// PostgreSQL's `E'…'` has escapes; the `E` is the word just before. A string that continues on
    /// a further line keeps the escape rule of its start, so adjacent strings are refused.
    fn single_quoted(&mut self) -> Result<(), Failed> {
        let last = self.tokens.iter().rev().find(|token| token.kind != TokenKind::Comment);
        let postgres = self.dialect == Dialect::Postgres;
        if postgres && last.is_some_and(|last| last.kind == TokenKind::Text) {
            return Err(refused("the SQL holds two strings in a row; join them with ||"));
        }
        let escape_string =
            postgres && last.is_some_and(|last| last.end() == self.at && last.is_keyword("E"));
        self.quoted(TokenKind::Text, '\'', self.dialect.backslash_escapes() || escape_string)
    }

    fn quoted(&mut self, kind: TokenKind, quote: char, backslash: bool) -> Result<(), Failed> {
        let mut characters = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, character)) = characters.next() {
            if character == '\0' {
                break;
            }
            if character == '\\' && backslash {
                characters.next();
            } else if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
                self.push(kind, offset + 1);
                return Ok(());
            }
        }
        Err(refused("the SQL holds an unterminated string or quoted name"))
    }

    fn bracket_name(&mut self) -> Result<(), Failed> {
        let length =
            self.rest().find(']').ok_or_else(|| refused("the SQL holds an unterminated `[name]`"))?;
        self.push(TokenKind::QuotedName, length + 1);
        Ok(())
    }

    /// The opening `$tag$` at this place, if there is one.
    fn dollar_tag(&self) -> Option<&'s str> {
        let rest = self.rest();
        let length = rest.get(1..)?.find('$')?;
        let tag = rest.get(1..=length)?;
        let fits = tag
            .chars()
            .enumerate()
            .all(|(index, character)| is_word_start(character) || (index > 0 && character.is_ascii_digit()));
        if fits { rest.get(..length + 2) } else { None }
    }

    fn dollar_quoted(&mut self) -> Result<(), Failed> {
        let tag = self.dollar_tag().unwrap_or("$$");
        let body = self.rest().get(tag.len()..).unwrap_or_default();
        let length =
            body.find(tag).ok_or_else(|| refused("the SQL holds an unterminated dollar-quoted string"))?;
        self.push(TokenKind::Text, length + 2 * tag.len());
        Ok(())
    }

    fn numbered_placeholder(&mut self) -> Result<(), Failed> {
        let digits = self.rest().chars().skip(1).take_while(char::is_ascii_digit).count();
        self.push(TokenKind::Placeholder, 1 + digits);
        Ok(())
    }

    fn colon(&mut self, second: Option<char>) {
        let cast = second == Some(':')
            || self.tokens.last().is_some_and(|last| last.is(":") && last.end() == self.at);
        if cast || !second.is_some_and(is_word_start) {
            return self.push(TokenKind::Punctuation, 1);
        }
        let name: usize = word_length(self.rest().get(1..).unwrap_or_default());
        self.push(TokenKind::Placeholder, 1 + name);
    }

    /// Letters right after the digits start a word of their own, as in some databases.
    fn number(&mut self) {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = digits(0);
        if bytes.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if bytes.get(length).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e')) {
            let sign = usize::from(bytes.get(length + 1).is_some_and(|byte| matches!(byte, b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        self.push(TokenKind::Number, length);
    }

    fn word(&mut self, second: Option<char>) -> Result<(), Failed> {
        let quoted_next = matches!(self.peek(2), Some('\'' | '"'));
        if matches!(self.peek(0), Some('u' | 'U')) && second == Some('&') && quoted_next {
            return Err(refused("the SQL holds a Unicode-escape string or name (`U&'…'`)"));
        }
        self.push(TokenKind::Word, word_length(self.rest()));
        Ok(())
    }
}

fn is_word_start(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

fn word_length(text: &str) -> usize {
    text.char_indices()
        .find(|(_, character)| {
            !(is_word_start(*character) || character.is_ascii_digit() || *character == '$')
        })
        .map_or(text.len(), |(offset, _)| offset)
}
