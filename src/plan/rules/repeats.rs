//! Repetition without a loop around it: jumps back, functions called from a loop, functions that call
//! themselves.

use emmylua_parser::{
    LuaAssignStat, LuaAstNode, LuaBlock, LuaCallExpr, LuaChunk, LuaClosureExpr, LuaExpr, LuaFuncStat,
    LuaGotoStat, LuaIfStat, LuaLabelStat, LuaLocalFuncStat, LuaLocalStat, LuaSyntaxNode,
};

use super::loops::{Loop, LoopBound, counted_in};

/// The functions of a plan that have names, and where they are called.
pub(super) struct Repeats {
    functions: Vec<Named>,
    uses: Vec<Use>,
}

struct Named {
    name: String,
    body: LuaSyntaxNode,
}

/// A place that calls a named function, or passes it on to be called.
struct Use {
    /// Which of the functions.
    function: usize,
    node: LuaSyntaxNode,
}

impl Repeats {
    pub(super) fn of(chunk: &LuaChunk) -> Self {
        let functions = named(chunk);
        let mut uses = Vec::new();
        for call in chunk.descendants::<LuaCallExpr>() {
            let given = call.get_args_list().into_iter().flat_map(|list| list.get_args());
            for used in call.get_prefix_expr().into_iter().chain(given) {
                if !matches!(used, LuaExpr::NameExpr(_) | LuaExpr::IndexExpr(_)) {
                    continue;
                }
                let name = used.get_text().replace(':', ".");
                let meant = functions.iter().enumerate().filter(|(_, function)| function.name == name);
                uses.extend(meant.map(|(function, _)| Use { function, node: call.syntax().clone() }));
            }
        }
        Self { functions, uses }
    }

    /// Why `node` is repeated, in words that follow "is called".
    pub(super) fn how(&self, node: &LuaSyntaxNode) -> Option<String> {
        if let Some(how) = self.around(node) {
            return Some(how);
        }
        let own = self.function_around(node)?;
        let name = &self.functions.get(own)?.name;
        let (mut seen, mut open) = (vec![own], vec![own]);
        while let Some(function) = open.pop() {
            for used in self.uses.iter().filter(|used| used.function == function) {
                if self.around(&used.node).is_some() || has_unbounded_loop(&used.node) {
                    return Some(format!("in `{name}`, which a loop without a bound of its own calls"));
                }
                let Some(caller) = self.function_around(&used.node) else { continue };
                if caller == own {
                    return Some(format!("in `{name}`, which calls itself"));
                }
                if !seen.contains(&caller) {
                    seen.push(caller);
                    open.push(caller);
                }
            }
        }
        None
    }

    /// Jumps back over `node`, and loops around the functions without a name that it stands in.
    fn around(&self, node: &LuaSyntaxNode) -> Option<String> {
        let mut inside = node.clone();
        loop {
            if jumps_back_over(&inside) {
                return Some("between a label and a `goto` back to it".to_owned());
            }
            let closure =
                inside.ancestors().skip(1).find(|outer| LuaClosureExpr::can_cast(outer.kind().into()))?;
            if self.functions.iter().any(|function| function.body == closure) {
                return None;
            }
            if has_unbounded_loop(&closure) {
                return Some("in a function made in a loop without a bound of its own".to_owned());
            }
            inside = closure;
        }
    }

    /// The innermost function with a name around `node`.
    fn function_around(&self, node: &LuaSyntaxNode) -> Option<usize> {
        node.ancestors()
            .skip(1)
            .find_map(|outer| self.functions.iter().position(|function| function.body == outer))
    }
}

fn named(chunk: &LuaChunk) -> Vec<Named> {
    let mut functions = Vec::new();
    let mut add = |name: Option<String>, closure: Option<LuaClosureExpr>| {
        if let (Some(name), Some(closure)) = (name, closure) {
            functions.push(Named { name: name.replace(':', "."), body: closure.syntax().clone() });
        }
    };
    for statement in chunk.descendants::<LuaLocalFuncStat>() {
        let name = statement.get_local_name().and_then(|name| name.get_name_token());
        add(name.map(|name| name.get_name_text().to_owned()), statement.get_closure());
    }
    for statement in chunk.descendants::<LuaFuncStat>() {
        add(statement.get_func_name().map(|name| name.get_text()), statement.get_closure());
    }
    for statement in chunk.descendants::<LuaLocalStat>() {
        for value in statement.get_value_exprs() {
            if let LuaExpr::ClosureExpr(closure) = &value {
                let name =
                    statement.get_local_name_by_value(value.clone()).and_then(|name| name.get_name_token());
                add(name.map(|name| name.get_name_text().to_owned()), Some(closure.clone()));
            }
        }
    }
    for statement in chunk.descendants::<LuaAssignStat>() {
        let (targets, values) = statement.get_var_and_expr_list();
        for (target, value) in targets.into_iter().zip(values) {
            if let LuaExpr::ClosureExpr(closure) = value {
                add(Some(target.get_text()), Some(closure));
            }
        }
    }
    functions
}

fn has_unbounded_loop(node: &LuaSyntaxNode) -> bool {
    Loop::around(node).iter().any(|around| around.bound() != LoopBound::Counted)
}

/// Whether a `goto` behind `node` goes to a label before it, other than counted turns.
fn jumps_back_over(node: &LuaSyntaxNode) -> bool {
    let place = node.text_range().start();
    let blocks = node
        .ancestors()
        .skip(1)
        .take_while(|outer| !LuaClosureExpr::can_cast(outer.kind().into()))
        .filter_map(LuaBlock::cast);
    for block in blocks {
        for label in block.children::<LuaLabelStat>() {
            let Some(name) = label.get_label_name_token().map(|name| name.get_name_text().to_owned()) else {
                continue;
            };
            if label.get_position() > place {
                continue;
            }
            let goes_back = |jump: &LuaGotoStat| {
                jump.get_position() > place
                    && jump.get_label_name_token().is_some_and(|target| target.get_name_text() == name)
            };
            if block.descendants::<LuaGotoStat>().filter(goes_back).any(|jump| !is_counted(&jump, &block)) {
                return true;
            }
        }
    }
    false
}

fn is_counted(jump: &LuaGotoStat, block: &LuaBlock) -> bool {
    let conditions = jump.ancestors::<LuaIfStat>().filter_map(|condition| condition.get_condition_expr());
    conditions.take(1).any(|condition| counted_in(block, &condition))
}
