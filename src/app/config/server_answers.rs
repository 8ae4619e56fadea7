//! How much of what a run gave stands in one answer.

use luaplan_base::{Result, parse_bytes};

use super::raw::RawServer;
use super::values::{invalid, keyed};
use crate::ANSWER_BYTES_MIN;

/// An answer is held in memory whole, for each request.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where an answer to an assistant has its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpData {
    /// In `structuredContent`, where the client's revision of the protocol has that; a short text beside it.
    Structured,
    /// In the text alone, for clients that show their model nothing else.
    Text,
}

/// The parts of `[server]` that bound answers.
#[derive(Debug, Clone)]
pub struct ServerAnswers {
    /// The most bytes of a run in an answer of the API.
    pub result_bytes_max: usize,
    /// The most bytes of an answer to an assistant.
    pub mcp_result_bytes_max: usize,
    /// Where an answer to an assistant has its data.
    pub mcp_data: McpData,
}

impl ServerAnswers {
    pub(super) fn check(raw: &RawServer) -> Result<Self> {
        Ok(Self {
            result_bytes_max: bytes_max("server.result_max", &raw.result_max)?,
            mcp_result_bytes_max: bytes_max("server.mcp_result_max", &raw.mcp_result_max)?,
            mcp_data: match raw.mcp_data.as_str() {
                "structured" => McpData::Structured,
                "text" => McpData::Text,
                other => return Err(invalid("server.mcp_data", other, "`structured` or `text`")),
            },
        })
    }
}

fn bytes_max(key: &str, text: &str) -> Result<usize> {
    let bytes = parse_bytes(text).map_err(|error| keyed(key, &error))?;
    match usize::try_from(bytes) {
        Ok(fits) if (ANSWER_BYTES_MIN..=ANSWER_BYTES_MAX).contains(&bytes) => Ok(fits),
        _ => Err(invalid(key, text, "a size from 16KiB to 64MiB")),
    }
}
