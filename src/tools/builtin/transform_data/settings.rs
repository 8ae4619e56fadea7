//! What configuration says about `transform_data`.

use std::path::PathBuf;

use serde::Deserialize;

use luaplan_base::{Error, ErrorCode, Result, written};

/// `[tools.transform_data]`, apart from what every tool has (rate, timeout, …).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransformDataSettings {
    /// The folder of named templates, relative to the configuration file; none if absent.
    pub templates_dir: Option<PathBuf>,
    /// Template instructions one call may use.
    pub fuel: u64,
    /// Largest result; a number of bytes or text such as `2MiB`.
    #[serde(deserialize_with = "written::bytes")]
    pub output_bytes_max: u64,
    /// Whether text in CSV that a spreadsheet would take for a formula gets an apostrophe before
    /// it.
    pub csv_neutralise_formulas: bool,
}

impl Default for TransformDataSettings {
    fn default() -> Self {
        Self {
            templates_dir: None,
            fuel: 500_000,
            output_bytes_max: 2 * 1024 * 1024,
            csv_neutralise_formulas: true,
        }
    }
}

impl TransformDataSettings {
    /// Refuses values with which no call could succeed.
    ///
    /// # Errors
    /// `config_invalid` naming the key.
    pub(super) fn check(&self) -> Result<()> {
        let zeros = [("fuel", self.fuel == 0), ("output_bytes_max", self.output_bytes_max == 0)];
        match zeros.iter().find(|(_, is_zero)| *is_zero) {
            Some((key, _)) => {
                Err(Error::new(ErrorCode::ConfigInvalid, format!("`tools.transform_data.{key}` is zero"))
                    .with_detail("key", format!("tools.transform_data.{key}"))
                    .with_help(format!("set `{key}` to a value above zero, or leave it out")))
            }
            None => Ok(()),
        }
    }
}
