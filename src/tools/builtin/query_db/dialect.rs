//! The three SQL dialects, as far as they differ for this tool.

/// Words that SQLite, MySQL or MariaDB take as a name only in quotes, of those that a table or column may be called.
const RESERVED: &str = "add all alter analyze and as asc before between both by call cascade case change character check collate \
    column condition constraint convert create cross current_date current_time current_timestamp current_user cursor database \
    databases default deferrable delete desc describe distinct div double drop each else escape except exists explain false fetch \
    float for foreign from fulltext function generated grant group groups having if ignore in index inner insert int integer \
    intersect interval into is isnull join key keys kill leading left like limit lines load lock long match mod natural not \
    notnull null numeric of offset on optimize option or order out outer over partition precision primary procedure range rank \
    read real recursive references regexp release rename repeat replace require restrict return revoke right row rows schema \
    schemas select separator set show sql starting system table terminated then to trailing transaction trigger true union unique \
    unlock unsigned update usage use using values varying view when where while window with write xor";

/// The dialect of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
}

impl Dialect {
    /// The product's name, for messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
        }
    }

    /// The identifier in this dialect's quotes, exactly as spelled. SQLite gets those of MySQL,
    /// which it knows too: it takes an unknown name in double quotes for a string.
    pub(super) fn quote(self, identifier: &str) -> String {
        let quote = if self == Self::Postgres { '"' } else { '`' };
        let mut quoted = String::with_capacity(identifier.len() + 2);
        quoted.push(quote);
        for character in identifier.chars() {
            if character == quote {
                quoted.push(quote);
            }
            quoted.push(character);
        }
        quoted.push(quote);
        quoted
    }

    /// The identifier as a statement must write it: in quotes where it is no plain name, or a word of SQL.
    pub(super) fn spelled(self, identifier: &str) -> String {
        let is_plain =
            |(at, c): (usize, char)| c == '_' || c.is_ascii_alphabetic() || (at > 0 && c.is_ascii_digit());
        let is_word = RESERVED.split(' ').any(|word| word.eq_ignore_ascii_case(identifier));
        if !identifier.is_empty() && identifier.chars().enumerate().all(is_plain) && !is_word {
            return identifier.to_owned();
        }
        self.quote(identifier)
    }

    /// The type to cast to that makes text of a value.
    pub(super) const fn text_type(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "text",
            Self::Mysql => "CHAR",
        }
    }

    /// Whether a backslash inside an ordinary string escapes the next character. The sessions this
    /// tool opens are set so that this holds (`sql_mode`, `standard_conforming_strings`).
    pub(super) const fn backslash_escapes(self) -> bool {
        matches!(self, Self::Mysql)
    }
}
