// The life of an agent's requests, told by a client that is not ours: what is asked, and what people answer. What to reach and
// where comes as JSON in the only argument: {at, soon, host, prod, dir, fleet, count, alone}, where at and soon are keepers, each
// {command, args, env} or {url, token}. For each question to the first it says "ask WHAT", and somebody else answers; those to the
// other one nobody answers, and they soon end.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const plan = JSON.parse(process.argv[2]);

async function connect({ url, token, command, args, env }) {
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
    : new StdioClientTransport({ command, args, env, stderr: "inherit" });
  const client = new Client({ name: "typescript", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

const client = await connect(plan.at);

async function call(name, args, at = client) {
  const r = await at.callTool({ name, arguments: args }, undefined, { timeout: 120000 });
  return { ...r.structuredContent, isError: r.isError ?? false, text: r.content[0].text };
}

// asked has a tool called that must wait for a person, and returns how it went on.
async function asked(what, tool, args) {
  let r = await call(tool, { ...args, wait_s: 1 });
  const exec_id = r.run ?? r.exec;
  for (let i = 0; r.state === "running" && i < 50; i++) r = await call("session_output", { exec_id, wait_s: 1 });
  assert.equal(r.state, "awaiting_approval", `${what}: ${JSON.stringify(r)}`);
  console.log(`ask ${what}`);
  for (let i = 0; r.state !== "done" && i < 5; i++) r = await call("session_output", { exec_id, wait_s: 50 });
  return r;
}

// begun has a command started that reads lines, which a person approves, and waits until it can be typed at.
async function begun(what, session_id) {
  const command = 'echo ready; while read -r n && [ "$n" != end ]; do echo "hello $n"; done';
  let r = await call("session_exec", { session_id, command, interactive: true, wait_s: 1 });
  for (let i = 0; r.state === "running" && i < 50; i++) r = await call("session_output", { exec_id: r.exec, wait_s: 1 });
  assert.equal(r.state, "awaiting_approval", JSON.stringify(r));
  console.log(`ask ${what}`);
  return until(r.exec, (r) => (r.stdout ?? "").includes("ready"));
}

const printed = {}; // by each command, as far as it was shown: while one runs, a poll shows what is new

// until looks at a command until it is as it should be.
async function until(exec_id, good) {
  let r = {};
  for (let i = 0; !good(r) && i < 600; i++) {
    r = await call("session_output", { exec_id, wait_s: 0.2 });
    if (r.state === "running") r.stdout = printed[exec_id] = (printed[exec_id] ?? "") + (r.stdout ?? "");
  }
  assert.ok(good(r), JSON.stringify(r));
  return r;
}

const step = async (name, f) => { await f(); console.log(`ok ${name}`); };

const open = async (host, at = client) => {
  const r = await call("session_open", { host, cwd: plan.dir }, at);
  assert.equal(r.error, undefined, JSON.stringify(r));
  return r.session_id;
};
const dev = await open(plan.host);
const prod = await open(plan.prod);

await step("a read runs unasked", async () => {
  const r = await call("session_exec", { session_id: prod, command: "pwd" });
  assert.equal(r.status, "ok");
  assert.equal(r.stdout, `${plan.dir}\n`);
});
await step("approved by the API", async () => {
  const r = await asked("api", "session_exec", { session_id: dev, command: "touch by-api && echo made" });
  assert.equal(r.status, "ok");
  assert.equal(r.stdout, "made\n");
});
await step("approved at the terminal with a passphrase", async () => {
  const r = await asked("cli", "session_exec", { session_id: prod, command: "touch by-cli" });
  assert.equal(r.status, "ok", JSON.stringify(r));
});
await step("rejected", async () => {
  const r = await asked("reject", "session_exec", { session_id: dev, command: "touch rejected" });
  assert.equal(r.status, "denied");
  assert.match(r.error.message, /not today/);
});
await step("denied", async () => {
  const r = await call("session_exec", { session_id: dev, command: "rm -rf /" });
  assert.equal(r.isError, true);
  assert.equal(r.error.code, "denied");
});
await step("typed at what was approved with input", async () => {
  const { exec } = await begun("with-input", prod);
  let r = await call("session_input", { session_id: prod, text: "ada\n", wait_for: "hello ada" });
  assert.equal(r.error, undefined, JSON.stringify(r));
  assert.equal(r.typed, undefined, JSON.stringify(r));
  assert.equal(r.decision.with_input, true);
  r = await call("session_input", { session_id: prod, text: "end\n" });
  r = await until(exec, (r) => r.state === "done");
  assert.equal(r.status, "ok", JSON.stringify(r));
});
await step("typed at what was approved alone", async () => {
  const { exec } = await begun("api", dev);
  const types = async (what, text) => {
    const r = await call("session_input", { session_id: dev, text, wait_s: 0 });
    assert.equal(r.typed?.state, "awaiting_approval", JSON.stringify(r));
    console.log(`ask ${what}`);
    return until(exec, (r) => r.typed && r.typed.state !== "awaiting_approval");
  };
  let r = await types("typed", "ada\n");
  assert.equal(r.typed.state, "typed", JSON.stringify(r));
  await until(exec, (r) => r.stdout?.includes("hello ada"));
  r = await types("reject", "eve\n");
  assert.equal(r.typed.state, "refused", JSON.stringify(r));
  assert.equal(r.typed.error.code, "rejected");
  assert.match(r.typed.error.message, /not today/);
  await call("session_input", { session_id: dev, keys: ["C-d"] });
  r = await until(exec, (r) => r.state === "done");
  assert.doesNotMatch(r.stdout, /eve/);
});
await step("a file is written, edited and read", async () => {
  const w = await asked("write", "file_write", { session_id: dev, path: "app.conf", content: "port = 80\n" });
  assert.equal(w.status, "ok", JSON.stringify(w));
  const e = await asked("edit", "file_edit", { session_id: dev, path: "app.conf", old: "80", new: "8080" });
  assert.equal(e.status, "ok", JSON.stringify(e));
  const r = await call("file_read", { session_id: dev, path: "app.conf" });
  assert.equal(r.content, "port = 8080\n");
});
await step("a run on one host", async () => {
  const r = await asked("one", "run", { targets: plan.host, command: `touch ${plan.dir}/by-run && echo made` });
  assert.deepEqual(r.statuses, { ok: plan.host }, JSON.stringify(r));
  assert.equal(r.groups[0].stdout, "made\n");
});
await step("a fleet, with one approval", async () => {
  let r = await call("run", { targets: plan.fleet, command: `umask 077; touch ${plan.dir}/fleet.$$`, wait_s: 1 });
  assert.equal(r.state, "awaiting_approval", JSON.stringify(r));
  assert.equal(r.hosts, plan.count);
  console.log("ask fleet");
  for (let i = 0; r.state !== "done" && i < 10; i++) r = await call("session_output", { exec_id: r.run ?? r.exec, wait_s: 50 });
  assert.equal(r.state, "done", JSON.stringify(r));
  assert.deepEqual(Object.keys(r.statuses), ["ok"], JSON.stringify(r.statuses));
});
await step("expired", async () => {
  const soon = await connect(plan.soon);
  // ends waits for the end of what nobody answers.
  const ends = async (r) => {
    for (let i = 0; r.state !== "done" && i < 5; i++) r = await call("session_output", { exec_id: r.run ?? r.exec, wait_s: 50 }, soon);
    assert.equal(r.state, "done", JSON.stringify(r));
    return r;
  };
  const session_id = await open(plan.alone, soon);
  const r = await ends(await call("session_exec", { session_id, command: "touch expired", wait_s: 1 }, soon));
  assert.equal(r.status, "expired", JSON.stringify(r));
  assert.equal(r.error.code, "expired");
  assert.equal((await call("session_exec", { session_id, command: "pwd" }, soon)).status, "ok");
  const all = await ends(await call("run", { targets: "all", command: `touch ${plan.dir}/expired`, wait_s: 1 }, soon));
  assert.deepEqual(Object.keys(all.statuses), ["expired"], JSON.stringify(all));
  await soon.close();
});
await call("session_close", { session_id: dev });
await call("session_close", { session_id: prod });
await client.close();
console.log("done");
