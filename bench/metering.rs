//! The cost of the meter, the memory limit and our library compared with stock Lua.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;

use crate::parts::{Answers, bare_lua, empty_object, finish, vm};

const PROGRAMS: [(&str, &str); 8] = [
    (
        "fib_27",
        "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end \
         function run(context) return fib(27) end",
    ),
    (
        "loop_10_million",
        "function run(context) local sum = 0 for i = 1, 10000000 do sum = sum + i % 7 end return sum end",
    ),
    (
        "sort_100_thousand",
        "function run(context) local list, seed = {}, 1 \
         for i = 1, 100000 do seed = (seed * 1103515245 + 12345) % 2147483648 list[i] = seed end \
         table.sort(list) return list[1] end",
    ),
    (
        "sort_100_thousand_by",
        "function run(context) local list, seed = {}, 1 \
         for i = 1, 100000 do seed = (seed * 1103515245 + 12345) % 2147483648 list[i] = seed end \
         table.sort(list, function(a, b) return a > b end) return list[1] end",
    ),
    (
        "string_1_mb",
        "function run(context) local parts = {} \
         for i = 1, 65536 do parts[#parts + 1] = string.format('%08d ', i) .. 'sixteen' end \
         return #table.concat(parts) end",
    ),
    (
        "sort_100_thousand_texts",
        "function run(context) local list, seed = {}, 1 \
         for i = 1, 100000 do seed = (seed * 1103515245 + 12345) % 2147483648 list[i] = 'key ' .. seed end \
         table.sort(list) return #list[1] end",
    ),
    (
        "concatenate_1_mb_by_256_bytes",
        "function run(context) local text, piece = '', string.rep('x', 256) \
         for i = 1, 4096 do text = text .. piece end return #text end",
    ),
    (
        "join_100_thousand",
        "function run(context) local parts = {} for i = 1, 100000 do parts[i] = 'piece ' .. i end \
         return #table.concat(parts, ',') end",
    ),
];

pub(crate) fn bench(criterion: &mut Criterion) {
    let answers = Answers::new();
    let mut group = criterion.benchmark_group("metering");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    for (name, program) in PROGRAMS {
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(finish(vm().start(program, "plan.lua", &empty_object()), &answers)));
        });
        group.bench_function(format!("reference_bare_lua_{name}"), |bencher| {
            bencher.iter(|| {
                let lua = bare_lua();
                lua.load(program).exec().unwrap();
                let run: mlua::Function = lua.globals().get("run").unwrap();
                black_box(run.call::<i64>(()).unwrap())
            });
        });
    }
    group.finish();
}
