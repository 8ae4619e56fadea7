//! The manifests of the built-in tools and what belongs to them, as text: nothing here reads it.
//!
//! A package of its own, so that each crate that embeds one of these files can be built from its package alone.
//!
//! **Never here:** code beyond these constants.

macro_rules! built_in_tools {
    ($($name:literal)+) => {
        /// `(tool, manifest)`.
        pub const MANIFESTS: &[(&str, &str)] = &[$(($name, include_str!(concat!($name, ".toml"))),)+];

        /// `(tool, default mock)`: the JSON that a mock answers where a plan's test names nothing else.
        pub const MOCKS: &[(&str, &str)] = &[$(($name, include_str!(concat!($name, ".mock.json"))),)+];
    };
}

built_in_tools! {
    "query_db" "fetch_url" "transform_data" "send_email" "call_llm" "sleep" "wait_until" "ask_person" "call_agent"
}

/// What a manifest of one's own begins as, by its kind.
pub mod templates {
    /// An HTTP request.
    pub const HTTP: &str = include_str!("templates/http.toml");
    /// An SQL statement.
    pub const SQL: &str = include_str!("templates/sql.toml");
    /// A command of this machine.
    pub const COMMAND: &str = include_str!("templates/command.toml");
}
