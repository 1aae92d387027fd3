// Calls a keeper over TLS with a client that was made from its document, as an operator, an agent and an approver. Every
// answer is checked against the document too.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";
import { check } from "./answers.mjs";

declare const process: { argv: string[] };

interface Plan {
  url: string;
  host: string;
  dir: string; // an empty directory on the host
  tokens: { admin: string; agent: string; approver: string };
}
const plan = JSON.parse(process.argv[2]!) as Plan;

type Command = components["schemas"]["Command"];

function as(token: string) {
  const client = createClient<paths>({ baseUrl: plan.url, headers: { Authorization: `Bearer ${token}` } });
  client.use({
    async onResponse({ schemaPath, request, response }) {
      await check(schemaPath, request.method, response.clone());
    },
  });
  return client;
}
const admin = as(plan.tokens.admin);
const agent = as(plan.tokens.agent);
const approver = as(plan.tokens.approver);
const nobody = as("fairlead_nobody");

function same(what: string, got: unknown, want: unknown) {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
}

// expect returns the body of an answer with this status.
function expect<T>(what: string, status: number, got: { response: Response; data?: T; error?: unknown }): T {
  if (got.response.status !== status) {
    throw new Error(`${what}: ${got.response.status}, want ${status}: ${JSON.stringify(got.error ?? got.data)}`);
  }
  return got.data as T;
}

// refused checks an error: its status, its code, and that it is one of ours.
function refused(what: string, status: number, code: string, got: { response: Response; error?: components["schemas"]["Problem"] }) {
  same(`${what}: the status`, got.response.status, status);
  same(`${what}: the status in the body`, got.error?.status, status);
  same(`${what}: the code`, got.error?.code, code);
}

same("health", expect("health", 200, await agent.GET("/healthz")).status, "ok");
refused("a token that nobody has", 401, "auth", await nobody.GET("/v1/hosts"));
same("hosts", expect("hosts", 200, await agent.GET("/v1/hosts")).items.some((h) => h.name === plan.host), true);

// A sandbox is made by a person for an agent.
const owner = "agent/claude";
const box = expect("a sandbox", 201, await admin.POST("/agent/terminal/sandboxes", {
  body: { owner_principal_id: owner, host: plan.host, label: "work", path: plan.dir },
}));
same("its owner", box.owner_principal_id, owner);
same("it is active", box.is_active, true);
const at = { params: { path: { id: box.sandbox_id } } };
refused("an agent makes no sandboxes", 403, "forbidden", await agent.POST("/agent/terminal/sandboxes", { body: { host: plan.host, path: "/tmp" } }));
same("the same one", expect("a look", 200, await agent.GET("/agent/terminal/sandboxes/{id}", at)), box);

const post = (command: string, key?: string) =>
  agent.POST("/agent/terminal/commands", {
    params: { header: key === undefined ? {} : { "Idempotency-Key": key } },
    body: { sandbox_id: box.sandbox_id, command, reason: "to see" },
  });
const of = (c: Command) => ({ params: { path: { id: c.command_id } } });

// One that runs.
const ran = expect("a command that is allowed", 201, await post("pwd", "one"));
same("it has run", [ran.status, ran.outcome, ran.stdout, ran.exit_code, ran.approved_by], ["executed", "ok", plan.dir + "\n", 0, ""]);
same("its Result", ran.exec?.status, "ok");
same("once for one key", expect("again", 201, await post("pwd", "one")).command_id, ran.command_id);
refused("another request with the key", 409, "conflict", await post("ls", "one"));

// One that asks, is approved and runs.
const asked = expect("a command that asks", 202, await post("touch made; echo done"));
same("it waits", [asked.status, asked.verdict, asked.exit_code, asked.exec], ["pending", "ask", null, null]);
refused("no agent approves", 403, "forbidden", await agent.POST("/agent/terminal/commands/{id}/approve", of(asked)));
refused("what waits cannot be frozen", 409, "conflict", await agent.POST("/agent/terminal/commands/{id}/finalize", of(asked)));
const waiting = expect("what waits", 200, await approver.GET("/v1/approvals"));
same("one waits", waiting.items.length, 1);
const shown = expect("in full", 200, await approver.GET("/v1/approvals/{id}", { params: { path: { id: waiting.items[0]!.id } } }));
same("the exact bytes are shown", atob(shown.document).includes("touch made; echo done"), true);
const approved = expect("a yes", 200, await approver.POST("/agent/terminal/commands/{id}/approve", of(asked)));
same("it has run", [approved.status, approved.stdout, approved.exit_code], ["executed", "done\n", 0]);
same("by whose yes", approved.approved_by, "operator/carol");
refused("a second yes", 409, "conflict", await approver.POST("/agent/terminal/commands/{id}/approve", of(asked)));
refused("a late no", 409, "conflict", await approver.POST("/agent/terminal/commands/{id}/reject", { ...of(asked), body: {} }));

// One that is rejected, by a person and by the policy.
const doomed = expect("another that asks", 202, await post("rm made"));
const rejected = expect("a no", 200, await approver.POST("/agent/terminal/commands/{id}/reject", { ...of(doomed), body: { reason: "keep it" } }));
same("it never ran", [rejected.status, rejected.reason, rejected.exit_code], ["rejected", "keep it", null]);
const denied = expect("one that the policy denies", 201, await post("sudo id"));
same("it never ran either", [denied.status, denied.verdict, denied.reason !== ""], ["rejected", "deny", true]);

// What has ended is frozen, once and again.
for (const c of [ran, approved, rejected, denied]) {
  const frozen = expect("freezing", 200, await agent.POST("/agent/terminal/commands/{id}/finalize", of(c)));
  same("it is frozen", typeof frozen.finalized_at, "string");
  same("for good", expect("again", 200, await agent.POST("/agent/terminal/commands/{id}/finalize", of(c))), frozen);
  same("as it was", expect("a look", 200, await agent.GET("/agent/terminal/commands/{id}", of(c))).status, c.status);
}

// Lists come in parts.
const seen: string[] = [];
let cursor = "";
do {
  const part = expect("a part", 200, await agent.GET("/agent/terminal/commands", {
    params: { query: { sandbox_id: box.sandbox_id, limit: 3, cursor } },
  }));
  seen.push(...part.items.map((c) => c.command_id));
  cursor = part.next_cursor;
} while (cursor !== "");
same("all of them, the newest first", seen, [denied, doomed, asked, ran].map((c) => c.command_id));
refused("no cursor of ours", 422, "invalid", await agent.GET("/agent/terminal/commands", { params: { query: { cursor: "nonsense" } } }));
same("those that have run", expect("by status", 200, await agent.GET("/agent/terminal/commands", {
  params: { query: { status: "executed" } },
})).items.length, 2);

// The record has it all.
same("the record", expect("the check", 200, await approver.GET("/v1/audit/verify")).ok, true);
same("its end", expect("the record", 200, await approver.GET("/v1/audit", { params: { query: { n: 5 } } })).items.length, 5);

// Nothing runs in a sandbox that is shut or gone.
expect("shutting it", 200, await admin.PATCH("/agent/terminal/sandboxes/{id}", { ...at, body: { is_active: false } }));
refused("one that is shut", 409, "conflict", await post("pwd"));
expect("deleting it", 204, await admin.DELETE("/agent/terminal/sandboxes/{id}", at));
refused("a look at what is gone", 404, "not_found", await agent.GET("/agent/terminal/sandboxes/{id}", at));
refused("a change of what is gone", 404, "not_found", await admin.PATCH("/agent/terminal/sandboxes/{id}", { ...at, body: { label: "x" } }));
refused("deleting it again", 404, "not_found", await admin.DELETE("/agent/terminal/sandboxes/{id}", at));
refused("a command in what is gone", 404, "not_found", await post("pwd"));
same("its commands stay", expect("a look", 200, await agent.GET("/agent/terminal/commands/{id}", of(ran))).command_id, ran.command_id);
console.log("done");
