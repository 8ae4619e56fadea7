//! The analysis library with the sandbox's, the library's and the tools' declarations loaded.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use emmylua_code_analysis::{EmmyLuaAnalysis, Emmyrc, EmmyrcLuaVersion, FileId, LuaSignatureId};
use emmylua_parser::{LuaAstNode, LuaFuncStat};

use luaplan_catalog::{Catalog, stubs};

use super::super::declarations;
use super::kinds::Typed;
use super::masked::Masked;
use super::question::{Answer, Question};
use super::{arguments, fields, helpers, library, nils, operands, shapes};

/// The most catalogs whose declarations a thread keeps loaded.
const KEPT_MAX: usize = 4;
/// An analysis keeps something of every plan it saw; after so many bytes of plans a new one replaces it.
const SEEN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How often parameters are inferred from calls: that of a helper which another helper calls needs a second time.
const ROUNDS_MAX: usize = 3;

/// Bytes counted for a check besides its plan.
const CHECK_BYTES: usize = 256;

/// The analyses of one thread, the last used last.
#[derive(Default)]
pub(super) struct Analyses(Vec<Analysis>);

impl Analyses {
    pub(super) fn answer(&mut self, question: &Question) -> Answer {
        let known = self.0.iter().position(|analysis| analysis.fits(&question.catalog));
        let mut analysis = match known {
            Some(place) => self.0.remove(place),
            None => Analysis::new(&question.catalog),
        };
        let answer = analysis.answer(question);
        if analysis.seen_bytes < SEEN_BYTES_MAX {
            if self.0.len() == KEPT_MAX {
                self.0.remove(0);
            }
            self.0.push(analysis);
        }
        answer
    }
}

/// The analysis for one catalog. Each catalog has its own, so no plan sees another's tools.
pub(super) struct Analysis {
    inner: EmmyLuaAnalysis,
    catalog: Catalog,
    declarations: String,
    /// The tool each declared function stands for.
    tools: HashMap<LuaSignatureId, String>,
    context: Option<String>,
    /// The plan that was analysed last.
    plan: Option<(FileId, String)>,
    seen_bytes: usize,
}

impl Analysis {
    fn new(catalog: &Catalog) -> Self {
        let mut settings = Emmyrc::default();
        settings.runtime.version = EmmyrcLuaVersion::Lua54;
        let mut inner = EmmyLuaAnalysis::new();
        inner.update_config(Arc::new(settings));
        inner.add_main_workspace(PathBuf::from("/plan"));
        let declarations = stubs(catalog);
        for (name, text) in declarations::inferred() {
            inner.update_file_by_path(&path(name), Some(text.to_owned()));
        }
        let file = inner.update_file_by_path(&path("tools"), Some(format!("---@meta\n{declarations}")));
        let tools = file.map(|file| declared_tools(&inner, file)).unwrap_or_default();
        Self {
            inner,
            catalog: catalog.clone(),
            declarations,
            tools,
            context: None,
            plan: None,
            seen_bytes: 0,
        }
    }

    fn fits(&self, catalog: &Catalog) -> bool {
        let same = self.catalog.iter().count() == catalog.iter().count()
            && self.catalog.iter().zip(catalog.iter()).all(|(own, other)| Arc::ptr_eq(own, other));
        same || self.declarations == stubs(catalog)
    }

    fn answer(&mut self, question: &Question) -> Answer {
        let nothing = || Answer { findings: Vec::new(), shapes: Vec::new() };
        if self.context != question.context {
            let text = question.context.as_ref().map(|text| format!("---@meta\n{text}"));
            self.seen_bytes += text.as_ref().map_or(0, String::len);
            self.inner.update_file_by_path(&path("context"), text);
            self.context.clone_from(&question.context);
            // What is known of the plan was inferred with the context before.
            self.plan = None;
        }
        let mut masked = question.masked.clone();
        let mut declared = Vec::new();
        for _ in 0..ROUNDS_MAX {
            self.load(&masked);
            let found = self.typed(question, &masked).map(|typed| helpers::declarations(&typed));
            let Some(found) = found else { return nothing() };
            if found == declared {
                break;
            }
            masked = question.masked.with(found.iter().cloned());
            declared = found;
        }
        self.load(&masked);
        let Some(typed) = self.typed(question, &masked) else { return nothing() };
        let mut verdicts = arguments::judge(&typed);
        verdicts.extend(library::judge(&typed));
        verdicts.extend(fields::judge(&typed));
        verdicts.extend(nils::judge(&typed));
        verdicts.extend(operands::judge(&typed));
        Answer { findings: verdicts, shapes: shapes::of_arguments(&typed) }
    }

    /// Analyses the plan. The same text is not analysed twice in a row.
    fn load(&mut self, masked: &Masked) {
        if self.plan.as_ref().is_none_or(|(_, text)| *text != masked.text) {
            self.seen_bytes += masked.text.len() + CHECK_BYTES;
            let file = self.inner.update_file_by_path(&path("plan"), Some(masked.text.clone()));
            self.plan = file.map(|file| (file, masked.text.clone()));
        }
    }

    fn typed<'a>(&'a self, question: &'a Question, masked: &'a Masked) -> Option<Typed<'a>> {
        let (file, _) = self.plan.as_ref()?;
        let model = self.inner.compilation.get_semantic_model(*file)?;
        Some(Typed { model, tools: &self.tools, question, masked })
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("/plan/{name}.lua"))
}

fn declared_tools(analysis: &EmmyLuaAnalysis, file: FileId) -> HashMap<LuaSignatureId, String> {
    let Some(tree) = analysis.compilation.get_db().get_vfs().get_syntax_tree(&file) else {
        return HashMap::new();
    };
    let functions = tree.get_chunk_node();
    let functions = functions.descendants::<LuaFuncStat>();
    functions
        .filter_map(|function| {
            let name = function.get_func_name()?.get_text();
            Some((LuaSignatureId::from_closure(file, &function.get_closure()?), name))
        })
        .collect()
}
