/** `inlet apps check` with the published SDK v3, which cannot share a process with v4. */

import { test } from "node:test";
import { checkBuilds, published } from "./support/checked-build.ts";

test("SDK v3: a renamed step is a line for each run that waits in it, and no step runs", (t) => checkBuilds(t, published("inngest-v3")));
