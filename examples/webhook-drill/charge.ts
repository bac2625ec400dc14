/** A function that is not idempotent: it charges on each run, and nothing says which runs are about the same payment. */

import { Inlet } from "@inlet/sdk";

export const inlet = new Inlet({ id: "drilled-shop" });

const charge = inlet.createFunction({ id: "charge" }, { event: "stripe/*" }, async ({ event, step }) => {
  return step.run("charge", () => ({ charged: event.name }));
});

export const functions = [charge];
