/** Twenty steps at once, fifty runs in flight, no retries: every run completes with our SDK. */

import { checkParallelSteps } from "./support/apps/parallel-checks.ts";

checkParallelSteps("own");
