//! Redirects, followed hop by hop so that the guard judges each target like the first address.

use reqwest::Response;
use reqwest::header;
use url::Url;

use luaplan_base::{ErrorCode, ToolFailure};

use super::guard::{blocked, check_form};

/// The target of a response's redirect, if it has one that may be followed.
pub(crate) fn redirect_target(from: &Url, response: &Response) -> Result<Option<Url>, ToolFailure> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response.headers().get(header::LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let target = location.to_str().ok().and_then(|location| from.join(location).ok()).ok_or_else(|| {
        ToolFailure::new(ErrorCode::UrlInvalid, "the server redirected to something that is not a URL")
    })?;
    check_form(&target)?;
    if from.scheme() == "https" && target.scheme() == "http" {
        return Err(blocked(
            format!("`{from}` redirects from https to http, which is not followed"),
            "https_downgrade",
        ));
    }
    Ok(Some(target))
}
