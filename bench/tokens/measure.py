"""Tokens of ten tasks: by a plan, and one call a turn. Run by bench/tokens/run."""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys

import tiktoken

from tasks import TASKS, files

ENCODING = "o200k_base"
# What a token costs that the provider reads from its cache, where one that is sent anew costs 1.
CACHED = 0.1
SYSTEM = "Do the task with the tools. Call one tool at a time. When it is done, answer."
HERE = os.path.dirname(os.path.abspath(__file__))


def encoding(modules):
    """The encoding, its vocabulary taken from the npm package of the same name."""
    with open(os.path.join(modules, "tiktoken/encoders", ENCODING + ".json"), encoding="utf-8") as file:
        known = json.load(file)
    ranks = {}
    for line in known["bpe_ranks"].split("\n"):
        if line:
            _, offset, *tokens = line.split(" ")
            for place, token in enumerate(tokens):
                ranks[base64.b64decode(token)] = int(offset) + place
    return tiktoken.Encoding(
        ENCODING, pat_str=known["pat_str"], mergeable_ranks=ranks, special_tokens=known["special_tokens"])


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tools_of(command, folder, environment):
    """What a server says to `tools/list`, as a model is told of it."""
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder,
        env=environment)

    def ask(number, method, params):
        server.stdin.write(compact({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        while True:
            message = json.loads(server.stdout.readline())
            if message.get("id") == number and "method" not in message:
                return message["result"]

    ask(1, "initialize", {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
    server.stdin.write(compact({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    server.stdin.flush()
    tools, params = [], {}
    while True:
        page = ask(len(tools) + 2, "tools/list", params)
        tools += page["tools"]
        if not page.get("nextCursor"):
            break
        params = {"cursor": page["nextCursor"]}
    server.stdin.close()
    server.wait(timeout=20)
    return [{"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["inputSchema"]}
            for tool in tools]


class Bench:
    def __init__(self, luaplan, modules):
        self.luaplan = os.path.abspath(luaplan)
        self.modules = os.path.abspath(modules)
        self.folder = os.environ.get("LUAPLAN_TOKENS_FOLDER", "/tmp/luaplan-tokens")
        self.work = os.path.join(self.folder, "work")
        self.count = lambda text, coder=encoding(modules): len(coder.encode(text, disallowed_special=()))
        self.environment = {"HOME": self.folder, "PATH": os.environ["PATH"]}
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.work)
        files(self.work)
        node = shutil.which("node")
        script = lambda name: os.path.join(self.modules, "@modelcontextprotocol", name, "dist/index.js")
        memory = os.path.join(self.folder, "graph.jsonl")
        self.servers = {
            "files": [node, script("server-filesystem"), self.work],
            "memory": ["/usr/bin/env", "MEMORY_FILE_PATH=" + memory, node, script("server-memory")],
            "everything": [node, script("server-everything"), "stdio"],
            "thinking": [node, script("server-sequential-thinking")],
        }
        self.tools = {name: tools_of(command, self.folder, self.environment) for name, command in self.servers.items()}

    def say(self, home, *words, text=None):
        done = subprocess.run(
            [self.luaplan, *words], cwd=home, env=self.environment, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"luaplan {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def home(self, servers):
        """A folder whose luaplan knows these servers."""
        home = os.path.join(self.folder, "-".join(servers))
        if not os.path.isdir(home):
            os.makedirs(home)
            # Nobody is asked, so that each plan runs to its end.
            with open(os.path.join(home, "policy.toml"), "w", encoding="utf-8") as file:
                file.write('version = 1\n[defaults]\nread = "auto"\nwrite = "auto"\nsend = "auto"\nspend = "auto"\n')
            with open(os.path.join(home, "luaplan.toml"), "w", encoding="utf-8") as file:
                file.write('[policy]\nfile = "policy.toml"\n')
                for name in servers:
                    file.write(f"[mcp.{name}]\ncommand = {json.dumps(self.servers[name])}\n")
            for name in servers:
                self.say(home, "mcp", "accept", name)
        return home

    def task(self, name, servers, words, shown):
        """The figures of one task, with the tools of `shown`."""
        words = words.replace("{folder}", self.work)
        home = self.home(servers)
        with open(os.path.join(HERE, "plans", name + ".lua"), encoding="utf-8") as file:
            plan = file.read().replace("FOLDER", self.work)
        path = os.path.join(home, name + ".lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(plan)
        self.say(home, "check", path)
        outcome = json.loads(self.say(home, "run", path, "--json"))
        calls = self.calls(home, outcome["run_id"])
        return outcome["result"], calls, self.routes(words, plan, outcome["result"], calls, shown)

    def calls(self, home, run_id):
        """Tool, arguments and result of each call, as on record."""
        lines = self.say(home, "audit", "--run", run_id, "--json", "--limit", "1000").splitlines()
        records = [json.loads(line) for line in lines]
        started, calls = {}, []
        for record in records:
            if record["event"] == "tool_call_started":
                started[record["call_id"]] = record
            elif record["event"] == "tool_call_finished":
                begun = started[record["call_id"]]
                calls.append((begun["tool"], begun["arguments"], record["result"]))
        return calls

    def routes(self, words, plan, result, calls, shown):
        answer = compact(result)
        tools = compact([tool for server in shown for tool in self.tools[server]])
        # One call a turn: each turn sends all that was said before.
        context = self.count(SYSTEM) + self.count(tools) + self.count(words)
        # Instruction and tools were sent for other tasks before; what a turn sent is cached for the next.
        known = self.count(SYSTEM) + self.count(tools)
        sent = written = cached = 0
        for tool, arguments, got in calls:
            call = self.count(compact({"name": tool.split(".", 1)[1], "arguments": arguments}))
            cached += known * CACHED + context - known + call
            known = context + call
            sent, written = sent + context, written + call
            context += call + self.count(got if isinstance(got, str) else compact(got))
        cached += known * CACHED + context - known + self.count(answer)
        sent, written = sent + context, written + self.count(answer)
        turns = (sent, written, context + self.count(answer), round(cached))
        # A plan: the prompt once, the program once.
        home = self.home(shown)
        prompt = json.loads(self.say(home, "plan", words, "--print-prompt", "--json"))
        program = self.count(f"```lua\n{plan}```")
        whole = self.count(prompt["system"]) + self.count(prompt["user"])
        stable = sum(self.count(prompt[part].encode()[:prompt[part + "_stable_bytes"]].decode()) for part in ["system", "user"])
        cached = round(stable * CACHED + whole - stable + program)
        by_plan = (whole, program, len(prompt["tools_left_out"]), cached)
        # An assistant that writes the program itself: the tools of `luaplan mcp`, one call, its result.
        own = compact(tools_of([self.luaplan, "mcp", "--dir", home], home, self.environment))
        begin = self.count(SYSTEM) + self.count(own) + self.count(words)
        call = self.count(compact({"name": "run_lua", "arguments": {"program": plan}}))
        again = begin + call + self.count(compact({"status": "succeeded", "result": result}))
        by_run_lua = (begin + again, call + self.count(answer))
        return turns, by_plan, by_run_lua


def table(bench, shown_of, title):
    print(f"\n{title}\n")
    print("| task | calls | one call a turn: sent + written | of these new | cached | plan: sent + written | cached | "
          "plan / turns | plan / new | cached | `run_lua` |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    sums = [0, 0, 0, 0, 0, 0]
    for name, servers, words in TASKS:
        # The graph of `look_up` is the one `people` made.
        _, calls, (turns, by_plan, by_run_lua) = bench.done[name] if shown_of is None else bench.again(name, shown_of)
        total, plan, lua = sum(turns[:2]), sum(by_plan[:2]), sum(by_run_lua)
        for place, value in enumerate([total, turns[2], plan, lua, turns[3], by_plan[3]]):
            sums[place] += value
        left_out = f" ({by_plan[2]} tools left out)" if by_plan[2] else ""
        print(f"| {name} | {len(calls)} | {turns[0]} + {turns[1]} = {total} | {turns[2]} | {turns[3]} | "
              f"{by_plan[0]} + {by_plan[1]} = {plan}{left_out} | {by_plan[3]} | {plan / total:.2f} | {plan / turns[2]:.2f} | "
              f"{by_plan[3] / turns[3]:.2f} | {lua} |")
    total, once, plan, lua, cached, plan_cached = sums
    print(f"| all | | {total} | {once} | {cached} | {plan} | {plan_cached} | {plan / total:.2f} | {plan / once:.2f} | "
          f"{plan_cached / cached:.2f} | {lua} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--luaplan", required=True)
    parser.add_argument("--modules", required=True)
    arguments = parser.parse_args()
    bench = Bench(arguments.luaplan, arguments.modules)
    bench.done = {}
    for name, servers, words in TASKS:
        bench.done[name] = bench.task(name, servers, words, servers)
        print(f"{name}: {compact(bench.done[name][0])}", file=sys.stderr)

    def again(name, shown):
        result, calls, _ = bench.done[name]
        words = next(words for known, _, words in TASKS if known == name).replace("{folder}", bench.work)
        with open(os.path.join(HERE, "plans", name + ".lua"), encoding="utf-8") as file:
            plan = file.read().replace("FOLDER", bench.work)
        return result, calls, bench.routes(words, plan, result, calls, shown)

    bench.again = again
    counts = ", ".join(f"{name} {len(tools)}" for name, tools in bench.tools.items())
    print(f"tiktoken {tiktoken.__version__}, {ENCODING}; tools: {counts}")
    table(bench, None, "With the tools of the servers each task needs:")
    table(bench, list(bench.servers), "With the tools of all four servers:")


main()
