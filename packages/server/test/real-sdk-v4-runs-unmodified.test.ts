/** Apps written with the published Inngest SDK, version 4, run here as they are. */

import { BARE_SIGNING_KEY, checkSdk, PREFIXED_SIGNING_KEY } from "./support/apps/sdk-checks.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { checkSyncs } from "./support/apps/sync-checks.ts";

checkSdk({ sdk: V4, mode: "dev" });
checkSdk({ sdk: V4, mode: "start", signingKey: PREFIXED_SIGNING_KEY });
checkSdk({ sdk: V4, mode: "start", checkpointing: false, signingKey: BARE_SIGNING_KEY });
checkSdk({ sdk: V4, mode: "dev", checkpointing: { bufferedSteps: 3 } });
checkSyncs(V4);
