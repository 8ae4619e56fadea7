//! Our own Lua texts as functions, compiled once per process.

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua};

use crate::sandbox::part::{LuaPart, PART_CHUNK_NAME};

impl LuaPart {
    /// The part as a function of that VM.
    ///
    /// Bytecode from anywhere else is never loaded: a plan's chunk is always text.
    ///
    /// # Errors
    /// If the text is not Lua, which a test rules out, or memory is used up.
    pub(in crate::sandbox::engine_mlua) fn load(&'static self, lua: &Lua) -> mlua::Result<Function> {
        let name = format!("{PART_CHUNK_NAME}{}", self.name);
        if let Some(bytecode) = self.bytecode.get() {
            return lua.load(bytecode.as_slice()).set_name(name).set_mode(ChunkMode::Binary).into_function();
        }
        let function = lua.load(self.source).set_name(name).set_mode(ChunkMode::Text).into_function()?;
        self.bytecode.get_or_init(|| function.dump(false));
        Ok(function)
    }
}
