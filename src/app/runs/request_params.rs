//! What clients of a service may ask for, and how far: the same at every edge.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize as _, Deserializer, Serialize};
use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode, LimitName, Limits, Result};
use luaplan_journal::{JournalRead as _, RecordFilter};

use crate::history::{History, no_such_run};
use crate::reports::audit_names::{check_event_names, check_tool_on_record};
use crate::reports::parts::json_bytes;

const AUDIT_DEFAULT: u32 = 100;
const AUDIT_MAX: u32 = 1000;

/// The longest name of a plan.
const NAME_CHARACTERS_MAX: usize = 128;

/// For serde's `deserialize_with`: a `null` that is there is a value, not an absence.
///
/// # Errors
/// As the deserializer's.
pub fn present<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Whether a plan may be called that.
///
/// # Errors
/// `bad_request` where the name is empty or too long, or would not stay on its line.
pub fn check_plan_name(name: &str) -> Result<()> {
    let length = name.chars().count();
    // Names stand in log lines, lists and messages: a line break would make up a line of its own.
    if let Some(seen) = name.chars().find(|character| breaks_a_line(*character)) {
        let message = format!("`name` has the character {:?}, which is no text", seen.to_string());
        return Err(Error::new(ErrorCode::BadRequest, message)
            .with_help("leave it out, or give one without line breaks and control characters"));
    }
    if (1..=NAME_CHARACTERS_MAX).contains(&length) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::BadRequest, "`name` is empty or too long")
        .with_limit(NAME_CHARACTERS_MAX, length)
        .with_help("leave it out, or give one that fits on a line"))
}

/// Control characters, separators of lines and paragraphs, and marks that turn the direction of writing.
fn breaks_a_line(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The server's limits with the request's below them. A request can ask for less, never for more.
///
/// # Errors
/// `bad_request` for a limit that is not known, not a number with its unit, or above the server's.
pub fn lowered(server: &Limits, wanted: &BTreeMap<String, Json>) -> Result<Limits> {
    let mut limits = server.clone();
    for (name, value) in wanted {
        let bad = |error: &Error| {
            Error::new(ErrorCode::BadRequest, format!("limits.{name}: {}", error.message()))
                .with_help(error.help().to_owned())
        };
        let limit: LimitName = name.parse().map_err(|error| bad(&error))?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        limits.set(limit, &text).map_err(|error| bad(&error))?;
        if limits.get(limit) > server.get(limit) {
            let message = format!("limits.{name} is above the server's own");
            return Err(
                Error::new(ErrorCode::BadRequest, message).with_limit(server.get(limit), limits.get(limit))
            );
        }
    }
    Ok(limits)
}

/// A `limit` of a list, or `default`.
///
/// # Errors
/// `bad_request` for 0 and for more than `max`.
pub fn bounded(limit: Option<u32>, default: u32, max: u32) -> Result<u32> {
    match limit {
        None => Ok(default),
        Some(limit) if (1..=max).contains(&limit) => Ok(limit),
        Some(limit) => {
            Err(Error::new(ErrorCode::BadRequest, format!("`limit` must be 1 to {max}"))
                .with_limit(max, limit))
        }
    }
}

fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    text.map(str::parse).transpose().map_err(|_| {
        Error::new(ErrorCode::BadRequest, format!("`{name}` is not an instant"))
            .with_help("write it by RFC 3339: `2026-01-31T10:00:00Z`")
    })
}

/// How many of the entries, in their order, an answer takes: one at least.
#[must_use]
pub fn fits_page<T: Serialize>(entries: &[T], bytes_max: usize) -> usize {
    let mut bytes = 0;
    let fits = entries.iter().map(json_bytes).take_while(|size| {
        bytes += size + 1;
        bytes <= bytes_max
    });
    fits.count().max(1)
}

/// Which records of the audit log; what is absent does not matter.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Only this run.
    pub run: Option<String>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only events of this name.
    pub event: Option<String>,
    /// `ok` or `failed`.
    pub outcome: Option<String>,
    /// Not before this instant (RFC 3339).
    pub since: Option<String>,
    /// Before this instant (RFC 3339).
    pub until: Option<String>,
    /// Only records after this sequence number.
    pub after: Option<u64>,
    /// At most so many; 1 to 1000, 100 when absent.
    pub limit: Option<u32>,
    /// A page ends before more than this; what follows is asked for with `after`.
    pub page_bytes_max: usize,
}

impl History {
    /// `{"records", "next"}` of one tenant or of all, where `known` are the tools there are: oldest first, and what to continue after where there may be more.
    ///
    /// # Errors
    /// `bad_request` for what cannot be understood, `not_found` for a run that is not there, and as reading the
    /// journal.
    pub(crate) async fn audit(
        &self,
        query: AuditQuery,
        tenant: Option<String>,
        known: &[&str],
    ) -> Result<Json> {
        let limit = bounded(query.limit, AUDIT_DEFAULT, AUDIT_MAX)?;
        let ok = match query.outcome.as_deref() {
            None => None,
            Some("ok") => Some(true),
            Some("failed") => Some(false),
            Some(other) => {
                let message = format!("`outcome` is `{other}`, expected `ok` or `failed`");
                return Err(Error::new(ErrorCode::BadRequest, message));
            }
        };
        let events: Vec<String> = query.event.into_iter().collect();
        check_event_names(&events)?;
        if let Some(tool) = &query.tool {
            check_tool_on_record(Some(&*self.journal), tenant.as_deref(), known, tool).await?;
        }
        let filter = RecordFilter {
            run_id: query.run.as_deref().map(str::parse).transpose()?,
            tenant,
            tool: query.tool,
            events,
            ok,
            since: instant("since", query.since.as_deref())?,
            until: instant("until", query.until.as_deref())?,
            after_sequence: query.after,
            limit: Some(limit),
            newest_first: false,
        };
        let mut records = self.journal.records(filter.clone()).await?;
        if let (Some(run_id), true) = (&filter.run_id, records.is_empty()) {
            // Nothing of this run fits, or there is no such run.
            let (run, tenant) = (filter.run_id.clone(), filter.tenant.clone());
            let any = RecordFilter { run_id: run, tenant, limit: Some(1), ..RecordFilter::default() };
            if self.journal.records(any).await?.is_empty() {
                return Err(no_such_run(run_id));
            }
        }
        let found = records.len();
        records.truncate(fits_page(&records, query.page_bytes_max));
        let full = records.len() < found || u32::try_from(found).is_ok_and(|count| count == limit);
        let next = records.last().filter(|_| full).map(|record| record.sequence);
        Ok(json!({ "records": records, "next": next }))
    }
}
