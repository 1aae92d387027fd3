// Counts the characters that one repair costs a model, in both directions, through fairlead and through npm's ssh-mcp.
// The only argument is JSON: {fairlead: {command, args, env}, sshmcp: {command, args, env}, host, dir: {fairlead, sshmcp}}.
// What counts is what a client shows its model: the arguments of each call as JSON, and of the answer the text, or the
// structured content as JSON where there is one. Both run the same commands (steps.json) in a session.

import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const plan = JSON.parse(process.argv[2]);
const steps = JSON.parse(readFileSync(new URL("steps.json", import.meta.url)));

async function repair(name, calls) {
  const { command, args, env } = plan[name];
  const client = new Client({ name: "repair", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  const cost = { calls: 0, sent: 0, text: 0, structured: 0 };
  for (const [tool, input] of calls) {
    const r = await client.callTool({ name: tool, arguments: input });
    const text = r.content.map((c) => c.text ?? "").join("\n");
    const structured = r.structuredContent ? JSON.stringify(r.structuredContent) : text;
    cost.calls++;
    cost.sent += JSON.stringify(input).length;
    cost.text += text.length;
    cost.structured += structured.length;
    if (process.env.SHOW) console.log(`--- ${name} ${tool} ${JSON.stringify(input)}\n${text}\n${structured}`);
  }
  const tools = JSON.stringify((await client.listTools()).tools).length;
  await client.close();
  return { ...cost, tools };
}

const ours = plan.fairlead && await repair("fairlead", [
  ["session_open", { host: plan.host, name: "fix", cwd: plan.dir.fairlead }],
  ...steps.map((command) => ["session_exec", { session_id: "fix", command }]),
]);
const theirs = await repair("sshmcp", [
  ["open-session", { name: "fix", profile: plan.host }],
  ["run-command", { session: "fix", command: `cd ${plan.dir.sshmcp}` }],
  ...steps.map((command) => ["run-command", { session: "fix", command }]),
]);

const bar = theirs.sent + theirs.text;
const line = (who, sent, got, tools) =>
  console.log(`${who.padEnd(28)} ${String(sent).padStart(6)} sent ${String(got).padStart(6)} received ${String(sent + got).padStart(6)} in all  ${((sent + got) / bar).toFixed(2)} ×  tool list ${tools}`);
line("ssh-mcp", theirs.sent, theirs.text, theirs.tools);
if (ours) {
  line("fairlead, text only", ours.sent, ours.text, ours.tools);
  line("fairlead, structured only", ours.sent, ours.structured, ours.tools);
}
console.log(JSON.stringify({ theirs, ours }));
