//! The settings of tools, read from their tables of the configuration.

use serde::de::DeserializeOwned;

use luaplan_base::{Result, nearest};
use luaplan_catalog::toml_error::{faulty_key, unknown_field};

use crate::config::{Config, OVERRIDE_KEYS, ToolConfig, refused};

pub(crate) fn settings<T: DeserializeOwned>(config: &Config, tool: &str) -> Result<T> {
    read(tool, table(config, tool))
}

pub(crate) fn table(config: &Config, tool: &str) -> toml::Table {
    config.tools.get(tool).map(|tool: &ToolConfig| tool.settings.clone()).unwrap_or_default()
}

pub(crate) fn read<T: DeserializeOwned>(tool: &str, table: toml::Table) -> Result<T> {
    table.try_into().map_err(|error: toml::de::Error| {
        let place = format!("tools.{tool}");
        let Some((field, known)) = unknown_field(error.message()) else {
            let key = faulty_key(&error).map_or(place.clone(), |key| format!("{place}.{key}"));
            return refused(&error, &key).with_detail("key", key);
        };
        let refusal = refused(&error, &place);
        let help = match nearest(field, known.into_iter().chain(OVERRIDE_KEYS)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("every tool also takes {}", OVERRIDE_KEYS.join(", ")),
        };
        refusal.with_help(help).with_detail("key", format!("{place}.{field}"))
    })
}
