//! Names that a query of the audit log may use: a mistyped one finds nothing, which looks like nothing happened.

use luaplan_base::{Error, ErrorCode, Result, nearest};
use luaplan_journal::{EventBody, JournalRead, RecordFilter};

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
