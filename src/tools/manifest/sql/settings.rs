//! `[settings]` of a manifest of the kind `sql`, and `[tools.NAME]` for it.

use std::time::Duration;

use serde::Deserialize;

use luaplan_base::{Effect, Result, written};
use luaplan_catalog::{TargetKind, ToolSpec};

use crate::builtin::query_db::outline::{Outline, outline};
use crate::builtin::query_db::{DatabaseUrl, Decimals, Describe};
use crate::manifest::{fault, read_settings};

/// The statement a manifest names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlSettings {
    /// One of `[tools.query_db] databases`; `main` or the first where none is named.
    pub database: Option<String>,
    pub(super) sql: String,
    #[serde(default)]
    pub(super) result: ResultForm,
}

/// What the rows become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultForm {
    /// A list of rows.
    #[default]
    Rows,
    /// The only row, or null.
    Row,
    /// The first column of the only row, or null.
    Value,
}

impl SqlSettings {
    /// Reads and checks the settings of a manifest.
    ///
    /// # Errors
    /// `config_invalid` or `config_unknown_key` with the detail `key`.
    pub fn of(spec: &ToolSpec) -> Result<Self> {
        let settings: Self = read_settings(spec)?;
        let outline = settings.outline()?;
        if let Some(name) = outline.names.iter().find(|name| spec.parameter(name).is_none()) {
            return Err(fault("settings.sql", &format!("`:{name}` is no parameter of the tool")));
        }
        if let Some((name, _)) = spec.parameters().find(|(name, _)| !outline.names.iter().any(|n| n == name))
        {
            return Err(fault(
                "settings.sql",
                &format!("the parameter `{name}` has no place: write `:{name}`"),
            ));
        }
        match (outline.writes, spec.effect == Effect::Read) {
            (true, true) => Err(fault(
                "effect",
                "`read`, but the statement writes; write `write`, and grant it with `[tools.NAME] write = true`",
            )),
            (false, false) => Err(fault("effect", "the statement only reads; write `read`")),
            _ => Ok(settings),
        }
    }

    pub(super) fn outline(&self) -> Result<Outline> {
        outline(&self.sql).map_err(|why| fault("settings.sql", &why))
    }

    /// The tables the statement names, as `explain` finds them.
    #[must_use]
    pub fn targets(&self) -> Vec<(TargetKind, String)> {
        vec![(TargetKind::Sql, self.sql.clone())]
    }
}

/// What `[tools.NAME]` of the configuration says about a tool of this kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SqlGrants {
    /// A database of the tool's own, as in `[tools.query_db] databases`.
    pub url: Option<DatabaseUrl>,
    /// Grants writing to a statement that writes.
    pub write: bool,
    /// The most rows; more is a failure.
    pub rows_max: u64,
    /// The most bytes of one result.
    #[serde(deserialize_with = "written::bytes")]
    pub bytes_max: u64,
    /// How long connecting may take.
    #[serde(deserialize_with = "written::duration")]
    pub connect_timeout: Duration,
    /// What decimal columns become, as in `[tools.query_db]`.
    pub decimals: Decimals,
    /// Functions the statement may call beside those that only compute, as in `[tools.query_db]`.
    pub allow_functions: Vec<String>,
    /// What is told of the database, as in `[tools.query_db]`.
    pub describe: Describe,
    /// Connections held at most.
    pub pool_size: u32,
}

impl Default for SqlGrants {
    fn default() -> Self {
        Self {
            url: None,
            write: false,
            rows_max: 10_000,
            bytes_max: 8 * 1024 * 1024,
            connect_timeout: Duration::from_secs(5),
            decimals: Decimals::default(),
            allow_functions: Vec::new(),
            describe: Describe::default(),
            pool_size: 2,
        }
    }
}
