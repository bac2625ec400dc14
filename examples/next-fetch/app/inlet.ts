/** The client and the functions of the app. */

import { Inlet } from "@inlet/sdk";

export const inlet = new Inlet({ id: "next-fetch" });

const welcome = inlet.createFunction({ id: "welcome" }, { event: "app/user.signed-up" }, async ({ event, step, logger }) => {
  await step.run("first mail", () => logger.info(`welcome, ${event.data.name}`));
  const confirmed = await step.waitForEvent("confirmation", { event: "app/user.confirmed", timeout: "3d", match: "data.userId" });
  if (confirmed) return "confirmed";
  await step.run("reminder", () => logger.info(`still there, ${event.data.name}?`));
  return "reminded";
});

export const functions = [welcome];
