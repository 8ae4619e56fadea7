//! Exit codes: the one place where an error becomes a number.
//!
//! 0 done; 1 the plan, run or tests failed; 2 usage or configuration; 3 the check refused the
//! plan; 4 a limit stopped it; 5 paused or asleep; 6 denied by policy; 130 interrupted.

use std::process::ExitCode;

use luaplan_base::{Error, ErrorCode};

pub(super) const DONE: u8 = 0;
pub(super) const FAILED: u8 = 1;
pub(super) const USAGE: u8 = 2;
pub(super) const REFUSED: u8 = 3;
pub(super) const LIMIT: u8 = 4;
pub(super) const PAUSED: u8 = 5;
pub(super) const DENIED: u8 = 6;
pub(super) const INTERRUPTED: u8 = 130;

/// The detail that names the command-line argument an error is about.
pub(super) const ARGUMENT: &str = "argument";

/// A usage error.
pub(super) fn usage(message: String, flag: &str, help: &str) -> Error {
    Error::new(ErrorCode::Usage, message).with_help(help.to_owned()).with_detail(ARGUMENT, flag)
}

/// Invalid arguments of a call are a usage error where the user typed them, not where a run made them.
pub(super) fn about_argument(error: Error, flag: &str) -> Error {
    if error.code() == ErrorCode::BadArguments { error.with_detail(ARGUMENT, flag) } else { error }
}

pub(super) fn of_error(error: &Error) -> ExitCode {
    ExitCode::from(if error.details().contains_key(ARGUMENT) { USAGE } else { number(error.code()) })
}

/// Help and version are no failure; every other message of clap is a usage error.
pub(super) fn of_clap(error: &clap::Error) -> ExitCode {
    ExitCode::from(if error.use_stderr() { USAGE } else { DONE })
}

pub(super) fn number(code: ErrorCode) -> u8 {
    use ErrorCode as C;
    match code {
        C::Usage
        | C::ConfigInvalid
        | C::SecretTooShort
        | C::ConfigUnknownKey
        | C::ConfigUnreadable
        | C::BadRequest
        | C::NotFound
        | C::RunActive
        | C::RunNotActive
        | C::RunNotResumable
        | C::EffectsRepeat
        | C::ApprovalStale
        | C::AnswerStale
        | C::FileUnreadable
        | C::FileExists
        | C::RunNotReplayable
        | C::ListenRefused
        | C::ListenFailed
        | C::OpenapiUnusable
        | C::LlmNotConfigured
        | C::LlmKeyMissing => USAGE,
        C::CheckRefused | C::PlanSyntax | C::PlanNoRun => REFUSED,
        C::CallInDoubt | C::ApprovalRequired | C::AnswerRequired | C::PauseRequested | C::RunSleeping => {
            PAUSED
        }
        C::PermissionDenied | C::FlowRefused | C::ApprovalDenied | C::Forbidden => DENIED,
        C::Cancelled | C::Interrupted => INTERRUPTED,
        code if code.as_str().starts_with("limit_") => LIMIT,
        _ => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_exits_with_four_and_the_contract_holds() {
        for name in luaplan_base::LimitName::ALL {
            assert_eq!(number(name.code()), LIMIT, "{name}");
        }
        assert_eq!(number(ErrorCode::PlanError), FAILED);
        assert_eq!(number(ErrorCode::ConfigUnknownKey), USAGE);
        assert_eq!(number(ErrorCode::CheckRefused), REFUSED);
        assert_eq!(number(ErrorCode::CallInDoubt), PAUSED);
        assert_eq!(number(ErrorCode::PermissionDenied), DENIED);
        assert_eq!(number(ErrorCode::Interrupted), INTERRUPTED);
    }
}
