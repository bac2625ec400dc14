/** Apps written with the published Inngest SDK, version 3, run here as they are: in dev and in production, on both stores. */

import { BARE_SIGNING_KEY, checkSdk, PREFIXED_SIGNING_KEY } from "./support/apps/sdk-checks.ts";
import { V3 } from "./support/apps/sdk-v3.ts";
import { checkSyncs } from "./support/apps/sync-checks.ts";
import { checkTraces } from "./support/apps/trace-checks.ts";

checkSdk(V3, [
  { mode: "start", store: "sqlite", cases: "all", signingKey: BARE_SIGNING_KEY },
  { mode: "start", store: "postgres", cases: "main", signingKey: PREFIXED_SIGNING_KEY },
  { mode: "dev", store: "sqlite", cases: "main" },
  { mode: "dev", store: "postgres", cases: "main" },
]);
checkSyncs(V3);
checkTraces(V3);
