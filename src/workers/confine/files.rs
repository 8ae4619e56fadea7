//! Landlock: no path, no port, no way to a process outside.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetStatus, Scope,
};

/// The newest interface to use; an older kernel gives what it has.
const WANTED: ABI = ABI::V6;

/// Handles every right and grants none.
pub(super) fn forbid() -> Result<String, String> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(WANTED)))
        .and_then(|rules| rules.scope(Scope::from_all(WANTED)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    let has = match status.landlock {
        LandlockStatus::NotEnabled => "the kernel has Landlock switched off".to_owned(),
        LandlockStatus::NotImplemented => "the kernel has no Landlock".to_owned(),
        LandlockStatus::Available { effective_abi, .. } => format!("ABI {}", effective_abi as i32),
    };
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(has),
        RulesetStatus::FullyEnforced => Ok(format!("{has}: no path, no port, no process outside")),
        RulesetStatus::PartiallyEnforced => Ok(format!("{has}: what this kernel can forbid")),
    }
}
