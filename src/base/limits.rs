//! The limits of a run. Limits are data; the meters that enforce them are in other rooms.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value as Json;

use super::{Error, ErrorCode, Result};

/// Every limit of a run. There is no `Default`: choose a [`LimitProfile`] and change what differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// VM instructions.
    pub instructions: u64,
    /// Bytes that the VM may hold at a time.
    pub memory_bytes: u64,
    /// Time from the start of the run to its end, tool calls included.
    pub wall: Duration,
    /// Nested function calls.
    pub call_depth: u64,
    /// Bytes of plan source.
    pub source_bytes: u64,
    /// Bytes of the result, in its JSON form.
    pub output_bytes: u64,
    /// Bytes the plan may print.
    pub print_bytes: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Bytes of all tool results together.
    pub result_bytes: u64,
    /// Model tokens, sent and received together.
    pub llm_tokens: u64,
    /// Money for models, in millionths of a US dollar.
    pub llm_cost_micro_usd: u64,
}

/// A named set of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitProfile {
    /// For plans of unknown origin.
    Strict,
    /// For everyday work.
    Standard,
    /// For heavy work on the user's own machine.
    Generous,
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

impl LimitProfile {
    /// Every profile, smallest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Standard, Self::Generous];

    /// The profile's name in configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Standard => "standard",
            Self::Generous => "generous",
        }
    }

    /// The profile's limits.
    #[must_use]
    pub const fn limits(self) -> Limits {
        match self {
            Self::Strict => Limits {
                instructions: 5_000_000,
                memory_bytes: 16 * MIB,
                wall: Duration::from_secs(30),
                call_depth: 200,
                source_bytes: 16 * KIB,
                output_bytes: 256 * KIB,
                print_bytes: 16 * KIB,
                tool_calls: 20,
                result_bytes: 8 * MIB,
                llm_tokens: 20_000,
                llm_cost_micro_usd: 100_000,
            },
            Self::Standard => Limits {
                instructions: 100_000_000,
                memory_bytes: 64 * MIB,
                wall: Duration::from_secs(120),
                call_depth: 1_000,
                source_bytes: 64 * KIB,
                output_bytes: 4 * MIB,
                print_bytes: 256 * KIB,
                tool_calls: 200,
                result_bytes: 32 * MIB,
                llm_tokens: 200_000,
                llm_cost_micro_usd: 1_000_000,
            },
            Self::Generous => Limits {
                instructions: 2_000_000_000,
                memory_bytes: 512 * MIB,
                wall: Duration::from_secs(1_800),
                call_depth: 10_000,
                source_bytes: 256 * KIB,
                output_bytes: 64 * MIB,
                print_bytes: 4 * MIB,
                tool_calls: 5_000,
                result_bytes: 256 * MIB,
                llm_tokens: 2_000_000,
                llm_cost_micro_usd: 20_000_000,
            },
        }
    }
}

impl FromStr for LimitProfile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == text).ok_or_else(|| {
            Error::new(ErrorCode::ConfigInvalid, format!("there is no limit profile `{text}`"))
                .with_help("the profiles are strict, standard and generous")
        })
    }
}

/// The name of one limit, as flags, configuration and errors spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitName {
    /// [`Limits::instructions`].
    Instructions,
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::wall`].
    Wall,
    /// [`Limits::call_depth`].
    Depth,
    /// [`Limits::source_bytes`].
    Source,
    /// [`Limits::output_bytes`].
    Output,
    /// [`Limits::print_bytes`].
    Print,
    /// [`Limits::tool_calls`].
    ToolCalls,
    /// [`Limits::result_bytes`].
    ResultBytes,
    /// [`Limits::llm_tokens`].
    LlmTokens,
    /// [`Limits::llm_cost_micro_usd`].
    LlmCost,
}

impl LimitName {
    /// Every limit, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Instructions,
        Self::Memory,
        Self::Wall,
        Self::Depth,
        Self::Source,
        Self::Output,
        Self::Print,
        Self::ToolCalls,
        Self::ResultBytes,
        Self::LlmTokens,
        Self::LlmCost,
    ];

    /// The name in flags and configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Memory => "memory",
            Self::Wall => "wall",
            Self::Depth => "depth",
            Self::Source => "source",
            Self::Output => "output",
            Self::Print => "print",
            Self::ToolCalls => "tool_calls",
            Self::ResultBytes => "result_bytes",
            Self::LlmTokens => "llm_tokens",
            Self::LlmCost => "llm_cost",
        }
    }

    /// The error code a run ends with when this limit is hit.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Instructions => ErrorCode::LimitInstructions,
            Self::Memory => ErrorCode::LimitMemory,
            Self::Wall => ErrorCode::LimitWallTime,
            Self::Depth => ErrorCode::LimitCallDepth,
            Self::Source => ErrorCode::LimitSourceBytes,
            Self::Output => ErrorCode::LimitOutputBytes,
            Self::Print => ErrorCode::LimitPrintBytes,
            Self::ToolCalls => ErrorCode::LimitToolCalls,
            Self::ResultBytes => ErrorCode::LimitResultBytes,
            Self::LlmTokens => ErrorCode::LimitLlmTokens,
            Self::LlmCost => ErrorCode::LimitLlmCost,
        }
    }

    /// The error for a limit that was hit. `limit` and `observed` are in the limit's own unit:
    /// instructions, bytes, milliseconds, calls, tokens or millionths of a US dollar.
    #[must_use]
    pub fn exceeded(self, limit: u64, observed: u64) -> Error {
        Error::new(self.code(), format!("the limit `{self}` of {limit} {} was hit", self.unit()))
            .with_limit(limit, observed)
    }

    /// The unit `limit` and `observed` are given in.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Wall => "ms",
            Self::Depth | Self::ToolCalls => "calls",
            Self::LlmTokens => "tokens",
            Self::LlmCost => "micro-USD",
            Self::Memory | Self::Source | Self::Output | Self::Print | Self::ResultBytes => "bytes",
        }
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LimitName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Error::new(ErrorCode::ConfigInvalid, format!("there is no limit `{text}`"))
                .with_help(format!("the limits are {names}"))
        })
    }
}

impl Limits {
    /// The limit in its own unit (see [`LimitName::unit`]).
    #[must_use]
    pub fn get(&self, name: LimitName) -> u64 {
        match name {
            LimitName::Instructions => self.instructions,
            LimitName::Memory => self.memory_bytes,
            LimitName::Wall => u64::try_from(self.wall.as_millis()).unwrap_or(u64::MAX),
            LimitName::Depth => self.call_depth,
            LimitName::Source => self.source_bytes,
            LimitName::Output => self.output_bytes,
            LimitName::Print => self.print_bytes,
            LimitName::ToolCalls => self.tool_calls,
            LimitName::ResultBytes => self.result_bytes,
            LimitName::LlmTokens => self.llm_tokens,
            LimitName::LlmCost => self.llm_cost_micro_usd,
        }
    }

    /// Changes one limit from text: a plain number, a byte size (`64MiB`), a duration (`2s`) or,
    /// for `llm_cost`, US dollars (`0.50`).
    ///
    /// # Errors
    /// `config_invalid` where the text does not fit the limit, or is zero.
    pub fn set(&mut self, name: LimitName, text: &str) -> Result<()> {
        let number = match name.unit() {
            "ms" => parse_duration(text)?.as_millis().try_into().unwrap_or(u64::MAX),
            "bytes" => parse_bytes(text)?,
            "micro-USD" => parse_micro_usd(text)?,
            _ => parse_count(text)?,
        };
        if number == 0 {
            return Err(invalid(text, "a number above zero"));
        }
        self.put(name, number);
        Ok(())
    }

    /// For each limit the lower value of the two.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let mut limits = self.clone();
        for name in LimitName::ALL {
            limits.put(name, self.get(name).min(other.get(name)));
        }
        limits
    }

    /// Reads what [`Limits::to_json`] wrote. A missing limit takes the standard profile's value.
    ///
    /// # Errors
    /// `config_invalid` for a name that is no limit, or a value that is no number above zero.
    pub fn from_json(json: &Json) -> Result<Self> {
        let mut limits = LimitProfile::Standard.limits();
        for (name, value) in json.as_object().into_iter().flatten() {
            let number = value.as_u64().filter(|number| *number > 0);
            let number = number.ok_or_else(|| invalid(&value.to_string(), "a number above zero"))?;
            limits.put(name.parse()?, number);
        }
        Ok(limits)
    }

    fn put(&mut self, name: LimitName, number: u64) {
        let field = match name {
            LimitName::Wall => {
                self.wall = Duration::from_millis(number);
                return;
            }
            LimitName::Instructions => &mut self.instructions,
            LimitName::Memory => &mut self.memory_bytes,
            LimitName::Depth => &mut self.call_depth,
            LimitName::Source => &mut self.source_bytes,
            LimitName::Output => &mut self.output_bytes,
            LimitName::Print => &mut self.print_bytes,
            LimitName::ToolCalls => &mut self.tool_calls,
            LimitName::ResultBytes => &mut self.result_bytes,
            LimitName::LlmTokens => &mut self.llm_tokens,
            LimitName::LlmCost => &mut self.llm_cost_micro_usd,
        };
        *field = number;
    }

    /// Every limit by name, in its own unit.
    #[must_use]
    pub fn to_json(&self) -> Json {
        LimitName::ALL.iter().map(|name| (name.as_str().to_owned(), Json::from(self.get(*name)))).collect()
    }
}

fn invalid(text: &str, expected: &str) -> Error {
    Error::new(ErrorCode::ConfigInvalid, format!("`{text}` is not {expected}"))
}

fn parse_count(text: &str) -> Result<u64> {
    text.replace('_', "").parse().map_err(|_| invalid(text, "a whole number"))
}

/// Bytes from `4096`, `64KiB`, `64MiB`, `1GiB`, or with the decimal units `kB`, `MB`, `GB`.
///
/// # Errors
/// `config_invalid` for anything else.
pub fn parse_bytes(text: &str) -> Result<u64> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", KIB),
        ("MiB", MIB),
        ("GiB", 1024 * MIB),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let trimmed = text.trim();
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| trimmed.strip_suffix(unit).map(|rest| (rest.trim(), *factor)))
        .unwrap_or((trimmed, 1));
    parse_count(number)
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| invalid(text, "a size in bytes such as `65536`, `64KiB` or `16MiB`"))
}

/// A duration such as `250ms`, `2s`, `5m`, `1h30m` or `7d`; a day has 24 hours.
///
/// # Errors
/// `config_invalid` for anything else.
pub fn parse_duration(text: &str) -> Result<Duration> {
    text.parse::<jiff::Span>()
        .ok()
        .and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok())
        .and_then(|duration| Duration::try_from(duration).ok())
        .ok_or_else(|| invalid(text, "a duration such as `250ms`, `2s`, `5m`, `1h30m` or `7d`"))
}

fn parse_micro_usd(text: &str) -> Result<u64> {
    let dollars: f64 = text
        .trim_start_matches('$')
        .parse()
        .map_err(|_| invalid(text, "an amount of US dollars such as `0.50`"))?;
    if !(0.0..=1e9).contains(&dollars) {
        return Err(invalid(text, "an amount of US dollars such as `0.50`"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked above")]
    Ok((dollars * 1e6).round() as u64)
}
