/** The dashboard in a real browser, against real services: runs, jobs, alerts, and a service that restarts. */

import { alertCases } from "./cases/alerts.ts";
import { approvalCases } from "./cases/approvals.ts";
import { repairCases } from "./cases/repair.ts";
import { restartCases } from "./cases/restart.ts";
import { runCases } from "./cases/runs.ts";
import { describeCases } from "./support/shared-browser.ts";

describeCases("runs and repair", [repairCases, alertCases, approvalCases, runCases, restartCases]);
