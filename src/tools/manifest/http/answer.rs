//! Turns an answer into a result, and finds the next page.

use reqwest::header::LINK;
use serde_json::Value as Json;
use url::Url;

use luaplan_base::{ToolFailure, Value};

use super::exchange::{HttpAnswer, same_host};
use super::request::Request;
use super::settings::{Pages, PagesBy, Response};
use crate::manifest::response_invalid;
use crate::net::guard::check_form;

/// The answer as a document.
///
/// # Errors
/// `response_invalid` where it is not JSON.
pub(super) fn document(answer: &HttpAnswer) -> Result<Json, ToolFailure> {
    if answer.body.is_empty() {
        return Ok(Json::Null);
    }
    serde_json::from_slice(&answer.body).map_err(|error| {
        response_invalid(format!("the answer is not JSON: {error}"))
            .with_detail("status", i64::from(answer.status.as_u16()))
    })
}

/// The part of the document that is the result, with the manifest's fields.
///
/// # Errors
/// `response_invalid` where the pointer leads nowhere, or where fields are wanted of what has none.
pub(super) fn mapped(response: &Response, document: &Json) -> Result<Json, ToolFailure> {
    let found = document
        .pointer(&response.pointer)
        .ok_or_else(|| response_invalid(format!("the answer has nothing at `{}`", response.pointer)))?;
    if response.fields.is_empty() {
        return Ok(found.clone());
    }
    let one = |item: &Json| -> Json {
        let field = |pointer: &String| item.pointer(pointer).cloned().unwrap_or_default();
        response.fields.iter().map(|(name, pointer)| (name.clone(), field(pointer))).collect()
    };
    match found {
        Json::Array(items) => Ok(Json::Array(items.iter().map(one).collect())),
        Json::Object(_) => Ok(one(found)),
        Json::Null => Ok(Json::Null),
        _ => Err(response_invalid(format!("at `{}` is neither an object nor a list", response.pointer))),
    }
}

/// A document as a value.
///
/// # Errors
/// `response_invalid` for integers beyond 64 signed bits.
pub(super) fn value(json: Json) -> Result<Value, ToolFailure> {
    Value::from_json(json).map_err(|error| response_invalid(error.message()))
}

/// Puts the server's own message in front, where the manifest says where it is.
pub(super) fn with_message(mut failure: ToolFailure, pointer: Option<&str>) -> ToolFailure {
    let body = failure.details.get("body").and_then(Value::as_str);
    let document: Option<Json> = body.and_then(|body| serde_json::from_str(body).ok());
    let message = document.as_ref().zip(pointer).and_then(|(document, pointer)| document.pointer(pointer));
    if let Some(message) = message.and_then(Json::as_str) {
        failure.message = format!("{}: {message}", failure.message);
    }
    failure
}

/// The request for the page after this one; `None` where this is the last.
///
/// # Errors
/// `url_blocked` for a link to another host, `url_invalid` for one with a user or a password;
/// `response_invalid` for one that is no address.
pub(super) fn next_page(
    pages: &Pages,
    request: &Request,
    answer: &HttpAnswer,
    document: &Json,
    items: usize,
    number: u32,
) -> Result<Option<Request>, ToolFailure> {
    let items = items as u64;
    let is_last = items == 0 || pages.size.is_some_and(|size| items < size);
    let at_pointer = || pages.pointer.as_deref().and_then(|pointer| document.pointer(pointer));
    let parameter = pages.parameter.as_deref().unwrap_or_default();
    let mut next = request.clone();
    match pages.by {
        PagesBy::LinkHeader => {
            let links = answer.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
            let Some(link) = links.into_iter().find_map(next_link) else { return Ok(None) };
            next.url = follow(request, answer, link)?;
        }
        PagesBy::NextLink => match at_pointer() {
            Some(Json::String(link)) if !link.is_empty() => next.url = follow(request, answer, link)?,
            _ => return Ok(None),
        },
        PagesBy::Cursor => match at_pointer() {
            Some(Json::String(cursor)) if !cursor.is_empty() => next.set_parameter(parameter, cursor),
            Some(Json::Number(cursor)) => next.set_parameter(parameter, &cursor.to_string()),
            _ => return Ok(None),
        },
        PagesBy::Page | PagesBy::Offset if is_last => return Ok(None),
        PagesBy::Page => {
            let page = pages.first.unwrap_or(1) + u64::from(number);
            next.set_parameter(parameter, &page.to_string());
        }
        PagesBy::Offset => {
            let offset = pages.first.unwrap_or(0) + u64::from(number) * pages.size.unwrap_or(1);
            next.set_parameter(parameter, &offset.to_string());
        }
    }
    Ok(Some(next))
}

fn follow(request: &Request, answer: &HttpAnswer, link: &str) -> Result<Url, ToolFailure> {
    let next =
        answer.url.join(link).map_err(|_| response_invalid("the link to the next page is no address"))?;
    check_form(&next)?;
    same_host(&request.url, &next, "links to")?;
    Ok(next)
}

/// The address of `rel="next"` in a `Link` header (RFC 8288).
fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
        let (_, after) = rest.split_once('<')?;
        let (link, after) = after.split_once('>')?;
        let mut quoted = false;
        let ends = |(_, character): &(usize, char)| {
            quoted ^= *character == '"';
            *character == ',' && !quoted
        };
        let end = after.char_indices().find(ends).map_or(after.len(), |(at, _)| at);
        let is_next = after[..end].split(';').any(|parameter| {
            let Some((name, value)) = parameter.split_once('=') else { return false };
            let relations = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel")
                && relations.split_ascii_whitespace().any(|relation| relation.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(link);
        }
        rest = &after[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::next_link;

    #[test]
    fn the_next_link_is_found_among_others() {
        for (header, expected) in [
            (r#"<https://a.example/?page=2>; rel="next""#, Some("https://a.example/?page=2")),
            (r#"</?p=1>; rel="prev", </?p=3>; rel=next; title="x""#, Some("/?p=3")),
            (r#"</?a=1,2>; rel="first last", </?p=9,<>; rel="x next""#, Some("/?p=9,<")),
            (r#"</?p=1>; rel="prev""#, None),
            ("nonsense", None),
            ("", None),
        ] {
            assert_eq!(next_link(header), expected, "{header}");
        }
    }
}
