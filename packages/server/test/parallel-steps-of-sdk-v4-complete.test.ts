/** Twenty steps at once, twenty runs in flight, no retries: every run completes with the published SDK, version 4. */

import { checkParallelSteps } from "./support/apps/parallel-checks.ts";
import { V4 } from "./support/apps/sdk-v4.ts";

checkParallelSteps(V4);
