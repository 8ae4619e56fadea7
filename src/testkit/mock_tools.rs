//! The tools of a plan under test: mocks, of which the first that fits answers.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{CallOutcome, CallRequest, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{CallHandler, Interruption};
use luaplan_catalog::Catalog;
use luaplan_catalog::regular_file::read_text;

use super::fixture::Recorded;
use super::mock::Mock;
use super::recorder::{CallRecord, Recorder};
use super::virtual_time::VirtualTime;
use super::{defaults, generated};

/// The source of answers for calls that no mock fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Otherwise {
    /// None: the run ends with `mock_missing`.
    #[default]
    NoAnswer,
    /// The default mocks.
    Defaults,
    /// An answer made from the tool's manifest, by this seed.
    Generated(u64),
}

/// Answers calls from mocks and records them. Arguments are checked against the tool's parameters
/// as in a real run.
pub struct MockTools {
    mocks: Vec<(Mock, AtomicUsize)>,
    otherwise: Otherwise,
    /// The call that fails in any case.
    fault: Option<(String, ToolFailure)>,
    catalog: Arc<Catalog>,
    recorder: Recorder,
    time: VirtualTime,
    /// The answers of a recorded run.
    recorded: Option<Recorded>,
}

impl MockTools {
    /// Mocks from a JSON list, for the tools of `catalog`.
    ///
    /// # Errors
    /// `bad_request` for what is no mock, for a mock of an unknown tool, without an answer, or
    /// with a value of a kind the tool never returns.
    pub fn from_json(mocks: Json, catalog: &Arc<Catalog>) -> Result<Self> {
        let mocks = Mock::list_from_json(mocks, catalog)?;
        let mocks = mocks.into_iter().map(|mock| (mock, AtomicUsize::new(0))).collect();
        Ok(Self { mocks, ..Self::without_mocks(catalog, Otherwise::NoAnswer) })
    }

    /// Reads a file with a JSON list of mocks.
    ///
    /// # Errors
    /// `file_unreadable`, else as [`MockTools::from_json`].
    pub fn from_file(path: &Path, catalog: &Arc<Catalog>) -> Result<Self> {
        let text = read_text(path).map_err(|error| {
            Error::new(ErrorCode::FileUnreadable, format!("cannot read {}: {error}", path.display()))
        })?;
        let named = |error: Error| {
            Error::new(error.code(), format!("{}: {}", path.display(), error.message()))
                .with_help(error.help())
        };
        let mocks = serde_json::from_str(&text)
            .map_err(|error| named(Error::new(ErrorCode::BadRequest, format!("not valid JSON: {error}"))))?;
        Self::from_json(mocks, catalog).map_err(named)
    }

    /// Only the default mocks: one plain answer for each built-in tool.
    #[must_use]
    pub fn default_mocks(catalog: &Arc<Catalog>) -> Self {
        Self::without_mocks(catalog, Otherwise::Defaults)
    }

    /// Answers made from the manifests of `catalog`: each fits its tool's result schema and depends on
    /// `seed`, the tool and the arguments alone. Rows have the queried columns, lists are sometimes empty,
    /// texts have letters beyond ASCII. Where no generated answer fits a result schema, the run ends with
    /// `mock_missing`.
    #[must_use]
    pub fn generated(catalog: &Arc<Catalog>, seed: u64) -> Self {
        Self::without_mocks(catalog, Otherwise::Generated(seed))
    }

    fn without_mocks(catalog: &Arc<Catalog>, otherwise: Otherwise) -> Self {
        let catalog = catalog.clone();
        Self {
            mocks: Vec::new(),
            otherwise,
            fault: None,
            catalog,
            recorder: Recorder::default(),
            time: VirtualTime::default(),
            recorded: None,
        }
    }

    /// Sets the source of answers for calls that no mock fits.
    #[must_use]
    pub(super) fn with_otherwise(self, otherwise: Otherwise) -> Self {
        Self { otherwise, ..self }
    }

    /// Makes the call of that id fail like this; its answer counts as used.
    #[must_use]
    pub(super) fn with_fault(self, fault: Option<(String, ToolFailure)>) -> Self {
        Self { fault, ..self }
    }

    /// Uses the answers of a recorded run after the mocks.
    #[must_use]
    pub(super) fn with_recorded(self, recorded: Option<Recorded>) -> Self {
        Self { recorded, ..self }
    }

    /// Calls of the recorded run that were not made.
    pub(super) fn unmade(&self) -> Vec<String> {
        self.recorded.as_ref().map(Recorded::unmade).unwrap_or_default()
    }

    /// This as the handler of a run.
    #[must_use]
    pub fn handler(self) -> Arc<dyn CallHandler> {
        Arc::new(self)
    }

    /// The calls so far, in program order.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.recorder.calls()
    }

    async fn answer_one(&self, call: &CallRequest) -> Result<CallOutcome> {
        let Some(spec) = self.catalog.get(&call.tool) else {
            let failure =
                ToolFailure::new(ErrorCode::ToolUnknown, format!("there is no tool `{}`", call.tool));
            return Ok(self.recorder.ended(call, Value::Array(call.arguments.0.clone()), Err(failure)));
        };
        let arguments = match spec.bind(&call.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => {
                if let Some(recorded) = &self.recorded {
                    recorded.note_refused(call);
                }
                return Ok(self.recorder.ended(call, Value::Array(call.arguments.0.clone()), Err(failure)));
            }
        };
        // Recorded before its answer: the run may end while it waits.
        let place = self.recorder.began(call, arguments.clone());
        let found = self.find(call, &arguments.to_json());
        let (delay, outcome) = match &self.fault {
            Some((id, failure)) if id == call.id.as_str() => (Duration::ZERO, Err(failure.clone())),
            _ => found?,
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        self.recorder.set_outcome(place, &outcome);
        Ok(outcome)
    }

    fn find(&self, call: &CallRequest, arguments: &Json) -> Result<(Duration, CallOutcome)> {
        for (mock, used) in &self.mocks {
            if !mock.fits(&call.tool, arguments) {
                continue;
            }
            let Some(answers) = &mock.sequence else { return mock.own_answer().outcome() };
            if let Some(answer) = answers.get(used.fetch_add(1, Ordering::Relaxed)) {
                return answer.outcome();
            }
        }
        if let Some(outcome) = self.recorded.as_ref().and_then(|recorded| recorded.answer(call, arguments)) {
            return Ok((Duration::ZERO, outcome?));
        }
        // Sleeping tools always use virtual time: no test waits.
        if let Some(value) = self.catalog.get(&call.tool).and_then(|spec| self.time.answer(spec, arguments)) {
            return Mock::returning(&call.tool, value).own_answer().outcome();
        }
        let otherwise = match (self.otherwise, self.catalog.get(&call.tool)) {
            (Otherwise::Defaults, _) => defaults::answer(&call.tool, arguments),
            (Otherwise::Generated(seed), Some(spec)) => generated::answer(spec, arguments, seed),
            (Otherwise::NoAnswer | Otherwise::Generated(_), _) => None,
        };
        match otherwise {
            Some(value) => Mock::returning(&call.tool, value).own_answer().outcome(),
            None => Err(self.missing(call, arguments)),
        }
    }

    fn missing(&self, call: &CallRequest, arguments: &Json) -> Error {
        let place = call.line.map(|line| format!(" (line {line} of the plan)")).unwrap_or_default();
        let of_tool: Vec<&Mock> =
            self.mocks.iter().map(|(mock, _)| mock).filter(|mock| mock.tool == call.tool).collect();
        let used_up = of_tool.iter().find(|mock| mock.sequence.is_some() && mock.fits(&call.tool, arguments));
        let why = match used_up {
            Some(mock) => {
                let count = mock.sequence.as_ref().map_or(0, Vec::len);
                format!("; its sequence of {count} is used up")
            }
            None if matches!(self.otherwise, Otherwise::Generated(_)) => {
                format!("; nothing made up fits the result schema of `{}`: mock it", call.tool)
            }
            None if self.recorded.is_some() => "; the recorded run made no such call".to_owned(),
            None if of_tool.is_empty() => format!("; the test has no mock of `{}`", call.tool),
            None => {
                let whens: Vec<String> =
                    of_tool.iter().filter_map(|mock| mock.when.as_ref().map(Json::to_string)).collect();
                format!("; there are mocks for {}", whens.join(", "))
            }
        };
        let message = format!("no mock answers call {}{place}: {} {arguments}{why}", call.id, call.tool);
        let error = Error::new(ErrorCode::MockMissing, message)
            .with_detail("tool", call.tool.clone())
            .with_detail("call", call.id.as_str());
        match call.line {
            Some(line) => error.with_detail("line", line),
            None => error,
        }
    }
}

#[async_trait]
impl CallHandler for MockTools {
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        self.recorder.begin_round();
        self.time.begin_round();
        let answers = futures::future::join_all(calls.iter().map(|call| self.answer_one(call))).await;
        Ok(answers.into_iter().collect::<Result<_>>()?)
    }
}
