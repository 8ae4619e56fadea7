//! Bounds how deep the parser and every walk over its tree can go, before any of them runs.
//!
//! The parser calls itself for each level, even through faulty source, and dropping a tree is as
//! deep as the tree; too deep a source would overflow the stack and take the process with it.

use emmylua_parser::LuaTokenKind as Kind;

use super::tokens::{SourceFault, Token};

/// Blocks and brackets inside one another. Stock Lua stops near 200.
const NESTING_MAX: usize = 120;
/// Pieces joined by `..`, `^` or signs in one expression. Stock Lua stops near 200.
const JOINED_MAX: usize = 180;
/// Levels of the syntax tree.
const DEPTH_MAX: usize = 800;

struct Level {
    opener: Kind,
    awaits_do: bool,
    /// Levels of the expression being read.
    chain: usize,
    /// Its pieces that nest to the right.
    joined: usize,
    /// The most levels of any expression before it.
    deepest: usize,
}

impl Level {
    fn new(opener: Kind) -> Self {
        let awaits_do = matches!(opener, Kind::TkFor | Kind::TkWhile);
        Self { opener, awaits_do, chain: 0, joined: 0, deepest: 0 }
    }

    fn end_expression(&mut self) {
        self.deepest = self.deepest.max(self.chain);
        self.chain = 0;
        self.joined = 0;
    }

    /// Only a fitting closer closes: the parser stays inside what a wrong one does not end.
    fn closes_with(&self, closer: Kind) -> bool {
        match self.opener {
            Kind::TkLeftParen => closer == Kind::TkRightParen,
            Kind::TkLeftBrace => closer == Kind::TkRightBrace,
            Kind::TkLeftBracket => closer == Kind::TkRightBracket,
            Kind::TkRepeat => closer == Kind::TkUntil,
            Kind::None => false,
            _ => closer == Kind::TkEnd,
        }
    }
}

/// The place where `tokens` get too deep to be parsed, if they do.
pub(super) fn too_deep(tokens: &[Token]) -> Option<SourceFault> {
    let mut levels = vec![Level::new(Kind::None)];
    let mut before = Kind::None;
    for token in tokens {
        if let Some(fault) = enter(&mut levels, token, before) {
            return Some(fault);
        }
        before = token.kind;
    }
    None
}

fn enter(levels: &mut Vec<Level>, token: &Token, before: Kind) -> Option<SourceFault> {
    let after_operand = ends_operand(before);
    let nesting = levels.len();
    let top = levels.last_mut()?;
    match token.kind {
        Kind::TkLeftParen | Kind::TkLeftBrace | Kind::TkLeftBracket => {
            top.chain += usize::from(after_operand);
            levels.push(Level::new(token.kind));
        }
        Kind::TkFunction | Kind::TkRepeat | Kind::TkIf | Kind::TkFor | Kind::TkWhile => {
            levels.push(Level::new(token.kind));
        }
        Kind::TkDo if top.awaits_do => {
            top.awaits_do = false;
            top.end_expression();
        }
        Kind::TkDo => levels.push(Level::new(token.kind)),
        Kind::TkEnd | Kind::TkUntil | Kind::TkRightParen | Kind::TkRightBrace | Kind::TkRightBracket => {
            if top.closes_with(token.kind) {
                top.end_expression();
                let inner = top.deepest + 1;
                levels.pop();
                let outer = levels.last_mut()?;
                // What follows an operator that nests to the right lies below the chain so far.
                let below = if outer.joined > 0 { outer.chain } else { 0 };
                outer.chain = outer.chain.max(below + inner);
            }
        }
        Kind::TkConcat | Kind::TkPow | Kind::TkNot | Kind::TkLen => {
            top.chain += 1;
            top.joined += 1;
        }
        Kind::TkMinus | Kind::TkBitXor => {
            top.chain += 1;
            top.joined += usize::from(!after_operand);
        }
        Kind::TkDot | Kind::TkColon | Kind::TkString | Kind::TkLongString => {
            top.chain += usize::from(after_operand);
        }
        Kind::TkName
        | Kind::TkInt
        | Kind::TkFloat
        | Kind::TkNil
        | Kind::TkTrue
        | Kind::TkFalse
        | Kind::TkDots => {
            if after_operand {
                top.end_expression();
            }
        }
        kind if is_left_operator(kind) => top.chain += 1,
        _ => top.end_expression(),
    }
    let joined = levels.last()?.joined;
    let depth: usize = levels.iter().map(|level| level.chain.max(level.deepest) + 1).sum();
    describe(token, nesting, joined, depth)
}

fn describe(token: &Token, nesting: usize, joined: usize, depth: usize) -> Option<SourceFault> {
    let (message, help) = if nesting > NESTING_MAX {
        (
            format!("blocks and brackets are nested more than {NESTING_MAX} deep here"),
            "put inner parts into functions or local variables of their own",
        )
    } else if joined > JOINED_MAX {
        (
            format!("more than {JOINED_MAX} pieces are joined in one expression"),
            "collect the pieces in a table and use `table.concat`",
        )
    } else if depth > DEPTH_MAX {
        (
            format!("this expression has more than {DEPTH_MAX} operators, calls and indexes in a row"),
            "split it over several statements",
        )
    } else {
        return None;
    };
    Some(SourceFault::new(token.span, message, help))
}

fn ends_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TkName
            | Kind::TkInt
            | Kind::TkFloat
            | Kind::TkNil
            | Kind::TkTrue
            | Kind::TkFalse
            | Kind::TkDots
            | Kind::TkString
            | Kind::TkLongString
            | Kind::TkRightParen
            | Kind::TkRightBrace
            | Kind::TkRightBracket
            | Kind::TkEnd
    )
}

fn is_left_operator(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TkPlus
            | Kind::TkMul
            | Kind::TkDiv
            | Kind::TkIDiv
            | Kind::TkMod
            | Kind::TkBitAnd
            | Kind::TkBitOr
            | Kind::TkShl
            | Kind::TkShr
            | Kind::TkEq
            | Kind::TkNe
            | Kind::TkLt
            | Kind::TkLe
            | Kind::TkGt
            | Kind::TkGe
            | Kind::TkAnd
            | Kind::TkOr
    )
}
