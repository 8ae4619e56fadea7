"""What the Python peers share: the data the tools answer, and how each work is timed and printed."""

import json
import pathlib
import statistics
import sys
import time

MEASURE_SECONDS = 0.4
WALL_SECONDS = 0.05
WORK = pathlib.Path(__file__).resolve().parent.parent / "work"

ROWS = [
    {
        "id": n,
        "name": f"User {n}",
        "email": f"user{n}@example.com",
        "age": 20 + n % 50,
        "url": f"https://example.com/users/{n}.html",
    }
    for n in range(1, 101)
]
PAGE = "The text of a page. " * 50
RECEIPT = {"id": "receipt-1", "status": "accepted"}

TOOLS = {
    "query_db": lambda asked: [dict(row) for row in ROWS],
    "fetch_url": lambda url: PAGE,
    "send_email": lambda to, subject, body: dict(RECEIPT),
    "noop": lambda asked: {"n": 1 if asked["n"] >= 0 else 0},
}


def source(name):
    return (WORK / name).read_text()


def repeated(run, scale):
    """The median of many runs; a tenth of the time is for warming up."""
    began, samples = time.perf_counter(), []
    while True:
        started = time.perf_counter()
        answer = run()
        spent = time.perf_counter() - started
        elapsed = time.perf_counter() - began
        if elapsed > MEASURE_SECONDS / 10 or not samples:
            samples.append(spent)
        if elapsed > MEASURE_SECONDS and len(samples) > 4:
            return {"value": statistics.median(samples) * scale, "answer": answer}


def once(run, scale):
    started = time.perf_counter()
    answer = run()
    return {"value": (time.perf_counter() - started) * scale, "answer": answer}


def stopped(run):
    """W7: microseconds from the moment the wall limit is due to the end of the run."""
    due = time.perf_counter() + WALL_SECONDS
    try:
        run()
    except Exception:
        return {"value": (time.perf_counter() - due) * 1e6}
    raise SystemExit("the run was not stopped")


def memory_kib(pid="self", kind="Rss"):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(f"{kind}:"):
            return float(line.split()[1])
    raise SystemExit(f"no {kind}")


def main(measure):
    document = pathlib.Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else ""
    print(json.dumps(measure(sys.argv[1], document)))
