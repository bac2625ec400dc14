/** Apps written with the published Inngest SDK, version 3, run here as they are. */

import { BARE_SIGNING_KEY, checkSdk } from "./support/apps/sdk-checks.ts";
import { V3 } from "./support/apps/sdk-v3.ts";
import { checkSyncs } from "./support/apps/sync-checks.ts";

checkSdk({ sdk: V3, mode: "dev" });
checkSdk({ sdk: V3, mode: "start", signingKey: BARE_SIGNING_KEY });
checkSyncs(V3);
