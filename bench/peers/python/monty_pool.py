"""monty from Python with its pool of worker processes. One worker, kept warm; each run is a
checkout with limits of its own. W6 is the share of memory
(Pss) of one idle worker process of eight."""

import json
import pathlib

import pydantic_monty

import common

CALLS = 2_000
LIMITS = {"max_feed_duration_secs": 600.0, "max_memory": 512 << 20, "max_suspensions": 1_000_000_000}


def run(pool, source, context, limits=LIMITS):
    with pool.checkout(limits=limits) as session:
        return session.feed_run(source, inputs={"context": context}, external_lookup=common.TOOLS)


def workers():
    """The ids of this process's children."""
    pids = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        pids += (task / "children").read_text().split()
    return pids


def idle():
    processes = 8
    with pydantic_monty.Monty(min_processes=processes, max_processes=processes):
        children = workers()
        assert len(children) == processes, children
        return {"value": sum(common.memory_kib(pid, "Pss") for pid in children) / processes}


def measure(work, document):
    if work == "w6":
        return idle()
    with pydantic_monty.Monty(min_processes=1, max_processes=1) as pool:
        if work == "w1":
            return common.repeated(lambda: run(pool, "42", {}), 1e6)
        if work in ("w1_warm", "w2_warm"):
            return {"absent": "a session is made at its checkout, and a text is compiled when it is fed"}
        if work == "w2":
            return common.repeated(lambda: run(pool, common.source("w2.py"), {}), 1e6)
        if work == "w3":
            line = common.once(lambda: run(pool, common.source("w3.py"), {"calls": CALLS}), 1e9 / CALLS)
            return line | {"calls": CALLS}
        if work == "w5":
            source = common.source("w5.py")
            line = common.repeated(lambda: json.dumps(run(pool, source, json.loads(document))), 1e3)
            return line | {"answer": json.loads(line["answer"])}
        if work == "w7":
            limits = LIMITS | {"max_feed_duration_secs": common.WALL_SECONDS}
            run(pool, "42", {})
            return common.stopped(lambda: run(pool, common.source("w7.py"), {}, limits))
        return common.once(lambda: run(pool, common.source(f"{work}.py"), {}), 1e3)


common.main(measure)
