//! Queries of the audit log. A mistyped name is refused: it finds nothing, which looks like nothing happened.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value as Json, json};

use luaplan_base::{Error, ErrorCode, Result, nearest};
use luaplan_journal::{EventBody, JournalRead, RecordFilter};

use super::parts::json_bytes;
use crate::history::{History, no_such_run};

const AUDIT_DEFAULT: u32 = 100;
const AUDIT_MAX: u32 = 1000;

/// The most names of tools a refusal lists.
const NAMED_MAX: usize = 40;

/// Whether all of `events` are events of the journal.
///
/// # Errors
/// `bad_request`, naming the events there are.
pub fn check_event_names(events: &[String]) -> Result<()> {
    let Some(unknown) = events.iter().find(|event| !EventBody::KEPT.contains(&event.as_str())) else {
        return Ok(());
    };
    let known = EventBody::KEPT.iter().copied();
    let meant = nearest(unknown, known).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Err(Error::new(ErrorCode::BadRequest, format!("there is no event `{unknown}`"))
        .with_help(format!("{meant}the events are {}", EventBody::KEPT.join(", "))))
}

/// Whether `tool` is one of `known`, or a call of it is on record, of one tenant or of any: tools come and go, and the log stays.
///
/// # Errors
/// `bad_request`, naming tools there are; as reading the journal.
pub async fn check_tool_on_record(
    journal: Option<&dyn JournalRead>,
    tenant: Option<&str>,
    known: &[&str],
    tool: &str,
) -> Result<()> {
    if known.contains(&tool) {
        return Ok(());
    }
    if let Some(journal) = journal {
        let (tool, tenant) = (Some(tool.to_owned()), tenant.map(str::to_owned));
        let filter = RecordFilter { tool, tenant, limit: Some(1), ..RecordFilter::default() };
        if !journal.records(filter).await?.is_empty() {
            return Ok(());
        }
    }
    let meant = nearest(tool, known.iter().copied());
    let meant = meant.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let more = if known.len() > NAMED_MAX {
        format!(" and {} more", known.len() - NAMED_MAX)
    } else {
        String::new()
    };
    let names = known.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    let message = format!("there is no tool `{tool}`, and no call of one is on record");
    Err(Error::new(ErrorCode::BadRequest, message).with_help(format!("{meant}the tools are {names}{more}")))
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

fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    text.map(str::parse).transpose().map_err(|_| {
        Error::new(ErrorCode::BadRequest, format!("`{name}` is not an instant"))
            .with_help("write it by RFC 3339: `2026-01-31T10:00:00Z`")
    })
}
