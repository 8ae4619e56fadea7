//! `[tools.query_db]` in the configuration.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use luaplan_base::written;

/// Which databases plans may query, and how much.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueryDbSettings {
    /// Name → URL (`sqlite:PATH`, `postgres://…`, `mysql://…`). The one named `main`, or else the
    /// first, is the default. None are configured by default.
    pub databases: IndexMap<String, DatabaseUrl>,
    /// The most rows one query may return; more is a failure, never a silent cut. Default 10,000.
    pub rows_max: u64,
    /// The most bytes one result may have. A number or a text such as `"8MiB"`. Default 8 MiB.
    #[serde(deserialize_with = "written::bytes")]
    pub bytes_max: u64,
    /// How long one query may take, connecting included. Default: the tool's own `timeout`, which
    /// is also the most it can be.
    #[serde(deserialize_with = "optional_duration")]
    pub statement_timeout: Option<Duration>,
    /// How long connecting may take. Default 5 seconds.
    #[serde(deserialize_with = "written::duration")]
    pub connect_timeout: Duration,
    /// The names of the databases that permit INSERT, UPDATE and DELETE. Default: none.
    pub writes: Vec<String>,
    /// Functions that statements may call beside those that only compute: names without a schema, or
    /// prefixes followed by `*`. Default: none.
    pub allow_functions: Vec<String>,
    /// Connections held to each database at most. Default 4.
    pub pool_size: u32,
    /// What decimal columns become where a call does not say `exact`. Default: numbers.
    pub decimals: Decimals,
    /// A file with the operator's own words about the schema, told to a planner with it: what a column means, which table
    /// to take. Default: none.
    pub notes: Option<PathBuf>,
    /// What a planner is told of the databases: `"auto"`, all tables that the configured user may read; `"off"`,
    /// nothing; or the names of the tables to tell of, as `luaplan tools describe` writes them. Default: `"auto"`.
    pub describe: Describe,
}

/// What a planner is told of databases. Never rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(from = "WrittenDescribe", into = "WrittenDescribe")]
pub enum Describe {
    /// Every table and view that the configured user may read.
    #[default]
    Auto,
    /// Nothing.
    Off,
    /// These tables and views alone.
    Tables(Vec<String>),
}

/// How [`Describe`] stands in a file.
#[derive(Deserialize, Serialize)]
#[serde(untagged, expecting = "\"auto\", \"off\" or a list of tables")]
enum WrittenDescribe {
    Word(DescribeWord),
    Tables(Vec<String>),
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum DescribeWord {
    Auto,
    Off,
}

impl From<WrittenDescribe> for Describe {
    fn from(written: WrittenDescribe) -> Self {
        match written {
            WrittenDescribe::Word(DescribeWord::Auto) => Self::Auto,
            WrittenDescribe::Word(DescribeWord::Off) => Self::Off,
            WrittenDescribe::Tables(tables) => Self::Tables(tables),
        }
    }
}

impl From<Describe> for WrittenDescribe {
    fn from(describe: Describe) -> Self {
        match describe {
            Describe::Auto => Self::Word(DescribeWord::Auto),
            Describe::Off => Self::Word(DescribeWord::Off),
            Describe::Tables(tables) => Self::Tables(tables),
        }
    }
}

/// Why a URL gives no database.
pub(super) struct BadUrl {
    pub(super) reason: String,
    pub(super) help: &'static str,
}

impl BadUrl {
    pub(super) fn malformed(reason: &impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
            help: "write `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `mysql://…`",
        }
    }
}

/// What a column becomes whose type holds more digits than a number of Lua: `NUMERIC`, `DECIMAL`, `money`, and
/// unsigned integers of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimals {
    /// Whole numbers of 64 signed bits as they are, others as the nearest double.
    #[default]
    Number,
    /// Text with every digit.
    Text,
}

/// What PostgreSQL `interval` and MySQL `TIME` become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Intervals {
    /// Text: ISO 8601, and `HH:MM:SS` of MySQL.
    #[default]
    Iso,
    /// A number of seconds.
    Seconds,
}

/// What the values of a column become where its type leaves a choice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Forms {
    pub(super) decimals: Decimals,
    pub(super) intervals: Intervals,
}

impl Default for QueryDbSettings {
    fn default() -> Self {
        Self {
            databases: IndexMap::new(),
            rows_max: 10_000,
            bytes_max: 8 * 1024 * 1024,
            statement_timeout: None,
            connect_timeout: Duration::from_secs(5),
            writes: Vec::new(),
            allow_functions: Vec::new(),
            pool_size: 4,
            decimals: Decimals::default(),
            notes: None,
            describe: Describe::default(),
        }
    }
}

/// A database's URL. Printing, debugging and serialising it never shows its password.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Wraps a URL; [`super::QueryDb::new`] checks it.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The URL with its password.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The URL's secrets in every spelling in which a driver may repeat them.
    pub(super) fn secrets(&self) -> Vec<String> {
        let Ok(url) = url::Url::parse(&self.0) else { return Vec::new() };
        let mut secrets: Vec<String> = url.password().map(str::to_owned).into_iter().collect();
        if let Some(encoded) = url.password() {
            let pair = format!("x={}", encoded.replace('+', "%2B"));
            let decoded = url::form_urlencoded::parse(pair.as_bytes()).map(|(_, value)| value.into_owned());
            secrets.extend(decoded);
        }
        let in_query = url.query_pairs().filter(|(name, _)| name == "password");
        secrets.extend(in_query.map(|(_, value)| value.into_owned()));
        secrets
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(mut url) = url::Url::parse(&self.0) else {
            // A text that is not a URL may hold a password anywhere.
            let scheme = self.0.split(':').next().unwrap_or_default();
            return if scheme == "sqlite" { f.write_str(&self.0) } else { write!(f, "{scheme}:…") };
        };
        if url.password().is_some() && url.set_password(Some("***")).is_err() {
            return write!(f, "{}:…", url.scheme());
        }
        if url.query_pairs().any(|(name, _)| name == "password") {
            url.set_query(Some("…"));
        }
        f.write_str(url.as_str())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for DatabaseUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn optional_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    written::duration(deserializer).map(Some)
}
