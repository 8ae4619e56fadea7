//! Which engines this build has.

use luaplan_base::{EngineKind, Error, ErrorCode};

/// Whether this build has the engine: `piccolo` is a feature of the build.
#[must_use]
pub const fn is_built(engine: EngineKind) -> bool {
    match engine {
        EngineKind::Mlua => true,
        EngineKind::Piccolo => cfg!(feature = "piccolo"),
    }
}

/// What is said where a build lacks the engine.
#[must_use]
pub fn not_built(engine: EngineKind) -> Error {
    Error::new(ErrorCode::ConfigInvalid, format!("this build of luaplan has no engine `{engine}`"))
        .with_help("use the engine mlua, or a build with the feature `piccolo`, as releases are")
}
