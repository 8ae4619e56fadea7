//! mlua in typical use for plans: the safe libraries, a memory limit, and a hook every 1,000
//! instructions that checks a count and a clock. Tools are async functions, as tools wait;
//! `mlua sync …` makes them plain functions instead.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use luaplan_peers as peers;
use mlua::{Function, HookTriggers, Lua, LuaOptions, LuaSerdeExt, StdLib, Table, Value, VmState};
use serde_json::{Value as Json, json};

const HOOK_EVERY: u32 = 1_000;
const INSTRUCTIONS_MAX: u64 = u64::MAX / 2;

fn main() {
    let is_sync = std::env::args().nth(1).as_deref() == Some("sync");
    let mut arguments = std::env::args().skip(if is_sync { 2 } else { 1 });
    let work = arguments.next().expect("usage: mlua [sync] WORK [DOCUMENT]");
    let document = arguments.next().map(|path| std::fs::read_to_string(path).expect("the document"));
    let peer = Peer { is_sync };
    peers::print(&peer.measure(&work, &document.unwrap_or_default()));
}

struct Peer {
    is_sync: bool,
}

impl Peer {
    fn measure(&self, work: &str, document: &str) -> Json {
        match work {
            "w1" => peers::micros(|| forty_two(&self.vm(None))),
            "w1_warm" => peers::warm(|| self.vm(None), |lua| forty_two(&lua)),
            "w2" => {
                let (source, rows) = (peers::source("w2.lua"), peers::rows());
                peers::micros(|| {
                    let lua = self.vm(None);
                    self.tools(&lua, &rows);
                    let context = lua.create_table().expect("context");
                    let result: Value = self.run(&lua, &source, Value::Table(context));
                    lua.from_value(result).expect("result")
                })
            }
            "w2_warm" => {
                let (source, rows) = (peers::source("w2.lua"), peers::rows());
                let ready = || {
                    let lua = self.vm(None);
                    self.tools(&lua, &rows);
                    lua
                };
                peers::warm(ready, |lua| {
                    let context = lua.create_table().expect("context");
                    let result: Value = self.run(&lua, &source, Value::Table(context));
                    lua.from_value(result).expect("result")
                })
            }
            "w3" => {
                let (lua, source) = (self.vm(None), peers::source("w3.lua"));
                self.tools(&lua, &peers::rows());
                let context = lua.to_value(&json!({ "calls": peers::CALLS })).expect("context");
                peers::per_call(|| answer(&self.run(&lua, &source, context.clone())))
            }
            "w5" => {
                let source = peers::source("w5.lua");
                peers::text_in_and_out(|| {
                    let lua = self.vm(None);
                    let value: Json = serde_json::from_str(document).expect("JSON");
                    let context = lua.to_value(&value).expect("context");
                    let result: Json = lua.from_value(self.run(&lua, &source, context)).expect("result");
                    result.to_string()
                })
            }
            "w6" => peers::idle(|| self.vm(None)),
            "w7" => {
                let source = peers::source("w7.lua");
                peers::stop(|due| {
                    let lua = self.vm(Some(due));
                    lua.load(&source).exec().expect("compiles");
                    let run: Function = lua.globals().get("run").expect("run");
                    run.call::<Value>(()).expect_err("a limit");
                })
            }
            work => {
                let (lua, source) = (self.vm(None), peers::source(&format!("{work}.lua")));
                peers::millis(|| answer(&self.run(&lua, &source, Value::Nil)))
            }
        }
    }

    fn vm(&self, deadline: Option<Instant>) -> Lua {
        let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::default()).expect("VM");
        lua.set_memory_limit(peers::MEMORY_BYTES).expect("memory limit");
        let left = Rc::new(Cell::new(INSTRUCTIONS_MAX));
        let triggers = HookTriggers::new().every_nth_instruction(HOOK_EVERY);
        lua.set_global_hook(triggers, move |_, _| {
            left.set(left.get().saturating_sub(u64::from(HOOK_EVERY)));
            if left.get() == 0 || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(mlua::Error::runtime("limit"));
            }
            Ok(VmState::Continue)
        })
        .expect("hook");
        lua
    }

    fn tools(&self, lua: &Lua, rows: &Json) {
        let rows = rows.clone();
        self.tool(lua, "query_db", move |lua, _asked: Table| lua.to_value(&rows));
        let page = peers::page();
        self.tool(lua, "fetch_url", move |lua, _url: String| lua.to_value(&page));
        let receipt = peers::receipt();
        self.tool(lua, "send_email", move |lua, _mail: (String, String, String)| lua.to_value(&receipt));
        self.tool(lua, "noop", |lua, asked: Table| {
            let _n: i64 = asked.get("n")?;
            let answer = lua.create_table()?;
            answer.set("n", 1)?;
            Ok(Value::Table(answer))
        });
    }

    fn tool<A: mlua::FromLuaMulti + 'static>(
        &self,
        lua: &Lua,
        name: &str,
        answer: impl Fn(&Lua, A) -> mlua::Result<Value> + 'static,
    ) {
        let function = if self.is_sync {
            lua.create_function(move |lua, asked: A| answer(lua, asked))
        } else {
            let answer = Rc::new(answer);
            lua.create_async_function(move |lua, asked: A| {
                let answer = answer.clone();
                async move { answer(&lua, asked) }
            })
        };
        lua.globals().set(name, function.expect("function")).expect("global");
    }

    fn run(&self, lua: &Lua, source: &str, context: Value) -> Value {
        lua.load(source).exec().expect("compiles");
        let run: Function = lua.globals().get("run").expect("run");
        if self.is_sync { run.call(context) } else { block_on(run.call_async(context)) }.expect("runs")
    }
}

fn forty_two(lua: &Lua) -> Json {
    json!(lua.load("return 42").eval::<i64>().expect("42"))
}

fn answer(value: &Value) -> Json {
    serde_json::to_value(value).expect("JSON")
}

/// The tools never wait, so no more is needed.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
