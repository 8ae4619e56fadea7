//! The Lua that comes with luaplan, as text: nothing here runs it.
//!
//! A package of its own, so that each crate that embeds one of these files can be built from its package alone.
//!
//! **Never here:** code beyond these constants.

/// The prelude, loaded by both engines before a plan. `MAIN` joins the others.
pub mod prelude {
    /// Joins the parts and sets the globals that a plan may see.
    pub const MAIN: &str = include_str!("prelude/main.lua");
    /// Strict error values.
    pub const FAILURES: &str = include_str!("prelude/failures.lua");
    /// The basic functions that would show what no plan may see.
    pub const VALUES: &str = include_str!("prelude/values.lua");
    /// Protected calls and coroutines.
    pub const CONTROL: &str = include_str!("prelude/control.lua");
    /// Tools, `parallel`, `retry` and `must`.
    pub const TOOLS: &str = include_str!("prelude/tools.lua");
    /// The libraries `string` and `utf8`.
    pub const LIBRARY: &str = include_str!("prelude/library.lua");
    /// Named steps.
    pub const STEPS: &str = include_str!("prelude/steps.lua");
    /// The pattern functions.
    pub const PATTERNS: &str = include_str!("prelude/patterns.lua");
    /// The library `table`.
    pub const TABLES: &str = include_str!("prelude/tables.lua");
}

/// The parts of the plan library that are written in Lua.
pub mod library {
    /// Checks of arguments, shared by the others.
    pub const CHECKS: &str = include_str!("lib/checks.lua");
    /// The sum of a list, shared by the others.
    pub const TOTAL: &str = include_str!("lib/total.lua");
    /// Figures of lists.
    pub const STATS: &str = include_str!("lib/stats.lua");
    /// Work on lists with the plan's own functions.
    pub const LIST: &str = include_str!("lib/list.lua");
    /// Sorting and grouping.
    pub const LIST_ORDER: &str = include_str!("lib/list_order.lua");
    /// Parts of lists, and lists put together.
    pub const LIST_PARTS: &str = include_str!("lib/list_parts.lua");
}

/// The library of plan tests.
pub const TEST_LIBRARY: &str = include_str!("testlib.lua");

macro_rules! stubs {
    ($($name:literal)+) => {
        /// LuaCATS declarations of every function of the plan library, one file a library, in the order of the
        /// documentation: `(library, declarations)`. For prompts without room for all.
        pub const LIBRARY_STUB_FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("stubs/", $name, ".lua"))),)+];

        /// LuaCATS declarations of every function of the plan library.
        pub const LIBRARY_STUBS: &str = concat!($(include_str!(concat!("stubs/", $name, ".lua")), "\n",)+);
    };
}

stubs! { "json" "date" "text" "csv" "stats" "list" "math" "step" }
