// Ten steps on a Restate server of its own, timed by a client through its ingress:
//
//     node restate_steps.mjs FOLDER AMOUNTS [PORT]
//
// FOLDER takes the server's data, AMOUNTS is a list of [AT_ONCE, RUNS]; four ports from PORT are used.
import { mkdirSync } from "node:fs";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import * as http from "node:http";
import * as http2 from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import * as restate from "@restatedev/restate-sdk";

const [folder, amounts, portText] = process.argv.slice(2);
const port = Number(portText ?? 28080);
const [ingress, admin, node, service] = [port, port + 1, port + 2, port + 3];

// What the SDK asks of Node 22, for older ones.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};

const step = (n) => n + 1;
const ten = restate.service({
  name: "ten",
  handlers: {
    run: async (ctx) => {
      let n = 0;
      for (let index = 0; index < 10; index++) {
        const before = n;
        n = await ctx.run("step", () => step(before));
      }
      return n;
    },
  },
});
http2.createServer(restate.createEndpointHandler({ services: [ten] })).listen(service, "127.0.0.1");

mkdirSync(folder, { recursive: true });
const require = createRequire(import.meta.url);
const binary = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
const server = spawn(require.resolve(binary), ["--base-dir", folder, "--node-name", "bench"], {
  stdio: ["ignore", "ignore", "ignore"],
  env: {
    ...process.env,
    RESTATE_LOG_FILTER: "warn",
    DO_NOT_TRACK: "1",
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}/`,
  },
});
process.on("exit", () => server.kill("SIGKILL"));
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => process.exit(1));
server.on("exit", (code) => {
  console.error(`the server ended: ${code}`);
  process.exit(1);
});

const agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
const call = (target, path, body) =>
  new Promise((resolve, reject) => {
    const request = http.request(
      { host: "127.0.0.1", port: target, path, method: "POST", agent, headers: { "content-type": "application/json" } },
      (response) => {
        let text = "";
        response.on("data", (chunk) => (text += chunk));
        response.on("end", () => (response.statusCode < 300 ? resolve(text) : reject(new Error(`${response.statusCode}: ${text}`))));
      },
    );
    request.on("error", reject);
    request.end(body);
  });

for (let tries = 0; ; tries++) {
  try {
    await call(admin, "/deployments", JSON.stringify({ uri: `http://127.0.0.1:${service}` }));
    break;
  } catch (error) {
    if (tries > 120) throw error;
    await sleep(500);
  }
}
// The partition's leader comes a moment after the server.
for (let tries = 0; ; tries++) {
  try {
    if ((await call(ingress, "/ten/run", "null")) === "10") break;
  } catch (error) {
    if (tries > 120) throw error;
  }
  await sleep(250);
}

async function measure(runs, atOnce) {
  const times = [];
  let begun = 0;
  const started = performance.now();
  const one = async () => {
    while (begun++ < runs) {
      const from = performance.now();
      const answer = await call(ingress, "/ten/run", "null");
      if (answer !== "10") throw new Error(answer);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({ at_once: atOnce, runs, runs_per_second: runs / seconds, median_ms: times[times.length >> 1] }));
}

for (const [atOnce, runs] of JSON.parse(amounts)) {
  // The first tenth warms up.
  await measure(Math.max(atOnce, Math.floor(runs / 10)), atOnce);
  await measure(runs, atOnce);
}
process.exit(0);
