//! What configuration may change about any tool.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use luaplan_base::{Error, Rate, Result, parse_duration};

use super::ToolSpec;

/// The keys of `[tools.NAME]` that every tool has. What is left out stays as the manifest says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolOverride {
    /// How often the tool may be called, for example `30/m`.
    #[serde(deserialize_with = "rate")]
    pub rate: Option<Rate>,
    /// How many calls may come at once before the rate counts.
    pub burst: Option<NonZeroU32>,
    /// How long one call may take, for example `10s`.
    #[serde(deserialize_with = "timeout")]
    pub timeout: Option<Duration>,
    /// False takes the tool off the whitelist.
    pub enabled: Option<bool>,
    /// How many calls may run at once.
    pub concurrency: Option<NonZeroU32>,
}

impl ToolOverride {
    /// Applies the keys that are set. `enabled` is not part of a spec: see [`ToolOverride::is_enabled`].
    pub fn apply(&self, spec: &mut ToolSpec) {
        if let Some(rate) = self.rate {
            spec.rate = rate;
        }
        if let Some(burst) = self.burst {
            spec.burst = burst.get();
        }
        if let Some(timeout) = self.timeout {
            spec.timeout = timeout;
        }
        if let Some(concurrency) = self.concurrency {
            spec.concurrency = concurrency.get();
        }
    }

    /// Whether the tool stays on the whitelist.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }
}

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rate>, D::Error> {
    parsed(deserializer, str::parse)
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let timeout = parsed(deserializer, parse_duration)?;
    match timeout {
        Some(Duration::ZERO) => Err(de::Error::custom("a timeout must be longer than zero")),
        timeout => Ok(timeout),
    }
}

fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T>,
) -> Result<Option<T>, D::Error> {
    let explain = |error: Error| de::Error::custom(format!("{}; {}", error.message(), error.help()));
    Option::<String>::deserialize(deserializer)?.map(|text| parse(&text).map_err(explain)).transpose()
}
