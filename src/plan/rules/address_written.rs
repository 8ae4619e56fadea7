//! Addresses in a plan that neither its task nor its context names: the model invented them, or took
//! them from elsewhere.

use std::net::IpAddr;

use luaplan_base::Value;

use super::literals::{texts, words};
use super::{Plan, Raised};

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    // The author of a hand-written plan means its addresses.
    let Some(task) = plan.input.task else { return Vec::new() };
    let mut known = task.to_lowercase();
    if let Some(context) = plan.input.context {
        collect(context, &mut known);
    }
    let mut found = Vec::new();
    for (text, span, _) in texts(plan.chunk) {
        for word in words(&text) {
            let Some((kind, significant)) = address(word) else { continue };
            if known.contains(&significant.to_lowercase()) {
                continue;
            }
            found.push(Raised::warning(
                span,
                format!("the {kind} `{significant}` is written into the plan, but is not in the task"),
                "make sure that it is meant; better take it from the context or from a tool's result",
            ));
        }
    }
    found
}

fn collect(value: &Value, known: &mut String) {
    match value {
        Value::String(text) => {
            known.push('\n');
            known.push_str(&text.to_lowercase());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, known)),
        Value::Object(members) => {
            for (name, member) in members {
                known.push('\n');
                known.push_str(&name.to_lowercase());
                collect(member, known);
            }
        }
        _ => {}
    }
}

/// What kind of address a word is, and the part of it that decides where it leads.
fn address(word: &str) -> Option<(&'static str, &str)> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let host = rest.split(['/', '?', '#']).next()?;
        let host = host.rsplit('@').next()?;
        let is_url = scheme.chars().all(|c| c.is_ascii_alphanumeric())
            && host.contains(['.', ':'])
            && !host.contains('%');
        return is_url.then_some(("host", host));
    }
    if word.parse::<IpAddr>().is_ok() && word.len() > 3 {
        return Some(("address", word));
    }
    let (user, host) = word.split_once('@')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let is_mail =
        !user.is_empty() && user.chars().all(plain) && host.contains('.') && host.chars().all(plain);
    is_mail.then_some(("e-mail address", word))
}
