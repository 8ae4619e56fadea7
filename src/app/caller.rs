//! Who asks, and what that caller may do.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::Actor;

/// What a key may be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Begin runs.
    RunsStart,
    /// Look at runs, their plans and events.
    RunsRead,
    /// Cancel, pause, resume, reset and replay runs.
    RunsControl,
    /// See what waits for a person, decide about it, and answer calls in doubt.
    ApprovalsDecide,
    /// Read the audit log.
    AuditRead,
    /// Begin runs in the mode `autonomous`.
    ModeAutonomous,
    /// All of these, for every tenant.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 7] = [
        Self::RunsStart,
        Self::RunsRead,
        Self::RunsControl,
        Self::ApprovalsDecide,
        Self::AuditRead,
        Self::ModeAutonomous,
        Self::Admin,
    ];

    /// What a key without `scopes` has, each for its own tenant.
    const DEFAULT: [Self; 5] =
        [Self::RunsStart, Self::RunsRead, Self::RunsControl, Self::ApprovalsDecide, Self::AuditRead];

    /// The name in key files and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RunsStart => "runs:start",
            Self::RunsRead => "runs:read",
            Self::RunsControl => "runs:control",
            Self::ApprovalsDecide => "approvals:decide",
            Self::AuditRead => "audit:read",
            Self::ModeAutonomous => "mode:autonomous",
            Self::Admin => "admin",
        }
    }

    /// Whether it can be held for the runs of other tenants.
    const fn has_reach(self) -> bool {
        matches!(self, Self::RunsRead | Self::RunsControl | Self::ApprovalsDecide | Self::AuditRead)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whose runs a scope is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Those of the key's tenant.
    Own,
    /// Those of every tenant.
    All,
}

/// The scopes of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(BTreeMap<Scope, Reach>);

impl Default for Scopes {
    fn default() -> Self {
        Self(Scope::DEFAULT.into_iter().map(|scope| (scope, Reach::Own)).collect())
    }
}

impl FromStr for Scopes {
    type Err = Error;

    /// Reads `a,b:all,…`.
    fn from_str(text: &str) -> Result<Self> {
        let mut scopes = BTreeMap::new();
        for word in text.split(',') {
            let (name, reach) = match (word.strip_suffix(":all"), word.strip_suffix(":own")) {
                (Some(name), _) => (name, Some(Reach::All)),
                (None, Some(name)) => (name, Some(Reach::Own)),
                (None, None) => (word, None),
            };
            let scope = Scope::ALL.into_iter().find(|scope| scope.as_str() == name);
            let Some(scope) = scope.filter(|scope| reach.is_none() || scope.has_reach()) else {
                let known = Scope::ALL.map(Scope::as_str).join(", ");
                let message = format!("there is no scope `{word}`");
                return Err(Error::new(ErrorCode::ConfigInvalid, message)
                    .with_help(format!("the scopes are {known}; the runs:read, runs:control, approvals:decide and audit:read among them may end in `:own` or `:all`")));
            };
            scopes.insert(scope, reach.unwrap_or(Reach::Own));
        }
        Ok(Self(scopes))
    }
}

/// Who asks for something: a tenant, the key or person of it, and what that one may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    tenant: String,
    actor: Actor,
    scopes: Scopes,
}

impl Caller {
    /// The person at this machine, for whom there are no tenants.
    #[must_use]
    pub fn local() -> Self {
        let scopes = Scopes([(Scope::Admin, Reach::All)].into());
        Self { tenant: LOCAL_TENANT.to_owned(), actor: Actor::named(LOCAL_TENANT), scopes }
    }

    /// The person whose process this is, known by the user of the operating system.
    #[must_use]
    pub fn at_terminal() -> Self {
        Self { actor: Actor { os_user: os_user(), ..Actor::named(LOCAL_TENANT) }, ..Self::local() }
    }

    /// An API key.
    #[must_use]
    pub fn key(name: impl Into<String>, tenant: impl Into<String>, scopes: Scopes) -> Self {
        Self { tenant: tenant.into(), actor: Actor::named(name), scopes }
    }

    /// One that may do nothing.
    #[must_use]
    pub fn unknown() -> Self {
        Self::key("", "", Scopes(BTreeMap::new()))
    }

    /// Whose runs it begins.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The key's name, or `local`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.actor.by
    }

    /// As records name it.
    #[must_use]
    pub const fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Whether the databases may be asked about statements of this caller's plans: they work for each.
    ///
    /// # Errors
    /// `forbidden` without the scope `runs:start`.
    pub fn may_check_live(&self) -> Result<()> {
        self.require(Scope::RunsStart).map(drop)
    }

    /// How far a scope reaches.
    ///
    /// # Errors
    /// `forbidden` where the caller lacks it.
    pub(super) fn require(&self, scope: Scope) -> Result<Reach> {
        if self.scopes.0.contains_key(&Scope::Admin) {
            return Ok(Reach::All);
        }
        self.scopes.0.get(&scope).copied().ok_or_else(|| {
            Error::new(ErrorCode::Forbidden, format!("this API key lacks the scope `{scope}`"))
                .with_detail("scope", scope.as_str())
                .with_help("use a key with that scope; `server.api_keys_file` names the scopes of each key")
        })
    }

    /// The tenant that a list is narrowed to; `None` for all.
    ///
    /// # Errors
    /// As [`Caller::require`].
    pub(super) fn only_tenant(&self, scope: Scope) -> Result<Option<String>> {
        Ok((self.require(scope)? == Reach::Own).then(|| self.tenant.clone()))
    }
}

#[cfg(unix)]
fn os_user() -> Option<String> {
    let uid = nix::unistd::Uid::current();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    Some(user.map_or_else(|| format!("uid:{uid}"), |user| user.name))
}

#[cfg(not(unix))]
const fn os_user() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_and_unknown_ones_refused() {
        let scopes: Scopes = "runs:read:all,approvals:decide:own,mode:autonomous".parse().unwrap();
        let caller = Caller::key("k", "t", scopes);
        assert_eq!(caller.only_tenant(Scope::RunsRead).unwrap(), None);
        assert_eq!(caller.only_tenant(Scope::ApprovalsDecide).unwrap().as_deref(), Some("t"));
        assert!(caller.require(Scope::ModeAutonomous).is_ok());
        let refused = caller.require(Scope::RunsStart).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Forbidden);
        assert!(refused.message().contains("runs:start"), "{refused}");
        for wrong in
            ["", "runs", "runs:start:all", "runs:read,", "admin:all", "mode:autonomous:own", "runs:read:any"]
        {
            assert!(wrong.parse::<Scopes>().is_err(), "{wrong}");
        }
        assert!(Caller::key("k", "t", Scopes::default()).require(Scope::ModeAutonomous).is_err());
        assert!(Caller::unknown().require(Scope::RunsRead).is_err());
    }
}
