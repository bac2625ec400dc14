/** The half of the suite about runs, on a store of two databases: every environment is on the one that is not the directory. */

import { test } from "node:test";
import { openOnTwoDatabases } from "../../../test/support/conformance-store.ts";
import { whyNoPostgres } from "../../../test/support/postgres.ts";
import { runConformance } from "../conformance/conformance.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("two databases: conformance of runs", { skip });
else runConformance({ name: "two databases", databaseNo: 1, open: openOnTwoDatabases });
