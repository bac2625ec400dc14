/** The dashboard in a real browser, against real services: events, lists, figures, and what is on every page. */

import { devServerCases } from "./cases/dev-server.ts";
import { eventTypeCases } from "./cases/event-types.ts";
import { eventCases } from "./cases/events.ts";
import { firstLoadCases } from "./cases/first-load.ts";
import { keyboardCases } from "./cases/keyboard.ts";
import { listCases } from "./cases/lists.ts";
import { statsCases } from "./cases/stats.ts";
import { weightCases } from "./cases/weight.ts";
import { describeCases } from "./support/shared-browser.ts";

describeCases("events and lists", [
  eventCases,
  listCases,
  keyboardCases,
  devServerCases,
  statsCases,
  eventTypeCases,
  firstLoadCases,
  weightCases,
]);
