//! The three SQL dialects, as far as they differ for this tool.

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
