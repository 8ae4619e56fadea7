//! The HTTP client of a server at a `url`: each request with its token.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue, StatusCode};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use luaplan_base::ToolFailure;

use super::Authorization;
use crate::mcp::http_error::{LastHttpError, status_of};

type Failed = StreamableHttpError<reqwest::Error>;

/// Sends a request with a token where there is one, and repeats it once with a new token where the server
/// refuses it: a refused request had no effect.
#[derive(Clone)]
pub(in crate::mcp) struct AuthorizedClient {
    pub(in crate::mcp) inner: reqwest::Client,
    /// `None` where configured headers authenticate the client.
    pub(in crate::mcp) authorization: Option<Arc<Authorization>>,
    /// What happened to the last message.
    pub(in crate::mcp) http_error: LastHttpError,
}

impl AuthorizedClient {
    async fn ask<T, F>(&self, call: impl Fn(Option<String>) -> F) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        // The library logs its errors, and the address in them may hold a key.
        let call = async |token| call(token).await.map_err(without_address);
        let Some(authorization) = &self.authorization else { return call(None).await };
        let token = authorization.token().await.map_err(|failure| refused(authorization, failure))?;
        let mut answer = call(token.clone()).await;
        if let (Some(token), Err(error)) = (&token, &answer)
            && is_unauthorized(error)
        {
            let renewed = authorization.renewed(token).await;
            let renewed = renewed.map_err(|failure| refused(authorization, failure))?;
            answer = call(Some(renewed)).await;
        }
        match &answer {
            Err(error) if is_unauthorized(error) => {
                let why = match token {
                    Some(_) => "it refuses the token it was given",
                    None => "nobody is logged in, and its `headers` say nothing of who asks",
                };
                authorization.note(Some(authorization.login_required(why)));
            }
            Err(StreamableHttpError::InsufficientScope(error)) => {
                let scope = error.get_required_scope().unwrap_or_default();
                authorization.note(Some(authorization.scope_required(scope)));
            }
            Err(_) => {}
            Ok(_) => authorization.note(None),
        }
        answer
    }
}

/// Keeps the reason where the connection finds it; the library's error has no room for it.
fn refused(authorization: &Authorization, failure: ToolFailure) -> Failed {
    let error = std::io::Error::other(failure.message.clone());
    authorization.note(Some(failure));
    StreamableHttpError::Io(error)
}

fn is_unauthorized(error: &Failed) -> bool {
    status_of(error) == Some(StatusCode::UNAUTHORIZED)
}

fn without_address(error: Failed) -> Failed {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

impl StreamableHttpClient for AuthorizedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let asked = self.ask(|token| {
            self.inner.post_message(uri.clone(), message.clone(), session_id.clone(), token, headers.clone())
        });
        let answer = asked.await;
        self.http_error.note(&answer);
        answer
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        event_bytes_max: usize,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let asked = self.ask(|token| {
            let (uri, message, session_id) = (uri.clone(), message.clone(), session_id.clone());
            let headers = headers.clone();
            self.inner.post_message_with_max_sse_event_size(
                uri,
                message,
                session_id,
                token,
                headers,
                event_bytes_max,
            )
        });
        let answer = asked.await;
        self.http_error.note(&answer);
        answer
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.ask(|token| self.inner.delete_session(uri.clone(), session_id.clone(), token, headers.clone()))
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.ask(|token| {
            let (session_id, last_event_id) = (session_id.clone(), last_event_id.clone());
            self.inner.get_stream(uri.clone(), session_id, last_event_id, token, headers.clone())
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        event_bytes_max: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.ask(|token| {
            let (uri, session_id, last_event_id) = (uri.clone(), session_id.clone(), last_event_id.clone());
            let headers = headers.clone();
            self.inner.get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                token,
                headers,
                event_bytes_max,
            )
        })
        .await
    }
}
