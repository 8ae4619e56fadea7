//! Lua texts of our own, compiled once per process.

use std::sync::OnceLock;

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua};

/// One Lua file of ours: `static JSON: LuaPart = LuaPart::new("json", include_str!("…"));`
pub(in crate::sandbox) struct LuaPart {
    name: &'static str,
    source: &'static str,
    bytecode: OnceLock<Vec<u8>>,
}

/// What the chunk names of our own parts begin with; frames of the plan never do.
pub(super) const PART_CHUNK_NAME: &str = "=luaplan:";

impl LuaPart {
    pub(in crate::sandbox) const fn new(name: &'static str, source: &'static str) -> Self {
        Self { name, source, bytecode: OnceLock::new() }
    }

    /// The part as a function of that VM.
    ///
    /// Bytecode from anywhere else is never loaded: a plan's chunk is always text.
    ///
    /// # Errors
    /// If the text is not Lua, which a test rules out, or memory is used up.
    pub(in crate::sandbox) fn load(&'static self, lua: &Lua) -> mlua::Result<Function> {
        let name = format!("{PART_CHUNK_NAME}{}", self.name);
        if let Some(bytecode) = self.bytecode.get() {
            return lua.load(bytecode.as_slice()).set_name(name).set_mode(ChunkMode::Binary).into_function();
        }
        let function = lua.load(self.source).set_name(name).set_mode(ChunkMode::Text).into_function()?;
        self.bytecode.get_or_init(|| function.dump(false));
        Ok(function)
    }
}
