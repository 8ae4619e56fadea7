//! The shapes of results that runs of a tenant saw, kept beside what was accepted of MCP servers.
//!
//! What runs of one tenant saw is shown to that tenant alone. It is advice: a file that cannot be read or written costs
//! nothing but that.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use luaplan_base::{ContentHash, Value};
use luaplan_bus::LOCAL_TENANT;
use luaplan_catalog::regular_file::read_text;
use luaplan_catalog::{Catalog, SeenShape, ToolSpec};
use luaplan_journal::create_private_folder;

use crate::config::Config;

const VERSION: u32 = 1;
/// The tools of which one tenant keeps a shape.
const TOOLS_MAX: usize = 500;

/// What each tenant saw. Read when it is first needed, and cheap to share.
#[derive(Clone)]
pub(crate) struct SeenResults(Arc<Kept>);

struct Kept {
    folder: PathBuf,
    learns: bool,
    tenants: Mutex<HashMap<String, SeenByTenant>>,
}

#[derive(Default)]
struct SeenByTenant {
    tools: BTreeMap<String, SeenTool>,
    /// The tools whose shape is not on the disk yet.
    changed: BTreeSet<String>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenTool {
    /// Of the tool that returned it: another tool of the same name begins anew.
    definition: ContentHash,
    shape: SeenShape,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenFile {
    version: u32,
    tenant: String,
    tools: BTreeMap<String, SeenTool>,
}

impl SeenResults {
    pub(crate) fn new(config: &Config) -> Self {
        let folder = config.data_dir.join("seen");
        Self(Arc::new(Kept { folder, learns: config.learn_shapes, tenants: Mutex::default() }))
    }

    /// Whether results of `tool` teach anything.
    pub(crate) fn learns(&self, tool: &ToolSpec) -> bool {
        self.0.learns && tool.learns_result()
    }

    /// Widens what runs of `tenant` saw of a tool. `result` holds no secret.
    pub(crate) fn learn(&self, tenant: &str, tool: &ToolSpec, result: &Value) {
        let mut tenants = self.tenants();
        let seen = of_tenant(&mut tenants, &self.0.folder, tenant);
        let definition = tool.definition_hash();
        if seen.tools.get(&tool.name).is_some_and(|known| known.definition != definition) {
            seen.tools.remove(&tool.name);
        }
        if seen.tools.len() >= TOOLS_MAX && !seen.tools.contains_key(&tool.name) {
            return;
        }
        let known = seen
            .tools
            .entry(tool.name.clone())
            .or_insert_with(|| SeenTool { definition, shape: SeenShape::default() });
        if known.shape.learn(tool, result) {
            seen.changed.insert(tool.name.clone());
        }
    }

    /// The tools with what runs of `tenant` saw of their results.
    pub(crate) fn shown(&self, catalog: &Arc<Catalog>, tenant: &str) -> Arc<Catalog> {
        let mut tenants = self.tenants();
        let seen = of_tenant(&mut tenants, &self.0.folder, tenant);
        let shown = catalog.iter().filter(|_| self.0.learns);
        let shown: Vec<ToolSpec> =
            shown.filter_map(|spec| with_seen(spec, seen.tools.get(&spec.name)?)).collect();
        if shown.is_empty() {
            return Arc::clone(catalog);
        }
        let mut all = Catalog::clone(catalog);
        shown.into_iter().for_each(|spec| all.insert(spec));
        Arc::new(all)
    }

    /// Writes what runs of `tenant` saw and is not on the disk yet.
    pub(crate) async fn save(&self, tenant: &str) {
        if self.tenants().get(tenant).is_none_or(|seen| seen.changed.is_empty()) {
            return;
        }
        let (own, tenant) = (self.clone(), tenant.to_owned());
        // Joined, so that a command does not end before the file is whole.
        let saved = tokio::task::spawn_blocking(move || own.write(&tenant)).await;
        if let Ok(Err(error)) = saved {
            let folder = self.0.folder.display();
            tracing::warn!(%error, "what was seen of results cannot be kept in {folder}");
        }
    }

    fn write(&self, tenant: &str) -> std::io::Result<()> {
        let path = path(&self.0.folder, tenant);
        // Under the lock, so that two runs of this process do not write over one another.
        let mut tenants = self.tenants();
        let Some(seen) = tenants.get_mut(tenant) else { return Ok(()) };
        // Another process may have learned of other tools.
        let mut tools = read(&path, tenant);
        for name in &std::mem::take(&mut seen.changed) {
            if let Some(known) = seen.tools.get(name) {
                tools.insert(name.clone(), known.clone());
            }
        }
        let file = SeenFile { version: VERSION, tenant: tenant.to_owned(), tools };
        let text = serde_json::to_string(&file)?;
        create_private_folder(&self.0.folder)?;
        let next = path.with_extension("next");
        std::fs::write(&next, text + "\n")?;
        std::fs::rename(&next, &path)
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<String, SeenByTenant>> {
        // A panic leaves a shape that is less wide than it might be.
        self.0.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `catalog` with what runs of the command line saw of results. Nothing is opened.
#[must_use]
pub fn with_seen_results(config: &Config, catalog: Catalog) -> Catalog {
    Arc::unwrap_or_clone(SeenResults::new(config).shown(&Arc::new(catalog), LOCAL_TENANT))
}

fn of_tenant<'t>(
    tenants: &'t mut HashMap<String, SeenByTenant>,
    folder: &Path,
    tenant: &str,
) -> &'t mut SeenByTenant {
    tenants.entry(tenant.to_owned()).or_insert_with(|| SeenByTenant {
        tools: read(&path(folder, tenant), tenant),
        changed: BTreeSet::new(),
    })
}

fn with_seen(spec: &ToolSpec, seen: &SeenTool) -> Option<ToolSpec> {
    let schema: Json = seen.shape.schema().filter(|_| spec.learns_result())?;
    (seen.definition == spec.definition_hash()).then(|| ToolSpec { seen: Some(schema), ..spec.clone() })
}

/// Of a hash, as the name of a tenant may hold anything.
fn path(folder: &Path, tenant: &str) -> PathBuf {
    folder.join(format!("{}.json", ContentHash::of(tenant.as_bytes()).as_str()))
}

fn read(path: &Path, tenant: &str) -> BTreeMap<String, SeenTool> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return BTreeMap::new(),
        Err(error) => {
            tracing::warn!(%error, "{} cannot be read, so it is begun anew", path.display());
            return BTreeMap::new();
        }
    };
    match serde_json::from_str::<SeenFile>(&text) {
        Ok(file) if file.version == VERSION && file.tenant == tenant => file.tools,
        _ => {
            tracing::warn!("{} holds no shapes of this version, so it is begun anew", path.display());
            BTreeMap::new()
        }
    }
}
