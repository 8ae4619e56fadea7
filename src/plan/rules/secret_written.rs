//! Keys, tokens and passwords written into the plan.

use emmylua_parser::{
    LuaAssignStat, LuaAstNode, LuaIndexKey, LuaLiteralExpr, LuaLocalStat, LuaTableField, LuaVarExpr,
};

use super::literals::{texts, words};
use super::{Plan, Raised};

/// The prefixes of well-known keys, with their minimum length.
const PREFIXES: [(&str, usize); 15] = [
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("pk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("eyJhbGciOi", 30),
    ("npm_", 30),
];

/// Names of variables and fields that hold secrets.
const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_token",
    "auth_token",
    "client_secret",
    "private_key",
    "authorization",
    "x-api-key",
    "bearer",
    "secret_key",
];

const HELP: &str = "keep secrets in the tools' configuration; a plan is stored and shown as it is";

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    texts(plan.chunk)
        .filter_map(|(text, span, literal)| {
            let what = looks_like(&text).or_else(|| named_like(&literal, &text))?;
            Some(Raised::warning(span, format!("this text looks like {what}"), HELP))
        })
        .collect()
}

fn looks_like(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    for word in words(text) {
        let is_key = PREFIXES.iter().any(|(prefix, length)| {
            word.starts_with(prefix)
                && word.len() >= *length
                && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        });
        if is_key {
            return Some("an API key");
        }
        if let Some((_, rest)) = word.split_once("://")
            && let Some((user, _)) = rest.split('/').next().and_then(|host| host.rsplit_once('@'))
            && user
                .split_once(':')
                .is_some_and(|(_, password)| !password.is_empty() && !password.starts_with('%'))
        {
            return Some("a URL with a password in it");
        }
    }
    None
}

/// A text assigned to a variable or field with the name of a secret.
fn named_like(literal: &LuaLiteralExpr, text: &str) -> Option<&'static str> {
    let is_value = text.len() >= 6 && !text.contains(char::is_whitespace) || text.starts_with("Bearer ");
    let name = name_of(literal)?.to_lowercase();
    let fits = NAMES.contains(&name.as_str())
        || ["_password", "_secret", "_token", "_api_key"].iter().any(|end| name.ends_with(end));
    (is_value && fits).then_some("a secret, by the name it is given")
}

fn name_of(literal: &LuaLiteralExpr) -> Option<String> {
    let parent = literal.syntax().parent()?;
    if let Some(field) = LuaTableField::cast(parent.clone()) {
        return match field.get_field_key()? {
            LuaIndexKey::Name(name) => Some(name.get_name_text().to_owned()),
            LuaIndexKey::String(text) => Some(text.get_value()),
            _ => None,
        };
    }
    if let Some(local) = LuaLocalStat::cast(parent.clone()) {
        let value = emmylua_parser::LuaExpr::LiteralExpr(literal.clone());
        let name = local.get_local_name_by_value(value)?.get_name_token()?;
        return Some(name.get_name_text().to_owned());
    }
    let (targets, values) = LuaAssignStat::cast(parent)?.get_var_and_expr_list();
    let place = values.iter().position(|value| value.syntax() == literal.syntax())?;
    match targets.get(place)? {
        LuaVarExpr::NameExpr(name) => name.get_name_text(),
        LuaVarExpr::IndexExpr(index) => match index.get_index_key()? {
            LuaIndexKey::Name(name) => Some(name.get_name_text().to_owned()),
            LuaIndexKey::String(text) => Some(text.get_value()),
            _ => None,
        },
    }
}
