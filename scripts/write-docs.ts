/** Writes the generated references: configuration, errors, REST and CLI. A test fails if they are out of date. */

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { REFERENCES } from "./references.ts";

for (const [file, text] of Object.entries(REFERENCES)) {
  writeFileSync(fileURLToPath(new URL(`../docs/${file}`, import.meta.url)), text);
  console.log(`docs/${file}`);
}
