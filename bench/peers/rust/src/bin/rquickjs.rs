//! rquickjs. Limits: memory, stack, and an interrupt handler that counts and checks a clock.

use std::time::{Duration, Instant};

use luaplan_peers as peers;
use rquickjs::{Context, Ctx, Function, IntoJs, Object, Runtime, Value};
use serde_json::{Value as Json, json};

const STACK_BYTES: usize = 1 << 20;

fn main() {
    let asked = peers::asked();
    peers::print(&measure(&asked.work, &asked.document));
}

fn measure(work: &str, document: &str) -> Json {
    match work {
        "w1" => peers::micros(|| forty_two(&vm(None))),
        "w1_warm" => peers::warm(|| vm(None), |vm| forty_two(&vm)),
        "w2" => {
            let source = peers::source("w2.js");
            peers::micros(|| run(&vm(None), &source, "{}", true))
        }
        "w2_warm" => {
            let source = peers::source("w2.js");
            peers::warm(|| vm(None), |vm| run(&vm, &source, "{}", true))
        }
        "w3" => {
            let (vm, source) = (vm(None), peers::source("w3.js"));
            let context = json!({ "calls": peers::CALLS }).to_string();
            peers::per_call(|| run(&vm, &source, &context, true))
        }
        "w5" => {
            let source = peers::source("w5.js");
            peers::text_in_and_out(|| run_to_text(&vm(None), &source, document, false))
        }
        "w6" => peers::idle(|| vm(None)),
        "w7" => {
            let source = peers::source("w7.js");
            peers::stop(|due| {
                vm(Some(due)).1.with(|ctx| {
                    ctx.eval::<(), _>(source).expect("compiles");
                    let run: Function<'_> = ctx.globals().get("run").expect("run");
                    run.call::<_, ()>(()).expect_err("a limit");
                });
            })
        }
        work => {
            let (vm, source) = (vm(None), peers::source(&format!("{work}.js")));
            peers::millis(|| run(&vm, &source, "{}", false))
        }
    }
}

struct Vm(#[expect(dead_code, reason = "kept alive")] Runtime, Context);

fn vm(due: Option<Instant>) -> Vm {
    let runtime = Runtime::new().expect("runtime");
    runtime.set_memory_limit(peers::MEMORY_BYTES);
    runtime.set_max_stack_size(STACK_BYTES);
    let due = due.unwrap_or_else(|| Instant::now() + Duration::from_secs(600));
    runtime.set_interrupt_handler(Some(Box::new(move || Instant::now() >= due)));
    let context = Context::full(&runtime).expect("context");
    Vm(runtime, context)
}

fn forty_two(vm: &Vm) -> Json {
    vm.1.with(|ctx| json!(ctx.eval::<i32, _>("42").expect("42")))
}

fn run(vm: &Vm, source: &str, context: &str, has_tools: bool) -> Json {
    serde_json::from_str(&run_to_text(vm, source, context, has_tools)).expect("JSON")
}

fn run_to_text(vm: &Vm, source: &str, context: &str, has_tools: bool) -> String {
    vm.1.with(|ctx| {
        if has_tools {
            tools(&ctx);
        }
        ctx.eval::<(), _>(source).expect("compiles");
        let run: Function<'_> = ctx.globals().get("run").expect("run");
        let context = ctx.json_parse(context).expect("context");
        let result: Value<'_> = run.call((context,)).expect("runs");
        let text = ctx.json_stringify(result).expect("JSON").expect("a value");
        text.to_string().expect("UTF-8")
    })
}

thread_local! {
    static ANSWERS: (Json, String, Json) = (peers::rows(), peers::page(), peers::receipt());
}

fn tools<'js>(ctx: &Ctx<'js>) {
    let page = |_url: String| ANSWERS.with(|(_, page, _)| page.clone());
    let tools = [
        ("query_db", Function::new(ctx.clone(), query_db)),
        ("fetch_url", Function::new(ctx.clone(), page)),
        ("send_email", Function::new(ctx.clone(), send_email)),
        ("noop", Function::new(ctx.clone(), noop)),
    ];
    for (name, function) in tools {
        ctx.globals().set(name, function.expect("function")).expect("global");
    }
}

fn query_db<'js>(ctx: Ctx<'js>, _asked: Object<'js>) -> rquickjs::Result<Value<'js>> {
    ANSWERS.with(|(rows, _, _)| to_js(&ctx, rows))
}

fn send_email<'js>(ctx: Ctx<'js>, _to: String, _subject: String, _body: String) -> rquickjs::Result<Value<'js>> {
    ANSWERS.with(|(_, _, receipt)| to_js(&ctx, receipt))
}

fn noop<'js>(ctx: Ctx<'js>, asked: Object<'js>) -> rquickjs::Result<Object<'js>> {
    let _n: i64 = asked.get("n")?;
    let answer = Object::new(ctx)?;
    answer.set("n", 1)?;
    Ok(answer)
}

fn to_js<'js>(ctx: &Ctx<'js>, value: &Json) -> rquickjs::Result<Value<'js>> {
    match value {
        Json::Null => Ok(Value::new_null(ctx.clone())),
        Json::Bool(value) => value.into_js(ctx),
        Json::Number(number) => number.as_f64().into_js(ctx),
        Json::String(text) => text.as_str().into_js(ctx),
        Json::Array(items) => {
            let array = rquickjs::Array::new(ctx.clone())?;
            for (place, item) in items.iter().enumerate() {
                array.set(place, to_js(ctx, item)?)?;
            }
            array.into_js(ctx)
        }
        Json::Object(members) => {
            let object = Object::new(ctx.clone())?;
            for (name, member) in members {
                object.set(name.as_str(), to_js(ctx, member)?)?;
            }
            object.into_js(ctx)
        }
    }
}
