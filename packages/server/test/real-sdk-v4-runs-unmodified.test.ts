/** Apps written with the published Inngest SDK, version 4, run here as they are: in dev and in production, on both stores. */

import { BARE_SIGNING_KEY, checkSdk, PREFIXED_SIGNING_KEY } from "./support/apps/sdk-checks.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { checkSyncs } from "./support/apps/sync-checks.ts";
import { checkTraces } from "./support/apps/trace-checks.ts";

checkSdk(V4, [
  { mode: "start", store: "sqlite", cases: "all", signingKey: PREFIXED_SIGNING_KEY },
  { mode: "start", store: "postgres", cases: "main", signingKey: PREFIXED_SIGNING_KEY },
  { mode: "dev", store: "sqlite", cases: "main", checkpointing: { bufferedSteps: 3 } },
  { mode: "dev", store: "postgres", cases: "main" },
  { mode: "start", store: "sqlite", cases: "all", checkpointing: false, signingKey: BARE_SIGNING_KEY },
]);
checkSyncs(V4);
checkTraces(V4);
