//! What configuration says about `fetch_url`.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use luaplan_base::{Error, ErrorCode, Result, written};

/// `[tools.fetch_url]`, apart from what every tool has (rate, timeout, …).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchUrlSettings {
    /// Which hosts may be reached: `host`, `host:port`, `*.domain`, or `*` for every public host.
    /// Empty means `["*"]`. An address that is not public is reached only where its host is named
    /// in full.
    pub allow_hosts: Vec<String>,
    /// Largest body of one URL, after decompression; a number of bytes or text such as `5MiB`.
    #[serde(deserialize_with = "written::bytes")]
    pub bytes_max_per_url: u64,
    /// Largest sum of bodies of one call.
    #[serde(deserialize_with = "written::bytes")]
    pub bytes_max_total: u64,
    /// Redirects followed for one URL; 0 follows none.
    pub redirects_max: u32,
    /// URLs of one call fetched at the same time.
    pub batch_concurrency: u32,
    /// URLs in one call.
    pub urls_max: u32,
    /// Longest time to resolve a name and connect.
    #[serde(deserialize_with = "written::duration")]
    pub connect_timeout: Duration,
    /// Longest silence while waiting for a response or its next bytes.
    #[serde(deserialize_with = "written::duration")]
    pub read_timeout: Duration,
    /// Longest time for one URL, redirects included.
    #[serde(deserialize_with = "written::duration")]
    pub url_timeout: Duration,
    /// A PEM file with further certificate authorities to trust, for servers inside a company.
    pub ca_file: Option<PathBuf>,
}

impl Default for FetchUrlSettings {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            allow_hosts: Vec::new(),
            bytes_max_per_url: 5 * MIB,
            bytes_max_total: 20 * MIB,
            redirects_max: 5,
            batch_concurrency: 8,
            urls_max: 100,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(10),
            url_timeout: Duration::from_secs(20),
            ca_file: None,
        }
    }
}

impl FetchUrlSettings {
    /// Refuses values that would make every call fail or never end.
    ///
    /// # Errors
    /// `config_invalid` naming the key.
    pub(super) fn check(&self) -> Result<()> {
        let zeros = [
            ("bytes_max_per_url", self.bytes_max_per_url == 0),
            ("bytes_max_total", self.bytes_max_total == 0),
            ("batch_concurrency", self.batch_concurrency == 0),
            ("urls_max", self.urls_max == 0),
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("read_timeout", self.read_timeout.is_zero()),
            ("url_timeout", self.url_timeout.is_zero()),
        ];
        match zeros.iter().find(|(_, is_zero)| *is_zero) {
            Some((key, _)) => {
                Err(Error::new(ErrorCode::ConfigInvalid, format!("`tools.fetch_url.{key}` is zero"))
                    .with_detail("key", format!("tools.fetch_url.{key}"))
                    .with_help(format!("set `{key}` to a value above zero, or leave it out")))
            }
            None => Ok(()),
        }
    }
}
