/** A file of its own, so that it runs beside the other half of the suite. */

import { test } from "node:test";
import { openForConformance } from "../../../test/support/conformance-store.ts";
import { whyNoPostgres } from "../../../test/support/postgres.ts";
import { runConformance } from "../conformance/conformance.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("postgres: conformance of runs", { skip });
else runConformance({ name: "postgres", open: openForConformance });
