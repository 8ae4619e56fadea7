//! The data of the analysis: objects, frames, places and repetition counts.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::program::{FunctionId, Operator, VarId};

pub(super) type Node = u32;
pub(super) type ObjectId = u32;
pub(super) type FrameId = u32;
pub(super) type RuleId = u32;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ObjectKind {
    /// A table the plan makes, by number, or one made for the rule of a call.
    Table(RuleId, u32),
    /// What a library function makes.
    Derived(RuleId),
    Closure(FunctionId, FrameId),
    Coroutine(RuleId),
    Tool(Rc<str>),
    Builtin(Rc<str>),
    Library(Rc<str>),
    Globals,
    /// A place in the context.
    Context(Rc<[Rc<str>]>),
    /// The results of the calls of a site.
    Result(u32),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Int(i64),
    Text(Rc<str>),
}

#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) fields: BTreeMap<Key, Node>,
    /// Written under numbers that are not known.
    pub(super) items: Node,
    /// Written under keys that are not known.
    pub(super) unknown: Node,
    /// The keys that entries under unknown keys may have.
    pub(super) keys: Node,
    pub(super) metatable: Node,
    /// Always empty; its readers run again for new fields.
    pub(super) shape: Node,
    /// Whether its number of items is that of the constructor.
    pub(super) fixed: bool,
}

/// One function as called from one place, or from all.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) outer: Option<FrameId>,
    pub(super) caller: Option<FrameId>,
    pub(super) depth: u32,
    pub(super) variables: HashMap<VarId, Node>,
    pub(super) varargs: Node,
    pub(super) control: Node,
    /// What may have ended the run before it was called, and by its end.
    pub(super) stop_in: Node,
    pub(super) stop_out: Node,
    /// What may have ended the run before the protected call it is in.
    pub(super) stop_before: Node,
    /// Unknown where an error in it does not end the run.
    pub(super) guarded: Node,
    /// Unknown where the protected call it is in is inside another one.
    pub(super) guarded_twice: Node,
    /// Unknown where it runs beside other branches of `parallel`.
    pub(super) beside: Node,
    pub(super) results: [Node; 4],
    pub(super) more_results: Node,
}

/// Where a rule stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) frame: FrameId,
    /// What decides whether it is reached.
    pub(super) control: Node,
    /// What may end the run here or before.
    pub(super) stop: Node,
    /// The innermost loop, an index into [`Solver::loops`].
    pub(super) loops: u32,
}

/// How often something is repeated.
#[derive(Debug, Clone)]
pub(super) enum Factor {
    /// Not counted here.
    Never,
    Once,
    Unbounded,
    Numeric([Node; 3]),
    /// Once for each item of a table.
    Items(Node),
    /// A generic `for` over an iterator and its state.
    Iterated(Node, Node),
    /// `retry`.
    Attempts(Node),
    /// `step`: one attempt, and so many retries.
    Retries(Node),
}

#[derive(Debug)]
pub(super) enum Source {
    Anything,
    Context(Rc<[Rc<str>]>),
    Call(u32),
}

pub(super) struct Link {
    pub(super) from: FrameId,
    pub(super) loops: u32,
    pub(super) factor: Factor,
    pub(super) to: FrameId,
}

pub(super) struct Use {
    pub(super) from: FrameId,
    pub(super) loops: u32,
    pub(super) factor: Factor,
    pub(super) site: u32,
}

/// What reads some cells and adds to others.
#[derive(Debug)]
pub(super) enum Rule {
    /// The whole cell.
    Flow {
        from: Node,
        to: Node,
    },
    /// What the plain value depends on.
    Taint {
        from: Node,
        to: Node,
    },
    /// An assignment to a variable: whether it happens matters too.
    Write {
        value: Node,
        to: Node,
        at: At,
    },
    Index {
        base: Node,
        key: Node,
        to: Node,
        at: At,
    },
    Store {
        base: Node,
        key: Node,
        value: Node,
        at: At,
    },
    Operation {
        operator: Operator,
        operands: Vec<Node>,
        to: Node,
        at: At,
    },
    /// `and`, `or`.
    Choose {
        first: Node,
        second: Node,
        keeps_true: bool,
        to: Node,
    },
    /// The variable of a numeric `for`.
    Counter {
        limits: [Node; 3],
        to: Node,
        at: At,
    },
    /// The variables of a generic `for`; `decides` is the control of its body.
    Iterate {
        iterator: Node,
        state: Node,
        first: Node,
        results: Vec<Node>,
        decides: Node,
        before: Node,
        at: At,
    },
    /// A to-be-closed variable.
    Close {
        value: Node,
        at: At,
    },
    Call {
        place: u32,
        callee: Node,
        arguments: Vec<Node>,
        rest: Option<Node>,
        results: Vec<Node>,
        more: Option<Node>,
        before: Node,
        at: At,
    },
}

/// A call as the caller sees it.
#[derive(Clone)]
pub(super) struct Want {
    /// Which call of the source it is; `u32::MAX` for calls that Lua makes itself.
    pub(super) place: u32,
    pub(super) fixed: Vec<Node>,
    pub(super) rest: Option<Node>,
    pub(super) results: Vec<Node>,
    pub(super) more: Option<Node>,
    /// What may have ended the run before the call; its own part goes to `at.stop`.
    pub(super) before: Node,
    pub(super) at: At,
    pub(super) factor: Factor,
    /// For a protected call: what may have ended the run before it.
    pub(super) guard: Option<Node>,
    /// Whether it runs as a branch of `parallel`.
    pub(super) beside: bool,
    /// Tells the helpers of one rule apart.
    pub(super) tag: u32,
}

impl Want {
    /// A call that Lua makes itself, once, without arguments or results.
    pub(super) const fn once(at: At, before: Node) -> Self {
        Self {
            place: u32::MAX,
            fixed: Vec::new(),
            rest: None,
            results: Vec::new(),
            more: None,
            before,
            at,
            factor: Factor::Once,
            guard: None,
            beside: false,
            tag: 1,
        }
    }

    /// The argument at a place, from 0.
    pub(super) fn argument(&self, place: usize) -> Option<Node> {
        self.fixed.get(place).copied().or(self.rest)
    }

    /// The same without the first arguments.
    pub(super) fn skip(&self, count: usize) -> (Vec<Node>, Option<Node>) {
        (self.fixed.iter().skip(count).copied().collect(), self.rest)
    }

    pub(super) fn part(&self, part: u32) -> u32 {
        self.tag.wrapping_mul(37).wrapping_add(part)
    }
}

/// What reaches the calls of one tool from one place of the source.
#[derive(Debug)]
pub(super) struct SiteCells {
    pub(super) place: u32,
    pub(super) tool: Rc<str>,
    pub(super) parameters: BTreeMap<Rc<str>, Node>,
    pub(super) control: Node,
    pub(super) stops: Node,
}
