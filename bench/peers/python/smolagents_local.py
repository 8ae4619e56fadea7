"""smolagents' Python interpreter, in the process. Its own limit on operations is raised, as it would
end W4 early, but not for W7. Its time limit runs the plan in a thread and then waits for that thread,
so in W7 it is the limit on rounds of a while loop that stops the plan in the end."""

import json

from smolagents import local_python_executor as local

import common

CALLS = 2_000
IDLE = 1_000

def executor(context, timeout=600):
    made = local.LocalPythonExecutor([], timeout_seconds=timeout)
    made.send_tools(common.TOOLS)
    made.send_variables({"context": context})
    return made


def run(source, context, timeout=600):
    return executor(context, timeout)(source).output


def idle():
    before = common.memory_kib()
    held = [executor({}) for _ in range(IDLE)]
    return {"value": (common.memory_kib() - before) / len(held)}


def measure(work, document):
    if work == "w1":
        return common.repeated(lambda: run("42", {}), 1e6)
    if work == "w1_warm":
        made = [executor({}) for _ in range(2_000)]
        return common.repeated(lambda: made.pop()("42").output if made else executor({})("42").output, 1e6)
    if work == "w2_warm":
        return {"absent": "what can be made beforehand is next to nothing: see W1 warm"}
    if work == "w2":
        return common.repeated(lambda: run(common.source("w2.py"), {}), 1e6)
    if work == "w3":
        line = common.once(lambda: run(common.source("w3.py"), {"calls": CALLS}), 1e9 / CALLS)
        return line | {"calls": CALLS}
    if work == "w5":
        source = common.source("w5.py")
        line = common.repeated(lambda: json.dumps(run(source, json.loads(document))), 1e3)
        return line | {"answer": json.loads(line["answer"])}
    if work == "w6":
        return idle()
    if work == "w7":
        return common.stopped(lambda: run(common.source("w7.py"), {}, common.WALL_SECONDS))
    local.MAX_OPERATIONS = 10**12
    return common.once(lambda: run(common.source(f"{work}.py"), {}), 1e3)


common.main(measure)
