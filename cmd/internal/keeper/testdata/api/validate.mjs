// Checks that openapi.json is an OpenAPI 3.1 document.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const said = await validator.validate(JSON.parse(readFileSync("openapi.json", "utf8")));
if (!said.valid) {
  console.error(JSON.stringify(said.errors, null, 1));
  process.exit(1);
}
if (validator.version !== "3.1") {
  console.error(`it is taken for version ${validator.version}`);
  process.exit(1);
}
console.log("valid");
