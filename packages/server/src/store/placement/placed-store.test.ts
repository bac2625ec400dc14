/** The suite on a store of two databases, as far as more than one of them is asked: every environment is on the one that is not the directory. */

import { test } from "node:test";
import { openOnTwoDatabases } from "../../../test/support/conformance-store.ts";
import { whyNoPostgres } from "../../../test/support/postgres.ts";
import { placementConformance } from "../conformance/conformance.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("two databases: conformance", { skip });
else placementConformance({ name: "two databases", databaseNo: 1, open: openOnTwoDatabases });
