//! The simple parts of a query. No SQL parser: of a complex statement less is known.

use serde_json::Value as Json;

/// A column and the condition on its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    pub(super) column: String,
    pub(super) operator: String,
    pub(super) value: Json,
}

/// What is known of a query.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Query {
    /// Empty for all.
    pub(super) columns: Vec<String>,
    /// The columns that count or sum.
    pub(super) totals: Vec<String>,
    pub(super) conditions: Vec<Condition>,
    pub(super) limit: Option<usize>,
    /// A total over all rows.
    pub(super) gives_one_row: bool,
    /// A statement that changes something.
    pub(super) is_writing: bool,
}

impl Query {
    /// Reads the arguments of `query_db`.
    pub(super) fn read(arguments: &Json) -> Self {
        let nothing = Json::Null;
        let params = arguments.get("params").unwrap_or(&nothing);
        let limit =
            arguments.get("limit").and_then(Json::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let mut query = match arguments.get("sql").and_then(Json::as_str) {
            Some(statement) => Self::of_statement(statement, params),
            None => Self::default(),
        };
        query.limit = limit.or(query.limit);
        match arguments.get("columns") {
            Some(Json::Array(names)) => {
                query.columns =
                    names.iter().filter_map(Json::as_str).filter(|name| *name != "*").map(name_of).collect();
            }
            Some(Json::String(names)) if names != "*" => {
                query.columns = split(names, ",").iter().map(|part| name_of(part)).collect();
            }
            _ => {}
        }
        match arguments.get("where") {
            Some(Json::Object(equal)) => {
                query.conditions = equal
                    .iter()
                    .map(|(column, value)| Condition {
                        column: column.clone(),
                        operator: "=".to_owned(),
                        value: value.clone(),
                    })
                    .collect();
            }
            Some(Json::String(condition)) => query.conditions = conditions(condition, params),
            _ => {}
        }
        query
    }

    fn of_statement(statement: &str, params: &Json) -> Self {
        let mut query = Self::default();
        let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = text.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        if ["insert", "update", "delete", "replace", "create", "drop", "alter"].contains(&first.as_str()) {
            query.is_writing = true;
            return query;
        }
        // Statements of a `with` come first; the rows are those of the last one.
        let Some(begin) = top_level(&text, "select ").pop() else { return query };
        let rest = &text[begin + "select ".len()..];
        let from = top_level(rest, " from ").first().copied().unwrap_or(rest.len());
        let list = rest[..from].trim();
        let list = list.strip_prefix("distinct ").or_else(|| list.strip_prefix("DISTINCT ")).unwrap_or(list);
        let parts = split(list, ",");
        if !parts.iter().any(|part| part.ends_with('*')) {
            query.columns = parts.iter().map(|part| name_of(part)).collect();
        }
        query.totals = parts.iter().filter(|part| is_sum(part)).map(|part| name_of(part)).collect();
        let after = &rest[from..];
        let groups = top_level(after, " group by ").first().copied();
        query.gives_one_row =
            groups.is_none() && !parts.is_empty() && parts.iter().all(|part| is_total(part));
        let end_of = |starts: &[&str], from: usize| {
            let ends = starts.iter().filter_map(|start| top_level(&after[from..], start).first().copied());
            ends.min().map_or(after.len(), |end| from + end)
        };
        if let Some(begin) = top_level(after, " where ").first() {
            let begin = begin + " where ".len();
            let end = end_of(&[" group by ", " order by ", " limit ", " having "], begin);
            query.conditions = conditions(&after[begin..end], params);
        }
        if let Some(begin) = top_level(after, " limit ").first() {
            query.limit =
                after[begin + " limit ".len()..].split(' ').next().and_then(|word| word.parse().ok());
        }
        query
    }
}

fn is_total(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    ["count(", "sum(", "avg(", "min(", "max(", "total("].iter().any(|name| lower.starts_with(name))
}

/// Whether a part is always a number.
fn is_sum(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    ["count(", "sum(", "avg(", "total(", "coalesce(sum(", "round("].iter().any(|name| lower.starts_with(name))
}

/// The name a part of a select list has in the rows.
fn name_of(part: &str) -> String {
    let part = part.trim();
    let named = top_level(part, " as ").last().map(|begin| &part[begin + " as ".len()..]);
    let name = named.unwrap_or_else(|| match part.contains('(') {
        true => part,
        false => part.rsplit([' ', '.']).next().unwrap_or(part),
    });
    name.trim().trim_matches(['"', '`', '[', ']']).to_owned()
}

/// `column operator value` of each part between `AND`.
fn conditions(text: &str, params: &Json) -> Vec<Condition> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    let mut used = 0;
    for part in split(&text, " and ") {
        let first = used;
        used += part.matches('?').count();
        let Some((operator, at)) = [">=", "<=", "<>", "!=", "=", ">", "<"]
            .iter()
            .filter_map(|operator| part.find(operator).map(|at| (*operator, at)))
            .min_by_key(|(operator, at)| (*at, std::cmp::Reverse(operator.len())))
        else {
            continue;
        };
        let column = name_of(&part[..at]);
        let is_plain = !column.is_empty() && column.chars().all(|c| c.is_alphanumeric() || c == '_');
        let value = value_of(part[at + operator.len()..].trim(), params, first);
        if let (true, Some(value)) = (is_plain, value) {
            found.push(Condition { column, operator: operator.to_owned(), value });
        }
    }
    found
}

fn value_of(text: &str, params: &Json, place: usize) -> Option<Json> {
    if text == "?" {
        return params.get(place).cloned();
    }
    if let Some(name) = text.strip_prefix(':') {
        return params.get(name).cloned();
    }
    if let Some(number) = text.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok()) {
        return params.get(number.checked_sub(1)?).cloned();
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Json::String(quoted.replace("''", "'")));
    }
    text.parse::<serde_json::Number>().ok().map(Json::Number)
}

/// Cuts at `separator` where it stands outside of brackets and quotes.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for at in top_level(text, separator) {
        parts.push(text[begin..at].trim());
        begin = at + separator.len();
    }
    parts.push(text[begin..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where `word`, in small letters, stands outside of brackets and quotes, whatever its case.
fn top_level(text: &str, word: &str) -> Vec<usize> {
    let (bytes, wanted) = (text.as_bytes(), word.as_bytes());
    let (mut depth, mut quote, mut found) = (0_usize, None, Vec::new());
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if *byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(*byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_here = bytes.get(at..at + wanted.len()).is_some_and(|part| part.eq_ignore_ascii_case(wanted));
        if is_here && depth == 0 && quote.is_none() {
            found.push(at);
        }
    }
    found
}
