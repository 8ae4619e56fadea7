//! Grants: permissions for a time, folded from the records of all runs.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use luaplan_base::{ContentHash, Result, RunId};

use super::{EventBody, JournalRead, RecordFilter, RuleReference, Tier, Word};

/// A person's permission for calls of one tool, until it expires or is revoked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrantState {
    /// Its id.
    pub grant_id: String,
    /// The run whose call it was issued for.
    pub run_id: RunId,
    /// The tool.
    pub tool: String,
    /// Hash of the tool's definition then; a grant without it covers nothing.
    pub tool_hash: Option<ContentHash>,
    /// The rules that asked then; empty where the policy's default did.
    pub rules: Vec<RuleReference>,
    /// The tier that asked then: `prompt` or `manual`.
    pub tier: Word<Tier>,
    /// The tenant in whose runs it applies.
    pub tenant: String,
    /// Who issued it.
    pub by: String,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Whether it was revoked.
    pub is_revoked: bool,
}

impl GrantState {
    /// Whether it is valid at that time.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        !self.is_revoked && now < self.expires_at
    }
}

/// The grants on record, of one tool or of all, newest first, expired and revoked ones included.
///
/// # Errors
/// As reading the journal.
pub async fn grants(journal: &dyn JournalRead, tool: Option<&str>) -> Result<Vec<GrantState>> {
    let filter = RecordFilter {
        tool: tool.map(str::to_owned),
        events: vec!["grant_issued".to_owned(), "grant_revoked".to_owned()],
        newest_first: true,
        ..RecordFilter::default()
    };
    // Newest first, so a revocation is seen before what it revokes.
    let mut revoked = BTreeSet::new();
    let mut found = Vec::new();
    for record in journal.records(filter).await? {
        let issued_at = record.event.at;
        match record.event.body {
            EventBody::GrantRevoked { grant_id, .. } => {
                revoked.insert(grant_id);
            }
            EventBody::GrantIssued {
                grant_id, tool, rules, tenant, expires_at, by, tier, tool_hash, ..
            } => found.push(GrantState {
                is_revoked: revoked.contains(&grant_id),
                grant_id,
                run_id: record.event.run_id,
                tool,
                tool_hash,
                rules,
                tier: tier.unwrap_or(Word::Known(Tier::Prompt)),
                tenant,
                by,
                issued_at,
                expires_at,
            }),
            _ => {}
        }
    }
    Ok(found)
}
