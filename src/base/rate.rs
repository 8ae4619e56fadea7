//! Rates such as "30/m".

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use super::{Error, ErrorCode};

/// A number of events per second, minute or hour. Zero cannot be written: disable a tool instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many events fit into one period.
    pub events: NonZeroU32,
    /// The period's length.
    pub period: Duration,
}

const UNITS: [(&str, u64); 3] = [("s", 1), ("m", 60), ("h", 3600)];

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || {
            Error::new(ErrorCode::ConfigInvalid, format!("`{text}` is not a rate"))
                .with_help("write a number from 1, a slash, and s, m or h: `10/s`, `30/m`, `500/h`")
        };
        let (events, unit) = text.split_once('/').ok_or_else(refuse)?;
        let events = events.trim().parse().map_err(|_| refuse())?;
        let unit = unit.trim();
        let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(refuse)?;
        Ok(Self { events, period: Duration::from_secs(*seconds) })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.period.as_secs();
        let unit = UNITS.iter().find(|(_, length)| *length == seconds).map_or("s", |(name, _)| name);
        write!(f, "{}/{unit}", self.events)
    }
}
