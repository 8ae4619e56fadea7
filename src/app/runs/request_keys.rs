//! Requests that may come twice: which of them begins a run, and what the others are told.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value as Json;

use luaplan_base::{ContentHash, Error, ErrorCode, Result, RunId};
use luaplan_journal::KeyedRequest;

use crate::history::History;

/// How long a key stands for its request.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

/// How much longer than it may take a request that was claimed and has left no trace may be under way,
/// in another process too.
const ANSWERED_LATE: Duration = Duration::from_secs(60);

/// The longest key, in characters.
const KEY_LENGTH_MAX: usize = 255;

/// What a key says of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyClaim {
    /// It is the first; a run that it begins has its id.
    First(KeyedRequest),
    /// It came before and began, or would have begun, the run of this id; its answer, where that was kept.
    Repeated(RunId, Option<Json>),
}

impl History {
    /// Claims `key` for a request of `claimant`, of which `request_hash` says what it asks, and that is
    /// answered within a time.
    ///
    /// # Errors
    /// `bad_request` for a key that is none; `idempotency_key_reused` where it stands for another request;
    /// `idempotency_in_progress` where the same request is being answered; and as writing the journal.
    pub async fn claim_request(
        &self,
        claimant: &str,
        key: &str,
        request_hash: ContentHash,
        answered_within: Duration,
    ) -> Result<KeyClaim> {
        check_key(key)?;
        let keys = self.journal.request_keys();
        let now = self.clock.now();
        let request = KeyedRequest {
            claimant: claimant.to_owned(),
            key: key.to_owned(),
            request_hash,
            run_id: RunId::generate(),
            claimed_at: now,
            answer: None,
        };
        let expired = now.checked_sub(KEPT).unwrap_or(jiff::Timestamp::MIN);
        let Some(held) = keys.claim(&request, expired).await? else {
            return Ok(KeyClaim::First(request));
        };
        if held.request_hash != request.request_hash {
            let message = "the idempotency key was sent with another request before";
            return Err(Error::new(ErrorCode::IdempotencyKeyReused, message));
        }
        if held.answer.is_some() || self.is_on_record(&held.run_id).await? {
            return Ok(KeyClaim::Repeated(held.run_id, held.answer));
        }
        // Nothing on record after so long: the process that claimed it is gone, or its client went away first.
        let answered_within = answered_within + ANSWERED_LATE;
        let claimed_for = now.duration_since(held.claimed_at).unsigned_abs();
        if claimed_for > answered_within && keys.claim_again(&held, now).await? {
            return Ok(KeyClaim::First(KeyedRequest { claimed_at: now, ..held }));
        }
        let message = format!("the same request came {} s ago and is being answered", claimed_for.as_secs());
        Err(Error::new(ErrorCode::IdempotencyInProgress, message))
    }

    /// Keeps what a claimed request was answered, for those that repeat it.
    ///
    /// # Errors
    /// As writing the journal.
    pub async fn keep_answer(&self, request: &KeyedRequest, answer: &Json) -> Result<()> {
        self.journal.request_keys().answered(request, answer).await
    }

    /// Gives the key of a request back that was refused: it may be sent again under the same key.
    ///
    /// # Errors
    /// As writing the journal.
    pub async fn release_request(&self, request: &KeyedRequest) -> Result<()> {
        self.journal.request_keys().release(request).await
    }
}

fn check_key(key: &str) -> Result<()> {
    let fits = (1..=KEY_LENGTH_MAX).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if fits {
        return Ok(());
    }
    Err(Error::new(ErrorCode::BadRequest, "`Idempotency-Key` is no key")
        .with_limit(KEY_LENGTH_MAX, key.len())
        .with_help("send 1 to 255 printable ASCII characters, for example a UUID"))
}
