//! A typical plan: one query, a filter, eight pages, a text, an e-mail. Ten calls.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion};
use luaplan::journal::{JournalWrite, MemoryJournal};

use crate::parts::{Answers, World, bare_lua, empty_object, finish, runtime, vm};

pub(crate) const SENDING: &str = r#"
function run(context)
  local users = query_db({ table = "users" })
  local chosen = {}
  for _, user in ipairs(users) do
    if user.age > 30 and #chosen < 8 then
      table.insert(chosen, user)
    end
  end
  local lines = {}
  for _, user in ipairs(chosen) do
    local page = fetch_url(user.url)
    table.insert(lines, user.name .. " <" .. user.email .. ">: " .. #page .. " bytes")
  end
  context.receipt = send_email("admin@example.com", "User summary", table.concat(lines, "\n"))
  context.count = #chosen
  return context
end
"#;

/// The tools of the plan in Lua itself.
pub(crate) const TOOLS_IN_LUA: &str = r#"
function query_db()
  local rows = {}
  for id = 1, 100 do
    rows[id] = {
      id = id, name = "User " .. id, email = "user" .. id .. "@example.com", age = 20 + id % 50,
      url = "https://example.com/users/" .. id .. ".html",
    }
  end
  return rows
end
local page = string.rep("The text of a page. ", 50)
function fetch_url() return page end
function send_email() return { id = "receipt-1", status = "accepted" } end
"#;

/// The same number of calls, none of which changes the world.
pub(crate) fn reading() -> String {
    SENDING.replace("send_email(\"admin@example.com\", \"User summary\", ", "fetch_url(")
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let (runtime, world, answers) = (runtime(), World::new(), Answers::new());
    let plan = world.plan(SENDING);
    let mut group = criterion.benchmark_group("ten_calls");
    group.bench_function("step", |bencher| {
        bencher.iter(|| black_box(run(&answers)));
    });
    group.bench_function("drive_bus_memory_journal", |bencher| {
        bencher.to_async(&runtime).iter_batched(
            || -> Arc<dyn JournalWrite> { Arc::new(MemoryJournal::default()) },
            async |journal| world.drive(&plan, &world.log(&journal)).await.result.unwrap(),
            BatchSize::NumIterations(64),
        );
    });
    group.bench_function("reference_bare_lua", |bencher| {
        bencher.iter(|| {
            let lua = bare_lua();
            lua.load(TOOLS_IN_LUA).exec().unwrap();
            lua.load(SENDING).exec().unwrap();
            let run: mlua::Function = lua.globals().get("run").unwrap();
            black_box(run.call::<mlua::Table>(lua.create_table().unwrap()).unwrap());
        });
    });
    group.finish();
}

pub(crate) fn run(answers: &Answers) -> luaplan::base::Value {
    finish(vm().start(SENDING, "plan.lua", &empty_object()), answers)
}
