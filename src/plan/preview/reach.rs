//! The places that arguments name.

use std::fmt;

use serde::Serialize;
use url::Url;

use luaplan_base::Value;
use luaplan_catalog::{TargetKind, ToolSpec};

use super::sql::{Tables, tables_of};
use crate::flow::{Argument, CallSite, ContextPath, Leaf, Origin};

/// Values of a context looked up for one argument.
const VALUES_MAX: usize = 200;

/// How much is known of a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "known", content = "what")]
pub enum TargetPattern {
    /// Exactly this one.
    Exactly(String),
    /// Any with this prefix.
    Begins(String),
    /// One that the context or a call decides.
    From(Origin),
    /// The one configured for calls that name none.
    Default,
    /// Any.
    Any,
}

/// A place a call reaches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Target {
    /// What it is: never `url` or `sql`, which count as hosts and tables.
    pub kind: TargetKind,
    /// Which one.
    #[serde(flatten)]
    pub reach: TargetPattern,
}

impl Target {
    /// Whether this target covers `what`.
    #[must_use]
    pub fn covers(&self, kind: TargetKind, what: &str) -> bool {
        self.kind == kind
            && match &self.reach {
                TargetPattern::Exactly(known) => known.eq_ignore_ascii_case(what),
                TargetPattern::Begins(head) => what.to_lowercase().starts_with(&head.to_lowercase()),
                TargetPattern::From(_) | TargetPattern::Default | TargetPattern::Any => true,
            }
    }
}

impl fmt::Display for TargetPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(what) => f.write_str(what),
            Self::Begins(head) => write!(f, "{head}…"),
            Self::From(Origin::Context(path)) => write!(f, "from {path}"),
            Self::From(Origin::Call(number)) => write!(f, "from the result of call {number}"),
            Self::From(Origin::Anything) | Self::Any => f.write_str("any"),
            Self::Default => f.write_str("the default"),
        }
    }
}

/// What the calls of a site reach.
pub(super) fn targets(
    site: &CallSite,
    spec: &ToolSpec,
    context: Option<&Value>,
    fixed: &[(TargetKind, String)],
) -> Vec<Target> {
    let mut found = Vec::new();
    fixed.iter().for_each(|(kind, what)| exactly(*kind, what, &mut found));
    for (name, kind) in &spec.targets {
        match site.arguments.get(name) {
            Some(argument) => of_argument(*kind, argument, context, &mut found),
            None if *kind == TargetKind::Database => {
                found.push(Target { kind: *kind, reach: TargetPattern::Default });
            }
            None => {}
        }
        // One that may be left out may be the default too.
        if *kind == TargetKind::Database
            && site.arguments.get(name).is_some_and(|argument| argument.leaves.iter().any(is_open))
        {
            found.push(Target { kind: *kind, reach: TargetPattern::Default });
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What a tool reaches that may be called with any arguments.
pub(super) fn anywhere(spec: &ToolSpec, fixed: Option<&Vec<(TargetKind, String)>>) -> Vec<Target> {
    let mut found: Vec<Target> = spec.targets.values().map(|kind| open(*kind, TargetPattern::Any)).collect();
    fixed.into_iter().flatten().for_each(|(kind, what)| exactly(*kind, what, &mut found));
    found
}

/// What an argument that names places of this kind may name.
#[must_use]
pub fn argument_targets(kind: TargetKind, argument: &Argument, context: Option<&Value>) -> Vec<Target> {
    let mut found = Vec::new();
    of_argument(kind, argument, context, &mut found);
    found
}

fn is_open(leaf: &Leaf) -> bool {
    matches!(leaf, Leaf::From(_) | Leaf::Computed)
}

fn of_argument(kind: TargetKind, argument: &Argument, context: Option<&Value>, found: &mut Vec<Target>) {
    // A list of addresses names addresses; a table given as a condition holds values, not SQL.
    let listed =
        matches!(kind, TargetKind::Url | TargetKind::Host | TargetKind::Recipient | TargetKind::File);
    let leaves = if listed { &argument.leaves } else { &argument.own };
    for leaf in leaves {
        match leaf {
            Leaf::Text(text) | Leaf::Plain(text) => exactly(kind, text, found),
            Leaf::Begins(head) => begins(kind, head, found),
            Leaf::From(Origin::Context(path)) => {
                let values = context.and_then(|context| values_at(context, path));
                match values {
                    Some(values) => values.iter().for_each(|value| exactly(kind, value, found)),
                    None => found.push(open(kind, TargetPattern::From(Origin::Context(path.clone())))),
                }
            }
            Leaf::From(origin) => found.push(open(kind, TargetPattern::From(origin.clone()))),
            Leaf::Computed => found.push(open(kind, TargetPattern::Any)),
        }
    }
}

fn open(kind: TargetKind, reach: TargetPattern) -> Target {
    Target { kind: shown_kind(kind), reach }
}

fn shown_kind(kind: TargetKind) -> TargetKind {
    match kind {
        TargetKind::Url => TargetKind::Host,
        TargetKind::Sql => TargetKind::Table,
        other => other,
    }
}

fn exactly(kind: TargetKind, text: &str, found: &mut Vec<Target>) {
    let mut push = |reach| found.push(open(kind, reach));
    match kind {
        TargetKind::Url => match host_of(text) {
            Some(host) => push(TargetPattern::Exactly(host)),
            // No address at all: such a call fails before it reaches out.
            None => push(TargetPattern::Exactly(text.to_owned())),
        },
        TargetKind::Recipient => {
            for one in text.split([',', ';']).map(str::trim).filter(|one| !one.is_empty()) {
                let address = one.rsplit_once('<').map_or(one, |(_, rest)| rest.trim_end_matches('>').trim());
                push(TargetPattern::Exactly(address.to_lowercase()));
            }
        }
        TargetKind::Sql => match tables_of(text) {
            Tables::Known(tables) => tables.into_iter().for_each(|table| push(TargetPattern::Exactly(table))),
            Tables::Any => push(TargetPattern::Any),
        },
        _ => push(TargetPattern::Exactly(text.to_owned())),
    }
}

fn begins(kind: TargetKind, head: &str, found: &mut Vec<Target>) {
    let reach = match kind {
        // The host is known as soon as something else follows it.
        TargetKind::Url if head.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#'])) => {
            host_of(head).map_or(TargetPattern::Any, TargetPattern::Exactly)
        }
        TargetKind::Url | TargetKind::Sql | TargetKind::Recipient => TargetPattern::Any,
        _ => TargetPattern::Begins(head.to_owned()),
    };
    found.push(open(kind, reach));
}

/// The host of an address, with its port where it is not the usual one.
#[must_use]
pub fn host_of(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok()?;
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// Every plain value at a path of the context, as text. `None` where there are too many.
fn values_at(context: &Value, path: &ContextPath) -> Option<Vec<String>> {
    let mut places = vec![context];
    for part in &path.0 {
        let mut inside = Vec::new();
        for place in places {
            match (place, part.as_str()) {
                (Value::Array(items), _) => inside.extend(items),
                (Value::Object(members), "*") => inside.extend(members.values()),
                (Value::Object(members), name) => inside.extend(members.get(name)),
                _ => {}
            }
        }
        places = inside;
    }
    let mut values = Vec::new();
    while let Some(place) = places.pop() {
        match place {
            Value::Array(items) => places.extend(items),
            Value::Object(members) => places.extend(members.values()),
            Value::String(text) => values.push(text.clone()),
            Value::Null => {}
            Value::Integer(number) => values.push(number.to_string()),
            _ => return None,
        }
        if values.len() > VALUES_MAX {
            return None;
        }
    }
    Some(values)
}
