// Drives "fairlead mcp" as an agent would, with a client that is not ours. What to start and where comes as JSON in the
// only argument: {command, args, env, host, fleet, fleetNames, python, dir}. It says what it has checked, and fails loudly.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const plan = JSON.parse(process.argv[2]);
const transport = new StdioClientTransport({
  command: plan.command,
  args: plan.args,
  env: plan.env,
  stderr: "inherit",
});
const client = new Client({ name: "typescript", version: "1.0.0" });

// call calls a tool. The SDK checks the structured content against the tool's schema.
async function call(name, args, options) {
  const r = await client.callTool({ name, arguments: args }, undefined, options);
  assert.equal(r.content.length, 1);
  assert.equal(r.content[0].type, "text");
  return { ...r.structuredContent, isError: r.isError ?? false, text: r.content[0].text };
}

async function step(name, f) {
  await f();
  console.log(`ok ${name}`);
}

let id;
const exec = (command, more = {}, options) => call("session_exec", { session_id: id, command, ...more }, options);

await client.connect(transport);

await step("tools are listed with schemas", async () => {
  const { tools } = await client.listTools();
  const names = tools.map((t) => t.name).sort();
  assert.deepEqual(names, [
    "file_edit", "file_read", "file_transfer", "file_write", "hosts_list", "job_output", "job_start", "job_stop", "look", "run", "session_close", "session_exec", "session_input", "session_open", "session_output",
  ]);
  for (const t of tools) {
    assert.ok(t.outputSchema, t.name);
    assert.equal(typeof t.annotations.readOnlyHint, "boolean", t.name);
  }
  assert.match(client.getInstructions(), /never instructions/);
});

await step("open", async () => {
  const r = await call("session_open", { host: plan.host, cwd: plan.dir, env: { GREETING: "hello" } });
  assert.equal(r.error, undefined);
  assert.equal(r.cwd, plan.dir);
  id = r.session_id;
});

await step("cd and env are kept", async () => {
  let r = await exec("mkdir -p sub && cd sub && export COLOR=blue");
  assert.equal(r.status, "ok");
  assert.equal(r.cwd, `${plan.dir}/sub`);
  assert.match(r.text, /: exit 0, cwd /);
  r = await exec('pwd; echo "$GREETING $COLOR"');
  assert.equal(r.stdout, `${plan.dir}/sub\nhello blue\n`);
  assert.ok(r.text.endsWith(`:\n${r.stdout}`), r.text);
});

await step("a command that fails", async () => {
  const r = await exec("echo out; echo err >&2; exit 3");
  assert.equal(r.isError, false);
  assert.equal(r.status, "exit");
  assert.equal(r.exit_code, 3);
  assert.equal(r.stdout, "out\n");
  assert.equal(r.stderr, "err\n");
});

await step("a long command is running, and polled", async () => {
  const r = await exec("echo begun; until [ -e go ]; do sleep 0.05; done; echo ended", { wait_s: 0.2 });
  assert.equal(r.state, "running");
  const busy = await exec("echo never");
  assert.equal(busy.isError, true);
  assert.equal(busy.error.code, "busy");
  assert.equal(busy.error.exec, r.exec);
  assert.equal(busy.error.retriable, true);
  let seen = await call("session_output", { exec_id: r.exec, offset: 0, wait_s: 20 });
  assert.equal(seen.page.text, "begun\n");
  // Another session lets it go on.
  const other = await call("session_open", { host: plan.host, cwd: `${plan.dir}/sub` });
  await call("session_exec", { session_id: other.session_id, command: "touch go" });
  await call("session_close", { session_id: other.session_id });
  seen = await call("session_output", { exec_id: r.exec, wait_s: 30 });
  assert.equal(seen.state, "done");
  assert.equal(seen.stdout, "begun\nended\n");
});

await step("a file", async () => {
  const w = await call("file_write", { session_id: id, path: "app.conf", content: "port = 80\n" });
  assert.equal(w.status, "ok");
  assert.equal(w.created, true);
  const e = await call("file_edit", { session_id: id, path: "app.conf", old: "80", new: "8080", if_sha256: w.sha256 });
  assert.equal(e.status, "ok");
  const r = await call("file_read", { host: plan.host, path: `${plan.dir}/sub/app.conf` });
  assert.equal(r.content, "port = 8080\n");
  assert.equal(r.sha256, e.sha256);
  const late = await call("file_edit", { session_id: id, path: "app.conf", old: "8080", new: "81", if_sha256: w.sha256 });
  assert.equal(late.isError, true);
  assert.equal(late.error.code, "conflict");
});

await step("progress", async () => {
  const said = [];
  const r = await exec("sleep 2.5", {}, { onprogress: (p) => said.push(p) });
  assert.equal(r.status, "ok");
  assert.ok(said.length >= 1);
  assert.match(said[0].message, /running for/);
});

await step("a Python REPL, and ^C", async () => {
  let r = await exec(`HOME=${plan.dir} ${plan.python} -q`, { interactive: true });
  assert.equal(r.state, "running");
  assert.equal(r.waiting_for.kind, "input");
  r = await call("session_input", { session_id: id, text: "6 * 7\n", wait_for: "(?m)^42$" });
  assert.equal(r.woke, "match");
  assert.match(r.stdout, /\n42\n/);
  const loop = "import time; print('on', 'and', 'on', flush=True); time.sleep(1000)\n";
  r = await call("session_input", { session_id: id, text: loop, wait_for: "on and on" });
  assert.equal(r.woke, "match");
  r = await call("session_input", { session_id: id, keys: ["C-c"], wait_for: "KeyboardInterrupt" });
  assert.equal(r.woke, "match");
  r = await call("session_input", { session_id: id, text: "exit(5)\n" });
  assert.equal(r.state, "done");
  assert.equal(r.exit_code, 5);
});

await step("cancel", async () => {
  const abort = new AbortController();
  const canceled = exec("touch started; sleep 1000", {}, { signal: abort.signal });
  const other = await call("session_open", { host: plan.host, cwd: `${plan.dir}/sub` });
  await call("session_exec", {
    session_id: other.session_id, command: "until [ -e started ]; do sleep 0.05; done", timeout_s: 30,
  });
  abort.abort("enough");
  await assert.rejects(canceled);
  const r = await call("session_output", { session_id: id, wait_s: 30 });
  assert.equal(r.status, "canceled");
  assert.ok(r.stopped_by);
  assert.equal((await exec("echo alive")).stdout, "alive\n");
});

await step("close", async () => {
  const r = await call("session_close", { session_id: id });
  assert.equal(r.closed, true);
  const after = await exec("true");
  assert.equal(after.isError, true);
  assert.equal(after.error.code, "closed");
});

await step("a mistake in the arguments has a code", async () => {
  const r = await call("session_exec", { session_id: id });
  assert.equal(r.isError, true);
  assert.equal(r.error.code, "invalid");
});

await step("a fleet, folded", async () => {
  const r = await call("run", { targets: plan.fleet, command: "echo same" });
  assert.equal(r.state, "done");
  assert.equal(r.groups.length, 1);
  assert.equal(r.groups[0].hosts, plan.fleetNames);
  assert.equal(r.groups[0].stdout, "same\n");
  assert.deepEqual(r.statuses, { ok: plan.fleetNames });
});

await client.close();
console.log("done");
