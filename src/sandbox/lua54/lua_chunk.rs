//! Our own Lua texts as functions, compiled once per process.

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua};

use super::bytecode::without_local_names;
use crate::vm::lua_chunk::{LuaPart, PART_CHUNK_NAME};

impl LuaPart {
    /// The part as a function of that VM.
    ///
    /// Bytecode from anywhere else is never loaded: a plan's chunk is always text.
    ///
    /// # Errors
    /// If the text is not Lua, which a test rules out, or memory is used up.
    pub(in crate::lua54) fn load(&'static self, lua: &Lua) -> mlua::Result<Function> {
        let name = format!("{PART_CHUNK_NAME}{}", self.name);
        let bytecode = match self.bytecode.get() {
            Some(bytecode) => bytecode,
            None => {
                let text = lua.load(self.source).set_name(name.as_str()).set_mode(ChunkMode::Text);
                let whole = text.into_function()?.dump(false);
                self.bytecode.get_or_init(|| without_local_names(&whole).unwrap_or(whole))
            }
        };
        // The first VM of a process too: all VMs are to hold and say the same.
        lua.load(bytecode.as_slice()).set_name(name).set_mode(ChunkMode::Binary).into_function()
    }
}
