//! A bound on the cost of type inference, computed from the plan alone.
//!
//! The analysis library follows a variable back through every branch that leads to where it is read. Each place that
//! assigns a variable a part of itself (`t = t.a`) doubles the paths, and a dozen such lines take longer than anything
//! else a plan can hold. The bound counts these places; a plan with too many is checked by its names and literals
//! alone. So is a plan whose variables are read and written in so many places that their product is large.
//! Nothing here depends on a clock, so that the same plan gets the same findings in every process.

use std::collections::{HashMap, HashSet};

use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaChunk, LuaExpr, LuaForRangeStat, LuaIndexExpr,
    LuaLocalStat, LuaNameExpr, LuaSyntaxKind, LuaVarExpr,
};

/// The most places that assign variables parts of themselves. With this number a plan takes less than a second.
const RELINKS_MAX: usize = 8;
/// Reads times branches and assignments: the cost of inference grows with it.
const PRODUCT_MAX: u64 = 10_000_000;

/// Why the types of a plan are not inferred.
pub(super) fn too_costly(chunk: &LuaChunk) -> Option<String> {
    let relinks = relinks(chunk);
    if relinks > RELINKS_MAX {
        return Some(format!(
            "variables are given parts of themselves in {relinks} places (as in `t = t.next`), and at most {RELINKS_MAX} are followed"
        ));
    }
    let reads = chunk.descendants::<LuaNameExpr>().count() as u64;
    let product = reads.saturating_mul(turns(chunk));
    (product > PRODUCT_MAX)
        .then(|| "the plan reads its variables behind too many branches and assignments".to_owned())
}

/// Branches, loops, assignments and calls: the places that the inference walks over.
fn turns(chunk: &LuaChunk) -> u64 {
    use LuaSyntaxKind as K;
    let nodes = chunk.syntax().descendants();
    let kinds = nodes.filter(|node| {
        matches!(
            K::from(node.kind()),
            K::AssignStat
                | K::LocalStat
                | K::IfStat
                | K::ElseIfClauseStat
                | K::WhileStat
                | K::ForStat
                | K::ForRangeStat
                | K::RepeatStat
                | K::CallExpr
        )
    });
    kinds.count() as u64
}

/// A variable that an expression passes on, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    name: String,
    is_part: bool,
}

/// The number of assignments that give a variable a part of its own value, directly or through other variables.
fn relinks(chunk: &LuaChunk) -> usize {
    let mut graph: HashMap<String, HashSet<String>> = HashMap::new();
    let mut links: Vec<(String, Vec<Source>)> = Vec::new();
    let mut add = |name: &str, sources: &[Source]| {
        let known = graph.entry(name.to_owned()).or_default();
        known.extend(sources.iter().map(|source| source.name.clone()));
    };
    for assignment in chunk.descendants::<LuaAssignStat>() {
        let (targets, values) = assignment.get_var_and_expr_list();
        for (place, target) in targets.iter().enumerate() {
            let sources = values.get(place).or(values.last()).map(sources).unwrap_or_default();
            match target {
                LuaVarExpr::NameExpr(name) => {
                    let Some(name) = name.get_name_text() else { continue };
                    add(&name, &sources);
                    links.push((name, sources));
                }
                // A field written is a part of its table.
                LuaVarExpr::IndexExpr(index) => {
                    if let Some(root) = root_of(index) {
                        add(&root, &sources);
                    }
                }
            }
        }
    }
    for local in chunk.descendants::<LuaLocalStat>() {
        let values: Vec<LuaExpr> = local.get_value_exprs().collect();
        for (place, name) in local.get_local_name_list().enumerate() {
            let Some(token) = name.get_name_token() else { continue };
            let sources = values.get(place).or(values.last()).map(sources).unwrap_or_default();
            add(token.get_name_text(), &sources);
        }
    }
    for each in chunk.descendants::<LuaForRangeStat>() {
        let iterators: Vec<LuaExpr> = each.get_expr_list().collect();
        let arguments = iterators.iter().filter_map(|iterator| match iterator {
            LuaExpr::CallExpr(call) => call.get_args_list(),
            _ => None,
        });
        let sources: Vec<Source> =
            arguments.flat_map(|list| list.get_args()).flat_map(|argument| sources(&argument)).collect();
        for name in each.get_var_name_list() {
            add(name.get_name_text(), &sources);
        }
    }
    let leads_to = |target: &str, source: &str| {
        let (mut seen, mut open) = (HashSet::new(), vec![source]);
        while let Some(name) = open.pop() {
            if name == target {
                return true;
            }
            if seen.insert(name) {
                open.extend(graph.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        false
    };
    let is_relink = |(target, sources): &&(String, Vec<Source>)| {
        let mut sources = sources.iter().filter(|source| source.is_part || source.name != *target);
        sources.any(|source| leads_to(target, &source.name))
    };
    links.iter().filter(is_relink).count()
}

/// The variable at the root of `a.b.c`.
fn root_of(index: &LuaIndexExpr) -> Option<String> {
    let mut at = index.get_prefix_expr()?;
    loop {
        match at {
            LuaExpr::NameExpr(name) => return name.get_name_text(),
            LuaExpr::IndexExpr(index) => at = index.get_prefix_expr()?,
            LuaExpr::CallExpr(call) => at = call.get_prefix_expr()?,
            LuaExpr::ParenExpr(inner) => at = inner.get_expr()?,
            _ => return None,
        }
    }
}

/// The variables that an expression may pass on, whole or in part.
fn sources(value: &LuaExpr) -> Vec<Source> {
    match value {
        LuaExpr::NameExpr(name) => {
            name.get_name_text().map(|name| Source { name, is_part: false }).into_iter().collect()
        }
        LuaExpr::IndexExpr(index) => {
            root_of(index).map(|name| Source { name, is_part: true }).into_iter().collect()
        }
        LuaExpr::ParenExpr(inner) => inner.get_expr().map(|inner| sources(&inner)).unwrap_or_default(),
        LuaExpr::BinaryExpr(operation) => {
            let operator = operation.get_op_token().map(|token| token.get_op());
            if !matches!(operator, Some(BinaryOperator::OpAnd | BinaryOperator::OpOr)) {
                return Vec::new();
            }
            operation.children::<LuaExpr>().flat_map(|operand| sources(&operand)).collect()
        }
        _ => Vec::new(),
    }
}
