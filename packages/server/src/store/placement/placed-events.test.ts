/** The half of the suite about events, on a store of two databases: every environment is on the one that is not the directory. */

import { test } from "node:test";
import { openOnTwoDatabases } from "../../../test/support/conformance-store.ts";
import { whyNoPostgres } from "../../../test/support/postgres.ts";
import { eventConformance } from "../conformance/conformance.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("two databases: conformance of events", { skip });
else eventConformance({ name: "two databases", databaseNo: 1, open: openOnTwoDatabases });
