/** The dashboard in a real browser, against real services: webhooks, branches, keys and sign-in. */

import { branchCases } from "./cases/branches.ts";
import { environmentAdminCases } from "./cases/environment-admin.ts";
import { keyCases } from "./cases/keys.ts";
import { signInCases } from "./cases/sign-in.ts";
import { webhookCases } from "./cases/webhooks.ts";
import { describeCases } from "./support/shared-browser.ts";

describeCases("webhooks and access", [webhookCases, branchCases, keyCases, environmentAdminCases, signInCases]);
