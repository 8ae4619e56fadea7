//! Our own Lua texts, rewritten for piccolo, and the loading of any chunk.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use piccolo::compiler::LineNumber;
use piccolo::{
    Closure, Context, Executor, Function, FunctionPrototype, Lua, PrototypeError, StashedFunction, Variadic,
};

use luaplan_base::{Error, ErrorCode, Result};

use super::engine::{Engine, SOURCE_BYTES_MAX, broken};
use super::rewrite::{self, Refusal};
use crate::vm::lua_chunk::LuaPart;

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
            *known.entry(part.name).or_insert(rewritten.text.leak())
        }
    };
    drop(known);
    engine.load(&format!("luaplan:{}", part.name), rewritten)
}

/// Our parts rewritten for piccolo, by name: made once per process.
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

/// More than compiling ever takes.
const COMPILER_STACK_BYTES: usize = 16 << 20;

/// Checks before a plan starts that piccolo's compiler takes it.
///
/// # Errors
/// `engine_unsupported` with the line, and `plan_syntax` for what is not Lua.
pub fn compiles_on_piccolo(source: &str) -> Result<()> {
    if source.len() as u64 > SOURCE_BYTES_MAX {
        return Err(at(
            ErrorCode::EngineUnsupported,
            1,
            "a source above 48 KiB cannot be used on the engine `piccolo`",
        ));
    }
    let compiled = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(COMPILER_STACK_BYTES);
        let compiling = thread.spawn_scoped(scope, || {
            let rewritten = rewrite::rewrite_plan(source).map_err(refused)?;
            Lua::empty().enter(|ctx| compile(ctx, "plan", &rewritten.text).map(|_| ()))
        });
        compiling.map(std::thread::ScopedJoinHandle::join)
    });
    match compiled {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => {
            Err(Error::new(ErrorCode::EngineFailed, "the compiler of the engine `piccolo` failed inside"))
        }
        Err(error) => Err(broken("no thread to compile in").with_source(error)),
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
    let compiled =
        catch_unwind(AssertUnwindSafe(|| FunctionPrototype::compile(ctx, name, rewritten.as_bytes())));
    let prototype = match compiled {
        Ok(compiled) => compiled.map_err(|error| too_much(&error))?,
        Err(_) => {
            let message = "the engine `piccolo` cannot compile this: its compiler failed inside";
            return Err(at(ErrorCode::EngineUnsupported, 1, message));
        }
    };
    Closure::new(&ctx, prototype, Some(ctx.globals()))
        .map_err(|error| broken("a chunk has more than its environment").with_source(error))
}
