//! The Lua texts of our own, in the words of piccolo, and how any chunk is loaded.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use piccolo::compiler::LineNumber;
use piccolo::{
    Closure, Context, Executor, Function, FunctionPrototype, PrototypeError, StashedFunction, Variadic,
};

use super::rewrite::{self, Refusal};
use super::vm::{Engine, broken};
use crate::base::{Error, ErrorCode, Result};
use crate::sandbox::part::LuaPart;

/// A part as a function of that VM.
///
/// # Errors
/// `internal` where it is not Lua that piccolo runs, which a test rules out.
pub(super) fn load(part: &'static LuaPart, engine: &mut Engine) -> Result<StashedFunction> {
    let mut known = REWRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let rewritten = match known.get(part.name) {
        Some(rewritten) => *rewritten,
        None => {
            let rewritten = rewrite::rewrite(part.source)
                .map_err(|refusal| Error::new(ErrorCode::Internal, format!("{}: {refusal:?}", part.name)))?;
            *known.entry(part.name).or_insert(rewritten.leak())
        }
    };
    drop(known);
    engine.load(&format!("luaplan:{}", part.name), rewritten)
}

/// Our parts in the words of piccolo, by name: made once per process.
static REWRITTEN: Mutex<BTreeMap<&str, &str>> = Mutex::new(BTreeMap::new());

/// Why a plan cannot run on this engine.
pub(super) fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Syntax(fault) => at(ErrorCode::PlanSyntax, fault.line, &fault.message),
        Refusal::Unsupported(line, what) => {
            at(ErrorCode::EngineUnsupported, line, &format!("{what} cannot be used on the engine `piccolo`"))
        }
    }
}

fn at(code: ErrorCode, line: u32, message: &str) -> Error {
    Error::new(code, format!("line {line}: {message}")).with_detail("line", line)
}

/// What piccolo's own compiler refuses although it is Lua.
fn too_much(error: &PrototypeError) -> Error {
    let (LineNumber(line), reason) = match error {
        PrototypeError::Parser(error) => (error.line_number, error.kind.to_string()),
        PrototypeError::Compiler(error) => (error.line_number, error.kind.to_string()),
    };
    let line = u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1);
    at(ErrorCode::EngineUnsupported, line, &format!("the engine `piccolo` cannot compile this: {reason}"))
}

impl Engine {
    /// Compiles a rewritten source and gives it as a function.
    ///
    /// # Errors
    /// `engine_unsupported` where the compiler's own limits are reached.
    pub(super) fn load(&mut self, name: &str, rewritten: &str) -> Result<StashedFunction> {
        let helpers = self.helpers.clone();
        let closure =
            self.lua.enter(|ctx| compile(ctx, name, rewritten).map(|closure| ctx.stash(closure)))?;
        self.run(
            |ctx| {
                let helpers = ctx.fetch(&helpers);
                let count = helpers.length();
                let helpers: Vec<_> = (1..=count).map(|place| helpers.get(ctx, place)).collect();
                Executor::start(ctx, Function::Closure(ctx.fetch(&closure)), Variadic(helpers))
            },
            |ctx, values| match values.first() {
                Some(piccolo::Value::Function(function)) => Ok(ctx.stash(*function)),
                _ => Err(broken("a chunk gave no function")),
            },
        )
    }
}

fn compile<'gc>(ctx: Context<'gc>, name: &str, rewritten: &str) -> Result<Closure<'gc>> {
    let prototype =
        FunctionPrototype::compile(ctx, name, rewritten.as_bytes()).map_err(|error| too_much(&error))?;
    Closure::new(&ctx, prototype, Some(ctx.globals()))
        .map_err(|error| broken("a chunk has more than its environment").with_source(error))
}
