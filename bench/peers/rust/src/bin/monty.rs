//! The monty crate: a run pauses at each call of a tool, and the host resumes it with the answer.
//! Limits: time of a run, recursion, number of calls.

use std::time::{Duration, Instant};

use luaplan_peers as peers;
use monty::{MontyRun, RunProgress};
use monty_types::{
    CompileOptions, MontyObject, ObjectRef, PrintWriter, ResourceLimits, ResourceTracker,
};
use serde_json::{Map, Value as Json, json};

const TOOLS: [&str; 4] = ["query_db", "fetch_url", "send_email", "noop"];

fn main() {
    let asked = peers::asked();
    peers::print(&measure(&asked.work, &asked.document));
}

fn measure(work: &str, document: &str) -> Json {
    match work {
        "w1" => peers::micros(|| forty_two(compile("42", false))),
        // A run makes its heap itself; what can be made beforehand is the compiled program.
        "w1_warm" => {
            let compiled = compile("42", false);
            peers::warm(|| compiled.clone(), forty_two)
        }
        "w2" => {
            let (source, answers) = (peers::source("w2.py"), Answers::new());
            peers::micros(|| to_json(run(&source, &json!({}), &answers).as_ref()))
        }
        "w2_warm" => {
            let (compiled, answers) = (compile(&peers::source("w2.py"), true), Answers::new());
            let run = |compiled| to_json(run_compiled(compiled, &json!({}), &answers).as_ref());
            peers::warm(|| compiled.clone(), run)
        }
        "w3" => {
            let (source, answers) = (peers::source("w3.py"), Answers::new());
            let context = json!({ "calls": peers::CALLS });
            peers::per_call(|| to_json(run(&source, &context, &answers).as_ref()))
        }
        "w5" => {
            let (source, answers) = (peers::source("w5.py"), Answers::new());
            peers::text_in_and_out(|| {
                let context: Json = serde_json::from_str(document).expect("JSON");
                to_json(run(&source, &context, &answers).as_ref()).to_string()
            })
        }
        "w6" => {
            let idle = || {
                // Paused in a call: the only idle state that holds a heap.
                let compiled = compile("noop(1)", true);
                compiled.start(inputs(&json!({})), limits(None), PrintWriter::Disabled).expect("a call")
            };
            peers::idle(idle)
        }
        "w7" => {
            let source = peers::source("w7.py");
            peers::stop(|due| {
                let limit = due.saturating_duration_since(Instant::now());
                let compiled = compile(&source, true);
                let stopped = compiled.start(inputs(&json!({})), limits(Some(limit)), PrintWriter::Disabled);
                stopped.expect_err("a limit");
            })
        }
        work => {
            let (source, answers) = (peers::source(&format!("{work}.py")), Answers::new());
            peers::millis(|| to_json(run(&source, &json!({}), &answers).as_ref()))
        }
    }
}

struct Answers {
    rows: MontyObject,
    page: String,
    receipt: MontyObject,
}

impl Answers {
    fn new() -> Self {
        let (rows, receipt) = (to_monty(&peers::rows()), to_monty(&peers::receipt()));
        Self { rows, page: peers::page(), receipt }
    }

    fn answer(&self, tool: &str) -> MontyObject {
        match tool {
            "query_db" => self.rows.clone(),
            "fetch_url" => MontyObject::string(self.page.clone()),
            "send_email" => self.receipt.clone(),
            _ => MontyObject::dict([(MontyObject::string("n"), MontyObject::int(1))]),
        }
    }
}

fn compile(source: &str, has_tools: bool) -> MontyRun {
    let mut names = Vec::new();
    if has_tools {
        names.push("context".to_owned());
        names.extend(TOOLS.iter().map(|tool| (*tool).to_owned()));
    }
    MontyRun::new(source.to_owned(), "plan.py", names, CompileOptions::default()).expect("compiles")
}

fn inputs(context: &Json) -> Vec<MontyObject> {
    let mut inputs = vec![to_monty(context)];
    inputs.extend(TOOLS.iter().map(|tool| MontyObject::function((*tool).to_owned(), None)));
    inputs
}

fn limits(time: Option<Duration>) -> ResourceTracker {
    let limits = ResourceLimits {
        max_feed_duration: Some(time.unwrap_or(Duration::from_secs(600))),
        max_suspensions: usize::MAX,
        ..ResourceLimits::default()
    };
    ResourceTracker::new(limits)
}

fn forty_two(mut compiled: MontyRun) -> Json {
    to_json(compiled.run(Vec::new(), limits(None), PrintWriter::Disabled).expect("runs").as_ref())
}

fn run(source: &str, context: &Json, answers: &Answers) -> MontyObject {
    run_compiled(compile(source, true), context, answers)
}

fn run_compiled(compiled: MontyRun, context: &Json, answers: &Answers) -> MontyObject {
    let started = compiled.start(inputs(context), limits(None), PrintWriter::Disabled);
    let mut progress = started.expect("runs");
    loop {
        progress = match progress {
            RunProgress::FunctionCall(call) => {
                if call.function_name == "noop" {
                    let asked = call.args.arg(0).and_then(|asked| asked.pairs()).expect("a table");
                    assert!(asked[0].1.as_int().is_some());
                }
                let answer = answers.answer(&call.function_name);
                call.resume(answer, PrintWriter::Disabled).expect("goes on")
            }
            RunProgress::Complete(result) => return result,
            _ => panic!("a pause that is no call"),
        }
    }
}

fn to_monty(value: &Json) -> MontyObject {
    match value {
        Json::Null => MontyObject::none(),
        Json::Bool(value) => MontyObject::bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => MontyObject::int(integer),
            None => MontyObject::float(number.as_f64().expect("a number")),
        },
        Json::String(text) => MontyObject::string(text.as_str()),
        Json::Array(items) => MontyObject::list(items.iter().map(to_monty)),
        Json::Object(members) => {
            let pairs = members.iter().map(|(name, member)| (MontyObject::string(name.as_str()), to_monty(member)));
            MontyObject::dict(pairs)
        }
    }
}

fn to_json(value: ObjectRef<'_>) -> Json {
    if let Some(value) = value.as_bool() {
        return Json::Bool(value);
    }
    if let Some(integer) = value.as_int() {
        return json!(integer);
    }
    if let Some(float) = value.as_float() {
        return json!(float);
    }
    if let Some(text) = value.as_str() {
        return json!(text);
    }
    if let Some(pairs) = value.pairs() {
        let member = |(name, member): (ObjectRef<'_>, ObjectRef<'_>)| {
            (name.as_str().expect("a name").to_owned(), to_json(member))
        };
        return Json::Object(pairs.into_iter().map(member).collect::<Map<_, _>>());
    }
    value.items().map_or(Json::Null, |items| items.into_iter().map(to_json).collect())
}
