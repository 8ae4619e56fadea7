//! `_ENV`, the one name through which a source can swap all its globals.

use emmylua_parser::{LuaKind, LuaSyntaxKind, LuaSyntaxNode, LuaTokenKind};

/// Where a source declares an `_ENV` of its own or assigns another to it, by its offset.
#[must_use]
pub fn swapped_environment(tree: &LuaSyntaxNode) -> Option<usize> {
    tree.descendants_with_tokens().find_map(|part| {
        let token = part.into_token().filter(|token| token.text() == "_ENV")?;
        let holder = token.parent()?;
        let place = usize::from(token.text_range().start());
        match LuaSyntaxKind::from(holder.kind()) {
            LuaSyntaxKind::LocalName
            | LuaSyntaxKind::LocalFuncStat
            | LuaSyntaxKind::ParamName
            | LuaSyntaxKind::ForStat
            | LuaSyntaxKind::ForRangeStat => Some(place),
            LuaSyntaxKind::NameExpr => is_target(&holder).then_some(place),
            _ => None,
        }
    })
}

/// Whether a statement assigns to the name at this place.
fn is_target(name: &LuaSyntaxNode) -> bool {
    let Some(statement) = name.parent() else { return false };
    match LuaSyntaxKind::from(statement.kind()) {
        LuaSyntaxKind::FuncStat => true,
        LuaSyntaxKind::AssignStat => statement
            .children_with_tokens()
            .find(|part| part.kind() == LuaKind::Token(LuaTokenKind::TkAssign))
            .is_some_and(|assign| name.text_range().end() <= assign.text_range().start()),
        _ => false,
    }
}
