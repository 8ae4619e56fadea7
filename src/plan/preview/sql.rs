//! The tables that a SQL text names. No parser: it takes the words where tables stand, and answers "any
//! table" at the first doubt.

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tables {
    /// These, and names that may be something else among them.
    Known(Vec<String>),
    /// Any table.
    Any,
}

/// Signs that dialects read differently, or that do more than read.
const DOUBTFUL: [&str; 8] = ["--", "/*", "#", "\\", "$", "[", ";", "&"];

/// Words that do more than read, or read in other ways.
const DOUBTFUL_WORDS: [&str; 22] = [
    "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "INTO", "CALL", "EXEC", "EXECUTE", "PRAGMA", "ATTACH",
    "COPY", "LOAD", "HANDLER", "SHOW", "DESCRIBE", "EXPLAIN", "CREATE", "ALTER", "DROP", "TRUNCATE", "DO",
];

/// Words that end a list of tables in every dialect.
const ENDS: [&str; 8] = ["WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "INTERSECT", "EXCEPT"];

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    /// A name in quotes, or a text in them: dialects differ.
    Quoted(String),
    Other(char),
}

/// Names the tables of a statement or of a condition.
pub(super) fn tables_of(sql: &str) -> Tables {
    match tokens(sql).map(|tokens| walk(&tokens)) {
        Some(Some(mut tables)) => {
            tables.sort();
            tables.dedup();
            Tables::Known(tables)
        }
        _ => Tables::Any,
    }
}

fn tokens(sql: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = sql.char_indices().peekable();
    while let Some((start, character)) = rest.next() {
        match character {
            '\'' | '"' | '`' => {
                let mut text = String::new();
                loop {
                    let (_, inside) = rest.next()?;
                    if inside == '\\' {
                        return None;
                    }
                    if inside != character {
                        text.push(inside);
                    } else if rest.next_if(|(_, next)| *next == character).is_some() {
                        text.push(character);
                    } else {
                        break;
                    }
                }
                tokens.push(if character == '\'' { Token::Other('\'') } else { Token::Quoted(text) });
            }
            space if space.is_whitespace() => {}
            first if first.is_alphabetic() || first == '_' => {
                let mut word = String::from(first);
                while let Some((_, next)) = rest.next_if(|(_, next)| next.is_alphanumeric() || *next == '_') {
                    word.push(next);
                }
                tokens.push(Token::Word(word));
            }
            digit if digit.is_ascii_digit() => {
                tokens.push(Token::Other('0'));
                // A word may follow a number without a space.
                while rest.next_if(|(_, next)| next.is_ascii_digit() || *next == '.').is_some() {}
            }
            other => {
                let here = sql.get(start..)?;
                // Numbered placeholders are `$` and digits, and stand for values alone.
                let placeholder =
                    other == '$' && here.chars().nth(1).is_some_and(|next| next.is_ascii_digit());
                if !placeholder && DOUBTFUL.iter().any(|sign| here.starts_with(sign)) {
                    return None;
                }
                tokens.push(Token::Other(other));
            }
        }
    }
    Some(tokens)
}

/// The state inside one pair of brackets.
#[derive(Default, Clone, Copy)]
struct Level {
    /// The next name is a table's.
    expects: bool,
    /// Commas separate tables here.
    lists_tables: bool,
}

fn walk(tokens: &[Token]) -> Option<Vec<String>> {
    let mut tables = Vec::new();
    let mut levels = vec![Level::default()];
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let level = levels.last_mut()?;
        let upper = match token {
            Token::Word(word) => word.to_uppercase(),
            _ => String::new(),
        };
        if DOUBTFUL_WORDS.contains(&upper.as_str()) {
            return None;
        }
        match token {
            Token::Word(_)
                if level.expects && matches!(upper.as_str(), "ONLY" | "LATERAL" | "TABLE" | "SELECT") =>
            {
                level.expects = upper != "SELECT";
                if !level.expects {
                    level.lists_tables = false;
                }
            }
            Token::Word(_) | Token::Quoted(_) if level.expects => {
                level.expects = false;
                let (name, after) = name_at(tokens, at - 1)?;
                at = after;
                // A function in place of a table may read anything.
                if tokens.get(at) == Some(&Token::Other('(')) {
                    return None;
                }
                tables.push(name);
            }
            Token::Word(_) if upper == "FROM" || upper.ends_with("JOIN") || upper == "TABLE" => {
                *level = Level { expects: true, lists_tables: true };
            }
            Token::Word(_) if upper == "IN" && tokens.get(at) != Some(&Token::Other('(')) => {
                level.expects = true;
            }
            Token::Word(_) if ENDS.contains(&upper.as_str()) => *level = Level::default(),
            Token::Other('(') => {
                let inside = Level { expects: level.expects, lists_tables: level.expects };
                level.expects = false;
                levels.push(inside);
            }
            Token::Other(')') => {
                levels.pop();
                if levels.is_empty() {
                    return None;
                }
            }
            Token::Other(',') => level.expects = level.lists_tables,
            // Some databases take a text for a table's name.
            Token::Other('\'') if level.expects => return None,
            Token::Other(_) if level.expects => level.expects = false,
            _ => {}
        }
    }
    Some(tables)
}

/// A name with its dots, from the token at `at`; and where it ends.
fn name_at(tokens: &[Token], mut at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    loop {
        match tokens.get(at)? {
            Token::Word(part) | Token::Quoted(part) => name.push_str(part),
            Token::Other(_) => return None,
        }
        at += 1;
        if tokens.get(at) != Some(&Token::Other('.')) {
            return Some((name.to_lowercase(), at));
        }
        name.push('.');
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> Tables {
        Tables::Known(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn names_stand_behind_from_join_and_commas() {
        let cases: [(&str, &[&str]); 14] = [
            ("SELECT * FROM users", &["users"]),
            ("select a, b from Users u, orders o where u.id = o.user", &["orders", "users"]),
            ("SELECT 1 FROM a JOIN b ON a.x = b.x LEFT OUTER JOIN c USING (x)", &["a", "b", "c"]),
            ("SELECT * FROM (SELECT * FROM inner_one) t, second", &["inner_one", "second"]),
            ("SELECT * FROM (a JOIN b ON 1 = 1)", &["a", "b"]),
            ("SELECT * FROM sales.orders", &["sales.orders"]),
            ("SELECT * FROM \"My Table\" ORDER BY a, b", &["my table"]),
            ("SELECT * FROM ONLY parent", &["parent"]),
            ("SELECT 'FROM secret' FROM open", &["open"]),
            ("WITH t AS (SELECT * FROM base) SELECT * FROM t", &["base", "t"]),
            ("age > ? AND id IN (SELECT user_id FROM banned)", &["banned"]),
            ("SELECT * FROM a WHERE x IN other", &["a", "other"]),
            ("SELECT * FROM a UNION SELECT * FROM b", &["a", "b"]),
            ("age > $1", &[]),
        ];
        for (sql, tables) in cases {
            assert_eq!(tables_of(sql), known(tables), "{sql}");
        }
    }

    #[test]
    fn at_the_first_doubt_it_is_any_table() {
        for sql in [
            "SELECT * FROM f(1)",
            "SELECT * FROM users -- and more",
            "DELETE FROM users",
            "SELECT * INTO copy FROM users",
            "PRAGMA table_info(users)",
            "SELECT 'it\\'s' FROM users",
            "SELECT * FROM users; SELECT 1",
            "SELECT 'open",
            "SELECT 1)",
            "SELECT * FROM 'secret'",
            "SELECT * FROM users, 'secret'",
            "id IN (SELECT id FROM 'secret')",
        ] {
            assert_eq!(tables_of(sql), Tables::Any, "{sql}");
        }
    }
}
