//! The messages between host and worker. This is the trust boundary: the host trusts a worker only as far
//! as these types constrain it.
//!
//! ```text
//! worker ─► Hello (magic, version, confinement)          host ─► Prepare (magic, version, options)
//! host ─► Start     worker ─► Calls | Wait | Done        host ─► Answers | Resume     … until Done
//! ```

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use luaplan_base::{CallOutcome, CallRequest, Error, ErrorCode, StepReport, ToolFailure, Value};
use luaplan_vm::{Interrupt, SLICE_INSTRUCTIONS, VmLimits, VmOptions, VmUsage};

use super::confine::Confinement;
use super::frame::{self, FrameFault};
use super::value_codec;

/// The first bytes of each side's first frame.
const MAGIC: [u8; 8] = *b"luaplanW";

/// Both sides must have the same version; they differ only where the program was replaced meanwhile.
pub(super) const PROTOCOL_VERSION: u16 = 2;

/// The worker's first message.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) confinement: Confinement,
}

/// The host's first message: the options of the VM to make ahead of its run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Prepare {
    pub(super) options: Options,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    Start(Box<Start>),
    Answers(Vec<Outcome>),
    Resume,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// Where they differ from the prepared ones, the prepared VM is dropped.
    pub(super) options: Option<Options>,
    pub(super) source: String,
    pub(super) name: String,
    #[serde(serialize_with = "value_codec::serialize", deserialize_with = "value_codec::deserialize")]
    pub(super) context: Value,
    pub(super) calls_before: u64,
    pub(super) run_started_s: Option<i64>,
    pub(super) frame_bytes_max: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromWorker {
    Calls { calls: Vec<Call>, output: Output, usage: Used },
    Wait { wait_ms: u64, attempt: u32, attempts_max: u32, message: String, output: Output, usage: Used },
    Done { result: Ended, output: Output, usage: Used },
}

/// What the plan said since its previous pause.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Output {
    pub(super) printed: String,
    pub(super) reports: Vec<StepReport>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ended {
    Returned(
        #[serde(serialize_with = "value_codec::serialize", deserialize_with = "value_codec::deserialize")]
        Value,
    ),
    Broke(WireError),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Options {
    pub(super) tools: Vec<String>,
    instructions: u64,
    memory_bytes: u64,
    call_depth: u64,
    source_bytes: u64,
    output_bytes: u64,
    print_bytes: u64,
    tool_calls: u64,
    wall_ms: u64,
}

impl Options {
    pub(super) fn new(limits: &VmLimits, tools: Vec<String>) -> Self {
        let VmLimits {
            instructions,
            memory_bytes,
            call_depth,
            source_bytes,
            output_bytes,
            print_bytes,
            tool_calls,
            wall_ms,
        } = *limits;
        Self {
            tools,
            instructions,
            memory_bytes,
            call_depth,
            source_bytes,
            output_bytes,
            print_bytes,
            tool_calls,
            wall_ms,
        }
    }

    pub(super) fn vm_options(&self, interrupt: Interrupt) -> VmOptions {
        let limits = VmLimits {
            instructions: self.instructions,
            memory_bytes: self.memory_bytes,
            call_depth: self.call_depth,
            source_bytes: self.source_bytes,
            output_bytes: self.output_bytes,
            print_bytes: self.print_bytes,
            tool_calls: self.tool_calls,
            wall_ms: self.wall_ms,
        };
        VmOptions { limits, tools: self.tools.clone(), interrupt, slice_instructions: SLICE_INSTRUCTIONS }
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Used {
    instructions: u64,
    memory_peak_bytes: u64,
    calls: u64,
}

impl From<VmUsage> for Used {
    fn from(usage: VmUsage) -> Self {
        let VmUsage { instructions, memory_peak_bytes, calls } = usage;
        Self { instructions, memory_peak_bytes, calls }
    }
}

impl From<Used> for VmUsage {
    fn from(used: Used) -> Self {
        let Used { instructions, memory_peak_bytes, calls } = used;
        Self { instructions, memory_peak_bytes, calls }
    }
}

/// A call, without its id: the host counts for itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call {
    /// Whether it is a branch of a batch: a batch of one call has ids of its own kind.
    pub(super) is_branch: bool,
    pub(super) tool: String,
    #[serde(
        serialize_with = "value_codec::list::serialize",
        deserialize_with = "value_codec::list::deserialize"
    )]
    pub(super) arguments: Vec<Value>,
    pub(super) line: Option<u32>,
}

impl From<CallRequest> for Call {
    fn from(call: CallRequest) -> Self {
        let CallRequest { id, tool, arguments, line } = call;
        Self { is_branch: id.as_str().contains('.'), tool, arguments: arguments.0, line }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    Good(
        #[serde(serialize_with = "value_codec::serialize", deserialize_with = "value_codec::deserialize")]
        Value,
    ),
    Failed(
        #[serde(
            serialize_with = "value_codec::failure::serialize",
            deserialize_with = "value_codec::failure::deserialize"
        )]
        ToolFailure,
    ),
}

impl From<CallOutcome> for Outcome {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            Ok(value) => Self::Good(value),
            Err(failure) => Self::Failed(failure),
        }
    }
}

impl From<Outcome> for CallOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Good(value) => Ok(value),
            Outcome::Failed(failure) => Err(failure),
        }
    }
}

/// An [`Error`] without its inner cause. JSON parts are carried as JSON text.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireError {
    code: String,
    message: String,
    help: String,
    limit: Option<String>,
    observed: Option<String>,
    details: Vec<(String, String)>,
}

impl From<&Error> for WireError {
    fn from(error: &Error) -> Self {
        Self {
            code: error.code().as_str().to_owned(),
            message: error.message().to_owned(),
            help: error.help().to_owned(),
            limit: error.limit().map(ToString::to_string),
            observed: error.observed().map(ToString::to_string),
            details: error.details().iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        }
    }
}

impl WireError {
    /// # Errors
    /// The invalid part.
    pub(super) fn into_error(self) -> Result<Error, String> {
        fn json(text: &str) -> Result<serde_json::Value, String> {
            serde_json::from_str(text).map_err(|_| "an error holds a part that is no JSON".to_owned())
        }
        let code: ErrorCode =
            self.code.parse().map_err(|()| format!("there is no error code {:?}", shortened(&self.code)))?;
        let mut error = Error::new(code, self.message);
        if self.help != code.remedy() {
            error = error.with_help(self.help);
        }
        if let (Some(limit), Some(observed)) = (&self.limit, &self.observed) {
            error = error.with_limit(json(limit)?, json(observed)?);
        }
        for (name, value) in self.details {
            error = error.with_detail(name, json(&value)?);
        }
        Ok(error)
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Why a message could not be made or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum MessageFault {
    #[error(transparent)]
    Frame(#[from] FrameFault),
    #[error("{0}")]
    Content(String),
}

/// A whole frame with `message` in it.
///
/// # Errors
/// Above `limit_bytes`, or a value nested too deep.
pub(super) fn encode(message: &impl Serialize, limit_bytes: u64) -> Result<Vec<u8>, MessageFault> {
    finished(message, frame::begin(), limit_bytes)
}

/// As [`encode`], with magic and version in front.
///
/// # Errors
/// As [`encode`].
pub(super) fn encode_first(message: &impl Serialize) -> Result<Vec<u8>, MessageFault> {
    let mut bytes = frame::begin();
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&PROTOCOL_VERSION.to_le_bytes());
    finished(message, bytes, frame::FRAME_BYTES_MAX)
}

fn finished(message: &impl Serialize, begun: Vec<u8>, limit_bytes: u64) -> Result<Vec<u8>, MessageFault> {
    let mut bytes = postcard::to_extend(message, begun)
        .map_err(|_| MessageFault::Content("a value is nested too deep to be sent".to_owned()))?;
    frame::finish(&mut bytes, limit_bytes)?;
    Ok(bytes)
}

/// The message of a frame's body. All of the body must be used up.
///
/// # Errors
/// What the body holds instead.
pub(super) fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, MessageFault> {
    value_codec::begin_frame();
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(MessageFault::Content(format!("{} bytes too many", rest.len()))),
        Err(error) => Err(MessageFault::Content(format!("a frame makes no sense: {error}"))),
    }
}

/// The message of the first frame's body.
///
/// # Errors
/// Another magic, another version, or another message.
pub(super) fn decode_first<T: DeserializeOwned>(body: &[u8]) -> Result<T, MessageFault> {
    let rest = body
        .strip_prefix(&MAGIC)
        .ok_or_else(|| MessageFault::Content("the other side is no luaplan worker or host".to_owned()))?;
    match rest.split_first_chunk::<2>() {
        Some((version, rest)) if u16::from_le_bytes(*version) == PROTOCOL_VERSION => decode(rest),
        Some((version, _)) => Err(MessageFault::Content(format!(
            "the other side speaks version {} of the protocol, this one {PROTOCOL_VERSION}",
            u16::from_le_bytes(*version)
        ))),
        None => Err(MessageFault::Content("the first frame is cut short".to_owned())),
    }
}
