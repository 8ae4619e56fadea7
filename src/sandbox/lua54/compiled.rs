//! Chunks of plans, compiled once per process.
//!
//! A plan that runs often is compiled on its first two runs and loaded on later ones. The cache holds
//! only this process's own bytecode, made from text; bytecode never comes from outside.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua};

/// How many plans are remembered, and how many bytes of bytecode are kept. Beyond either, all are
/// forgotten.
const PLANS_MAX: usize = 512;
const KEPT_BYTES_MAX: usize = 8 << 20;

/// Of one text under one name.
type Key = [u8; 32];

#[derive(Default)]
struct BytecodeCache {
    /// `None` for a plan that was seen once.
    plans: HashMap<Key, Option<Arc<[u8]>>>,
    bytes: usize,
}

static KEPT: LazyLock<Mutex<BytecodeCache>> = LazyLock::new(Mutex::default);

/// The plan's chunk as a function of that VM.
///
/// # Errors
/// If the text is not Lua, or memory is used up.
pub(super) fn load(lua: &Lua, source: &str, name: &str) -> mlua::Result<Function> {
    let key = key(source, name);
    let mut known = KEPT.lock().unwrap_or_else(PoisonError::into_inner).plans.get(&key).cloned();
    let chunk_name = format!("={name}");
    if let Some(Some(bytecode)) = known.take_if(|known| known.is_some()) {
        return lua.load(&*bytecode).set_name(chunk_name).set_mode(ChunkMode::Binary).into_function();
    }
    let function = lua.load(source).set_name(chunk_name).set_mode(ChunkMode::Text).into_function()?;
    let bytecode = known.is_some().then(|| Arc::<[u8]>::from(function.dump(false)));
    keep(key, bytecode);
    Ok(function)
}

fn keep(key: Key, bytecode: Option<Arc<[u8]>>) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = bytecode.as_ref().map_or(0, |bytecode| bytecode.len());
    if kept.plans.len() >= PLANS_MAX || kept.bytes + bytes > KEPT_BYTES_MAX {
        *kept = BytecodeCache::default();
    }
    if bytes <= KEPT_BYTES_MAX && !matches!(kept.plans.get(&key), Some(Some(_))) {
        kept.bytes += bytes;
        kept.plans.insert(key, bytecode);
    }
}

fn key(source: &str, name: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    hasher.update(source.as_bytes());
    *hasher.finalize().as_bytes()
}
