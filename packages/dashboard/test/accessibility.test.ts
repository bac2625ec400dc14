/** The dashboard in a real browser, against a real service: accessibility and layout of every page. */

import { accessibilityCases } from "./cases/accessibility.ts";
import { describeCases } from "./support/shared-browser.ts";

describeCases("every page", [accessibilityCases]);
