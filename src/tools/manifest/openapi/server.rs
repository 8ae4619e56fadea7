//! The server of an operation.

use serde_json::Value as Json;
use url::Url;

use super::document::Document;

/// The base address of operations, without a slash at its end.
///
/// # Errors
/// In words: several servers, an address that is none, or one that is relative to nothing.
pub(super) fn take(
    document: &Document,
    item: &Json,
    operation: &Json,
    wanted: Option<&str>,
) -> Result<String, String> {
    if let Some(wanted) = wanted {
        return absolute(document, wanted);
    }
    let of =
        |value: Option<&Json>| value.and_then(Json::as_array).filter(|servers| !servers.is_empty()).cloned();
    let servers = of(operation.get("servers"))
        .or_else(|| of(item.get("servers")))
        .or_else(|| of(document.at("/servers")));
    let mut urls: Vec<String> = Vec::new();
    for server in servers.iter().flatten() {
        let url = with_variables(server)?;
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    match urls.as_slice() {
        [] => absolute(document, "/").map_err(|_| "the document names no server: give `--server`".to_owned()),
        [one] => absolute(document, one).map_err(|what| format!("{what}: give `--server`")),
        several => {
            Err(format!("there are several servers: say with `--server` which, of {}", several.join(", ")))
        }
    }
}

/// Variables have the values the document gives them.
fn with_variables(server: &Json) -> Result<String, String> {
    let mut url =
        server.get("url").and_then(Json::as_str).ok_or("a server has no `url`: give `--server`")?.to_owned();
    for (name, variable) in server.get("variables").and_then(Json::as_object).into_iter().flatten() {
        let default = variable.get("default").and_then(Json::as_str);
        let default = default
            .ok_or_else(|| format!("the server's variable `{name}` has no default: give `--server`"))?;
        url = url.replace(&format!("{{{name}}}"), default);
    }
    if url.contains(['{', '}']) {
        return Err(format!("the server `{url}` names a variable it does not explain: give `--server`"));
    }
    Ok(url)
}

/// The absolute address, relative to the document's own.
///
/// # Errors
/// In words, what is wrong with it.
pub(super) fn absolute(document: &Document, url: &str) -> Result<String, String> {
    let parsed = match (&document.source, Url::parse(url)) {
        (_, Ok(url)) => url,
        (Some(source), Err(url::ParseError::RelativeUrlWithoutBase)) => {
            source.join(url).map_err(|error| format!("the server `{url}` is no address: {error}"))?
        }
        (None, Err(url::ParseError::RelativeUrlWithoutBase)) => {
            return Err(format!("the server `{url}` is relative to where the document came from"));
        }
        (_, Err(error)) => return Err(format!("the server `{url}` is no address: {error}")),
    };
    if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
        return Err(format!("the server `{url}` is not asked by HTTP"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("the server's address holds a user or password".to_owned());
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(format!("the server `{url}` has a query or a fragment"));
    }
    Ok(parsed.as_str().trim_end_matches('/').to_owned())
}
