//! `[tools.sleep]` and `[tools.wait_until]`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Number, Value as Json};

use luaplan_base::{Result, parse_duration};
use luaplan_catalog::{CompiledParams, ToolSpec};

/// The settings of a sleeping tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SleepSettings {
    /// The longest single sleep, such as `2h`.
    pub longest: Option<String>,
}

impl SleepSettings {
    /// The longest single sleep, where it differs from the manifest's.
    ///
    /// # Errors
    /// `config_invalid` where it is no duration.
    pub fn longest(&self) -> Result<Option<Duration>> {
        self.longest.as_deref().map(parse_duration).transpose()
    }

    /// Puts the bound into the tool's spec, so that checks and prompts know it. [`SleepSettings::longest`]
    /// refuses a text that is no duration.
    pub fn bound(&self, spec: &mut ToolSpec) {
        let Ok(Some(longest)) = self.longest() else { return };
        spec.sleeps_max = Some(longest);
        let seconds = spec.params.pointer_mut("/properties/seconds").and_then(Json::as_object_mut);
        let whole = (longest.subsec_nanos() == 0).then(|| Number::from(longest.as_secs()));
        let most = whole.or_else(|| Number::from_f64(longest.as_secs_f64()));
        if let (Some(schema), Some(most)) = (seconds, most) {
            schema.insert("maximum".to_owned(), Json::Number(most));
            spec.compiled = CompiledParams::default();
        }
    }
}
