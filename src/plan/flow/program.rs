//! A plan as the analysis reads it: names resolved to variables, sugar gone, no syntax nodes.

use std::rc::Rc;

/// A variable; every declaration has its own.
pub(super) type VarId = u32;
/// A function of the source; 0 is the chunk.
pub(super) type FunctionId = u32;

/// A value written in the source.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    /// A string whose bytes the analysis does not follow.
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Sub,
    Mul,
    /// Other arithmetic.
    Number,
    Concat,
    /// Less or greater.
    Compare,
    /// Equal or not.
    Equal,
    Negate,
    Length,
    Not,
}

#[derive(Debug)]
pub(super) enum Expr {
    Literal(Literal),
    Varargs,
    Function(FunctionId),
    Var(VarId),
    Global(Rc<str>),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Call>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Operation(Operator, Vec<Expr>),
    Table(Box<Table>),
    /// An expression in brackets: exactly one value.
    One(Box<Expr>),
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) items: Vec<Expr>,
    pub(super) fields: Vec<(Expr, Expr)>,
}

#[derive(Debug)]
pub(super) struct Call {
    /// Which call of the source it is, counted from 0.
    pub(super) place: u32,
    pub(super) callee: Expr,
    pub(super) method: Option<Rc<str>>,
    pub(super) arguments: Vec<Expr>,
}

#[derive(Debug)]
pub(super) enum AssignTarget {
    Var(VarId),
    Global(Rc<str>),
    Index(Expr, Expr),
}

pub(super) type Block = Vec<Stat>;

#[derive(Debug)]
pub(super) enum Stat {
    Local { variables: Vec<VarId>, values: Vec<Expr>, closes: bool },
    Assign { targets: Vec<AssignTarget>, values: Vec<Expr> },
    LocalFunction(VarId, FunctionId),
    Call(Expr),
    Do(Block),
    If { arms: Vec<(Expr, Block)>, otherwise: Option<Block> },
    While { condition: Expr, body: Block },
    Repeat { body: Block, condition: Expr },
    NumericFor { variable: VarId, limits: Vec<Expr>, body: Block },
    GenericFor { variables: Vec<VarId>, values: Vec<Expr>, body: Block },
    Return(Vec<Expr>),
    Break,
    Goto(Rc<str>),
    Label(Rc<str>),
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) parameters: Vec<VarId>,
    pub(super) body: Block,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallPlace {
    pub(super) line: u32,
    pub(super) span: (usize, usize),
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) functions: Vec<Function>,
    /// The function each variable belongs to.
    pub(super) owners: Vec<FunctionId>,
    pub(super) calls: Vec<CallPlace>,
    /// Whether names may not resolve as written: the plan declares or assigns `_ENV`.
    pub(super) unreadable: bool,
}
