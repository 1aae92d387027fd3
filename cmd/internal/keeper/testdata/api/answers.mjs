// Checks that an answer is one that the document tells of.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const doc = JSON.parse(readFileSync("openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
for (const name of ["int64", "int32", "double", "float"]) ajv.addFormat(name, true);
ajv.addSchema(doc, "doc");

const pointer = (...parts) => "doc#/" + parts.map((p) => encodeURIComponent(p.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");

/** Throws where the answer to a request for a path of the document is another than it says. */
export async function check(path, method, answer) {
  const what = `${method} ${path}: ${answer.status}`;
  const said = doc.paths[path][method.toLowerCase()].responses;
  const status = String(answer.status) in said ? String(answer.status) : "default";
  if (status === "default" && answer.ok) throw new Error(`${what} is not in the document`);
  const text = await answer.text();
  const content = said[status].content;
  if (!content) {
    if (text !== "") throw new Error(`${what} has a body that is not in the document: ${text}`);
    return;
  }
  const type = (answer.headers.get("content-type") ?? "").split(";")[0];
  if (!(type in content)) throw new Error(`${what} is ${type}, and the document says ${Object.keys(content)}`);
  if (!type.endsWith("json")) return;
  const valid = ajv.getSchema(pointer("paths", path, method.toLowerCase(), "responses", status, "content", type, "schema"));
  if (!valid(JSON.parse(text))) throw new Error(`${what}: ${ajv.errorsText(valid.errors)}: ${text}`);
}
