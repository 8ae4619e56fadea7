//! The sessions of clients over HTTP: the owner of each, and which is closed to make room.
//!
//! A key has a maximum; one more closes its own longest idle session, so a client that starts sessions and
//! abandons them harms itself alone. A session belongs to the key that started it; other keys do not see it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};

use luaplan_app::config::ServerShares;
use luaplan_base::{Error, ErrorCode};

tokio::task_local! {
    /// The current request; absent where the library ends a session by itself.
    pub(super) static REQUESTER: Requester;
}

/// The sender of a request, and the request's result.
#[derive(Clone, Default)]
pub(super) struct Requester {
    pub(super) key: String,
    /// The refusal.
    pub(super) refusal: Arc<Mutex<Option<Error>>>,
    /// The session it started, in use until the request ends in any way.
    begun: Arc<Mutex<Option<Using>>>,
}

impl Requester {
    pub(super) fn of(key: String) -> Self {
        Self { key, ..Self::default() }
    }
}

/// Why a session is not available.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFault {
    /// A reason of the library.
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
    /// There is no place; the request holds the refusal.
    #[error("there is no place for another session")]
    Refused,
}

/// All sessions of one server.
pub(super) struct Sessions {
    local: LocalSessionManager,
    max: usize,
    max_per_key: usize,
    table: Arc<Mutex<SessionTable>>,
}

#[derive(Default)]
struct SessionTable {
    uses: u64,
    sessions: HashMap<SessionId, SessionEntry>,
}

struct SessionEntry {
    key: String,
    last_used: u64,
    /// Running requests, including the one that starts the session.
    requests: u32,
    /// Open notification streams of the client; they are not work, so they do not keep the session in use.
    streams: u32,
}

impl Sessions {
    pub(super) fn new(shares: &ServerShares) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(shares.mcp_session_idle);
        Self {
            local,
            max: shares.max_mcp_sessions as usize,
            max_per_key: shares.max_mcp_sessions_per_key as usize,
            table: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionTable> {
        lock(&self.table)
    }

    /// Whether `id` is a session of this key.
    pub(super) fn is_of(&self, id: &SessionId, key: &str) -> bool {
        self.lock().sessions.get(id).is_some_and(|session| session.key == key)
    }

    fn using(&self, id: &SessionId, is_stream: bool) -> Using {
        self.lock().begin(id, is_stream);
        Using { table: self.table.clone(), id: id.clone(), is_stream }
    }
}

impl SessionTable {
    fn begin(&mut self, id: &SessionId, is_stream: bool) {
        self.uses += 1;
        let uses = self.uses;
        if let Some(session) = self.sessions.get_mut(id) {
            session.last_used = uses;
            *session.count(is_stream) += 1;
        }
    }

    fn count_of(&self, key: &str) -> usize {
        self.sessions.values().filter(|session| session.key == key).count()
    }

    /// The longest idle session of `key`, sessions without a stream first.
    fn longest_idle(&self, key: &str) -> Option<SessionId> {
        let own = self.sessions.iter().filter(|(_, session)| session.key == key && session.requests == 0);
        own.min_by_key(|(_, session)| (session.streams > 0, session.last_used)).map(|(id, _)| id.clone())
    }

    /// The key with the most sessions among those with an idle one.
    fn greediest(&self) -> Option<String> {
        let mut counts: HashMap<&str, (usize, bool)> = HashMap::new();
        for session in self.sessions.values() {
            let (count, has_idle) = counts.entry(session.key.as_str()).or_default();
            *count += 1;
            *has_idle |= session.requests == 0;
        }
        let with_idle = counts.into_iter().filter(|(_, (_, has_idle))| *has_idle);
        with_idle.max_by_key(|(_, (count, _))| *count).map(|(key, _)| key.to_owned())
    }

    /// Adds a session, and removes the one that makes room for it.
    fn enter(
        &mut self,
        id: &SessionId,
        key: &str,
        max: usize,
        max_per_key: usize,
    ) -> Result<Option<SessionId>, Error> {
        let own = self.count_of(key);
        let evicted = if own >= max_per_key {
            let message = "each session this key may have has a request under way: \
                           `server.max_mcp_sessions_per_key`";
            let full = || Error::new(ErrorCode::KeyLimit, message).with_limit(max_per_key, own);
            Some(self.longest_idle(key).ok_or_else(full)?)
        } else if self.sessions.len() >= max {
            let message = "as many sessions as the server may have have a request under way: \
                           `server.max_mcp_sessions`";
            let full = || Error::new(ErrorCode::ServerBusy, message).with_limit(max, max);
            let idle = self.greediest().and_then(|greediest| self.longest_idle(&greediest));
            Some(idle.ok_or_else(full)?)
        } else {
            None
        };
        if let Some(evicted) = &evicted {
            self.sessions.remove(evicted);
        }
        self.uses += 1;
        let session = SessionEntry { key: key.to_owned(), last_used: self.uses, requests: 1, streams: 0 };
        self.sessions.insert(id.clone(), session);
        Ok(evicted)
    }
}

impl SessionEntry {
    fn count(&mut self, is_stream: bool) -> &mut u32 {
        if is_stream { &mut self.streams } else { &mut self.requests }
    }
}

fn lock(table: &Mutex<SessionTable>) -> MutexGuard<'_, SessionTable> {
    // Each change of the table is complete under the lock, so a poisoned lock is usable.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request or stream of a session, until this is dropped.
struct Using {
    table: Arc<Mutex<SessionTable>>,
    id: SessionId,
    is_stream: bool,
}

impl Drop for Using {
    fn drop(&mut self) {
        if let Some(session) = lock(&self.table).sessions.get_mut(&self.id) {
            let count = session.count(self.is_stream);
            *count = count.saturating_sub(1);
        }
    }
}

impl SessionManager for Sessions {
    type Error = SessionFault;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        let entered = REQUESTER
            .try_with(|caller| {
                let entered = self.lock().enter(&id, &caller.key, self.max, self.max_per_key);
                match entered {
                    Ok(evicted) => {
                        let using = Using { table: self.table.clone(), id: id.clone(), is_stream: false };
                        *caller.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(using);
                        Ok(evicted)
                    }
                    Err(error) => {
                        *caller.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        Err(())
                    }
                }
            })
            .unwrap_or(Err(()));
        match entered {
            Ok(None) => {}
            Ok(Some(evicted)) => {
                tracing::debug!("the longest idle session was closed for a new one");
                if let Err(error) = self.local.close_session(&evicted).await {
                    tracing::warn!(%error, "an idle session did not close as it should");
                }
            }
            Err(()) => {
                self.local.close_session(&id).await?;
                return Err(SessionFault::Refused);
            }
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let is_own = REQUESTER.try_with(|caller| self.is_of(id, &caller.key)).unwrap_or(false);
        Ok(is_own && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.lock().sessions.remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let using = self.using(id, false);
        let stream = self.local.create_stream(id, message).await?;
        Ok(stream.inspect(move |_| {
            let _ = &using;
        }))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        let _using = self.using(id, false);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let using = self.using(id, true);
        let stream = self.local.create_standalone_stream(id).await?;
        Ok(stream.inspect(move |_| {
            let _ = &using;
        }))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let using = self.using(id, true);
        let stream = self.local.resume(id, last_event_id).await?;
        Ok(stream.inspect(move |_| {
            let _ = &using;
        }))
    }
}
