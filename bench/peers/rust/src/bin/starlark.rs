//! starlark-rust. Limits: ticks (calls and loop ends), the size of its heap, the depth of calls, and
//! for W7 a callback that decides whether to stop.

use std::time::Instant;

use luaplan_peers as peers;
use serde_json::{Value as Json, json};
use starlark::environment::{Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::{Heap, Value};

/// More than the other peers get: nothing is freed inside a function, so the naive concatenation
/// holds all its texts, 2 GiB, at once and more around them.
const HEAP_BYTES: usize = 8 << 30;

thread_local! {
    static ANSWERS: (Json, String, Json) = (peers::rows(), peers::page(), peers::receipt());
}

fn main() {
    let asked = peers::asked();
    peers::print(&measure(&asked.work, &asked.document));
}

fn measure(work: &str, document: &str) -> Json {
    let globals = globals();
    let run = |source: &str, context: &Json| run(&globals, parse(source), Some(context), None);
    match work {
        "w1" => peers::micros(|| self::run(&globals, parse("42"), None, None)),
        // A module is bound to its run; what can be made beforehand is the parsed program.
        "w1_warm" => {
            let parsed = parse("42");
            peers::warm(|| parsed.clone(), |parsed| self::run(&globals, parsed, None, None))
        }
        "w2" => {
            let source = peers::source("w2.py");
            peers::micros(|| run(&source, &json!({})))
        }
        "w2_warm" => {
            let (parsed, context) = (parse(&peers::source("w2.py")), json!({}));
            peers::warm(|| parsed.clone(), |parsed| self::run(&globals, parsed, Some(&context), None))
        }
        "w3" => {
            let source = peers::source("w3.py");
            peers::per_call(|| run(&source, &json!({ "calls": peers::CALLS })))
        }
        "w5" => {
            let source = peers::source("w5.py");
            peers::text_in_and_out(|| {
                let context: Json = serde_json::from_str(document).expect("JSON");
                run(&source, &context).to_string()
            })
        }
        "w6" => json!({ "absent": "a module lives inside its run: there is no idle VM" }),
        "w7" => {
            let source = peers::source("w7.star");
            peers::stop(|due| {
                let _ = self::run(&globals, parse(&source), Some(&json!({})), Some(due));
            })
        }
        work => {
            let source = peers::source(&format!("{work}.py"));
            peers::millis(|| run(&source, &json!({})))
        }
    }
}

#[starlark_module]
fn tools(builder: &mut GlobalsBuilder) {
    fn query_db<'v>(_asked: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(ANSWERS.with(|(rows, _, _)| heap.alloc(rows)))
    }

    fn fetch_url<'v>(_url: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(ANSWERS.with(|(_, page, _)| heap.alloc(page.as_str())))
    }

    fn send_email<'v>(_to: &str, _subject: &str, _body: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(ANSWERS.with(|(_, _, receipt)| heap.alloc(receipt)))
    }

    fn noop<'v>(asked: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let asked = DictRef::from_value(asked).expect("a table");
        let n = asked.get_str("n").and_then(|n| n.unpack_i32());
        assert!(n.is_some());
        Ok(heap.alloc(AllocDict([("n", 1)])))
    }
}

fn globals() -> Globals {
    GlobalsBuilder::extended_by(&[LibraryExtension::Json]).with(tools).build()
}

fn parse(source: &str) -> AstModule {
    AstModule::parse("plan.star", source.to_owned(), &Dialect::Extended).expect("parses")
}

fn run(globals: &Globals, parsed: AstModule, context: Option<&Json>, due: Option<Instant>) -> Json {
    Module::with_temp_heap(|module| {
        if let Some(context) = context {
            module.set("context", module.heap().alloc(context));
        }
        let mut evaluator = Evaluator::new(&module);
        evaluator.set_max_heap_size(HEAP_BYTES).expect("heap");
        evaluator.set_max_tick_count(u64::MAX / 2).expect("ticks");
        evaluator.set_max_callstack_size(200).expect("depth");
        if let Some(due) = due {
            evaluator.set_check_cancelled(Box::new(move || Instant::now() >= due));
        }
        match evaluator.eval_module(parsed, globals) {
            Ok(result) => result.to_json_value().expect("JSON"),
            Err(error) if due.is_some() => json!(error.to_string()),
            Err(error) => panic!("{error}"),
        }
    })
}
