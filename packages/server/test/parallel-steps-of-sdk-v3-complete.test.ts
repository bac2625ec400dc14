/** Twenty steps at once, twenty runs in flight, no retries: every run completes with the published SDK, version 3. */

import { checkParallelSteps } from "./support/apps/parallel-checks.ts";
import { V3 } from "./support/apps/sdk-v3.ts";

checkParallelSteps(V3);
