//! The caller of a tool.

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use luaplan_app::Caller;

pub(super) type Context = RequestContext<RoleServer>;

/// Whether the call came over HTTP.
pub(super) fn is_over_http(context: &Context) -> bool {
    context.extensions.get::<Parts>().is_some()
}

/// The caller: over HTTP the request's API key, on stdio the user who owns this process.
pub(super) fn caller_of(context: &Context) -> Caller {
    match context.extensions.get::<Parts>() {
        Some(parts) => parts.extensions.get::<Caller>().cloned().unwrap_or_else(Caller::unknown),
        None => Caller::at_terminal(),
    }
}
