//! `GET /v1/runs/{id}/events`: a run's events as server-sent events (WHATWG HTML, section 9.2).
//!
//! The journal is read again on each event, so a slow client loses nothing, and a client can follow
//! a run of another process too. An event's id is its place in the journal; a client that
//! reconnects with `Last-Event-ID` continues from there. Transient events
//! (partial model text) have no id and are sent only while they happen.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as Sse, KeepAlive, Sse as SseResponse};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use luaplan_app::{ActiveRun, Caller, StreamedEvent};
use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{Event, EventBody, JournalRead as _, Record, RecordFilter, RunStatus};

use super::extract::RunPath;
use super::problem::Problem;
use super::state::ApiState;

/// The interval of looks for events of other processes.
const POLL: Duration = Duration::from_secs(1);

/// Records read at once, to bound the memory of a stream.
const PAGE: u32 = 64;

/// Events buffered for one client; a full buffer holds up its stream, not the run.
const BUFFERED: usize = 16;

/// The last event of a stream that ends before its run did.
const STREAM_ERROR: &str = "stream_error";

/// Follow a run's events.
#[utoipa::path(get, path = "/v1/runs/{id}/events", operation_id = "stream_events", tag = "runs",
    params(("id" = String, Path, description = "Run id"),
        ("Last-Event-ID" = Option<u64>, Header, description = "Go on after this event")),
    responses((status = 200, description = "Server-sent events until the run ends or pauses", body = String, content_type = "text/event-stream"),
        (status = 204, description = "The run has ended or is paused, and nothing came after `Last-Event-ID`"),
        (status = 400, description = "That is not a run id, or not an event of the run"),
        (status = 404, description = "There is no such run")))]
pub(super) async fn stream(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    RunPath(run_id): RunPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // Subscribes before the first look, so that no event is missed in between.
    let watcher = state.app.history().hub().subscribe();
    let run = state.active(&run_id);
    state.runs.access(&caller).may_read(&run_id).await?;
    let after = last_event_id(&headers)?;
    if after != 0 {
        record(&state, &run_id, after).await?.ok_or_else(|| {
            Error::new(ErrorCode::BadRequest, format!("event {after} is not one of run {run_id}"))
                .with_help("leave `Last-Event-ID` out to see all events")
        })?;
        let goes_on = matches!(state.runs.status(&run_id).await?, RunStatus::Running | RunStatus::Sleeping);
        if !goes_on && page_after(&state, &run_id, after).await?.is_empty() {
            // Tells an EventSource not to reconnect.
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    Ok(Watch { run_id, after, run, watcher, from_start: false }.respond(&state))
}

fn last_event_id(headers: &HeaderMap) -> Result<u64> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    value.to_str().ok().and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        Error::new(ErrorCode::BadRequest, "`Last-Event-ID` is not a number this service has sent")
    })
}

async fn record(state: &ApiState, run_id: &RunId, sequence: u64) -> Result<Option<Record>> {
    let filter = RecordFilter {
        run_id: Some(run_id.clone()),
        after_sequence: sequence.checked_sub(1),
        limit: Some(1),
        ..RecordFilter::default()
    };
    let records = state.app.journal().records(filter).await?;
    Ok(records.into_iter().next().filter(|record| record.sequence == sequence))
}

async fn page_after(state: &ApiState, run_id: &RunId, after: u64) -> Result<Vec<Record>> {
    let filter = RecordFilter {
        run_id: Some(run_id.clone()),
        after_sequence: Some(after),
        limit: Some(PAGE),
        ..RecordFilter::default()
    };
    state.app.journal().records(filter).await
}

type Sender = mpsc::Sender<std::result::Result<Sse, Infallible>>;

/// The client is gone.
struct Gone;

/// How far to read the journal.
#[derive(Clone, Copy)]
enum ReadUpTo {
    /// Up to this record: events of this process are sent in the order in which they happened,
    /// so that partial model text comes before the answer it is part of.
    Record(u64),
    /// To its end.
    All,
}

/// One client that watches one run.
pub(super) struct Watch {
    pub(super) run_id: RunId,
    /// The last event sent; 0 for none.
    pub(super) after: u64,
    /// The run, where this process runs it.
    pub(super) run: Option<ActiveRun>,
    pub(super) watcher: broadcast::Receiver<Arc<StreamedEvent>>,
    /// Whether the subscription is older than the run.
    pub(super) from_start: bool,
}

impl Watch {
    /// Streams events until the run ends, or pauses for a person.
    pub(super) fn respond(self, state: &Arc<ApiState>) -> Response {
        let (sender, receiver) = mpsc::channel(BUFFERED);
        let state = state.clone();
        tokio::spawn(async move {
            let run_id = self.run_id.clone();
            if let Err(error) = self.follow(&state, &sender).await {
                tracing::warn!(%run_id, %error, "an event stream ended before its run");
                let error = state.app.history().redactor().error(error);
                let event = Sse::default().event(STREAM_ERROR).data(error.to_json().to_string());
                // A client that is gone gets no reason.
                let _ = sender.send(Ok(event)).await;
            }
        });
        let stream = futures::stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|event| (event, receiver))
        });
        SseResponse::new(stream).keep_alive(KeepAlive::default()).into_response()
    }

    async fn follow(mut self, state: &ApiState, sender: &Sender) -> Result<()> {
        let stop = state.streams();
        let mut seen = Timestamp::MIN;
        let mut asleep = false;
        let mut stands = false;
        let mut reach = if self.from_start { ReadUpTo::Record(0) } else { ReadUpTo::All };
        loop {
            // Read before the journal, which then holds everything up to the end.
            let stopping = stop.is_cancelled();
            let over = self.run.as_ref().is_some_and(ActiveRun::is_over);
            if over && state.app.history().shares_runs() {
                // A run without an end continues elsewhere, and is followed there.
                self.run = None;
            }
            while let Some(records) = self.page(state, reach).await? {
                for record in records {
                    (self.after, seen) = (record.sequence, record.event.at);
                    asleep = matches!(record.event.body, EventBody::RunSleeping { .. });
                    stands = match record.event.body {
                        EventBody::RunResumed { .. } => false,
                        // A decision about a paused run, for example, does not resume it.
                        ref body => stands || body.ends_run(),
                    };
                    let event = encode(state, &record.event).id(record.sequence.to_string());
                    if sender.send(Ok(event)).await.is_err() {
                        return Ok(());
                    }
                }
            }
            if stands {
                // A paused or interrupted run may have been resumed since, in this process or elsewhere.
                if self.page(state, ReadUpTo::All).await?.is_none() {
                    return Ok(());
                }
                (self.run, reach) = (state.active(&self.run_id), ReadUpTo::All);
                continue;
            }
            if over && asleep {
                // It wakes in this process, under a new subscription, or elsewhere.
                self.run = None;
            } else if let (ReadUpTo::All, true, true) = (reach, over, self.run.is_some()) {
                let message = "the run is over and its end is not in the journal";
                return Err(Error::new(ErrorCode::JournalUnavailable, message));
            }
            if let (ReadUpTo::All, true) = (reach, stopping) {
                return Err(Error::new(ErrorCode::ShuttingDown, "the server is stopping"));
            }
            reach = match self.next(state, sender, (&stop, seen)).await {
                Ok(reach) => reach,
                Err(Gone) => return Ok(()),
            };
        }
    }

    /// The next records to send; `None` where there are no more.
    async fn page(&self, state: &ApiState, reach: ReadUpTo) -> Result<Option<Vec<Record>>> {
        let last = match reach {
            ReadUpTo::Record(sequence) => sequence,
            ReadUpTo::All => u64::MAX,
        };
        if last <= self.after {
            return Ok(None);
        }
        let mut records = page_after(state, &self.run_id, self.after).await?;
        records.retain(|record| record.sequence <= last);
        Ok((!records.is_empty()).then_some(records))
    }

    /// Waits for the next recorded event of the run, sends transient ones, and returns how far to read.
    async fn next(
        &mut self,
        state: &ApiState,
        sender: &Sender,
        (stop, seen): (&CancellationToken, Timestamp),
    ) -> std::result::Result<ReadUpTo, Gone> {
        loop {
            let streamed = tokio::select! {
                () = sender.closed() => return Err(Gone),
                () = stop.cancelled() => return Ok(ReadUpTo::All),
                () = tokio::time::sleep(POLL) => return Ok(ReadUpTo::All),
                streamed = self.watcher.recv() => streamed,
            };
            match streamed {
                Ok(streamed) if streamed.event.run_id == self.run_id => match streamed.sequence {
                    Some(sequence) if sequence > self.after => return Ok(ReadUpTo::Record(sequence)),
                    None if streamed.event.at >= seen => {
                        sender.send(Ok(encode(state, &streamed.event))).await.map_err(|_| Gone)?;
                    }
                    // Already sent.
                    _ => {}
                },
                Ok(_) => {}
                // The subscription lagged or closed: the journal has the missed events.
                Err(_) => return Ok(ReadUpTo::All),
            }
        }
    }
}

/// One event. It is redacted again, as a record may be older than the configuration of a secret.
fn encode(state: &ApiState, event: &Event) -> Sse {
    let text = serde_json::to_string(event).unwrap_or_default();
    // JSON text has no line breaks, so one `data` line holds it.
    Sse::default().event(event.body.name()).data(state.app.history().redactor().exact_json(&text))
}
