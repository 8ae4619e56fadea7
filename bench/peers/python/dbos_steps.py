"""Ten steps on DBOS, timed in the process that runs them:

    dbos_steps.py URL AMOUNTS

URL is the database of DBOS, sqlite:///FILE or postgresql://…; AMOUNTS is a list of [AT_ONCE, RUNS].
"""

import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from dbos import DBOS, DBOSConfig

url, amounts = sys.argv[1], json.loads(sys.argv[2])
config: DBOSConfig = {"name": "ten", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False}
DBOS(config=config)


@DBOS.step()
def step(n: int) -> int:
    return n + 1


@DBOS.workflow()
def ten() -> int:
    n = 0
    for _ in range(10):
        n = step(n)
    return n


def one(_):
    begun = time.perf_counter()
    assert ten() == 10
    return time.perf_counter() - begun


def measure(runs, at_once):
    with ThreadPoolExecutor(at_once) as pool:
        begun = time.perf_counter()
        times = list(pool.map(one, range(runs)))
        seconds = time.perf_counter() - begun
    line = {"at_once": at_once, "runs": runs, "runs_per_second": runs / seconds}
    print(json.dumps(line | {"median_ms": statistics.median(times) * 1000}), flush=True)


DBOS.launch()
for at_once, runs in amounts:
    # The first tenth warms up.
    measure(max(at_once, runs // 10), at_once)
    measure(runs, at_once)
DBOS.destroy()
