/** A shop: the event "shop/order.created" starts two functions. One of them sends an event that starts a third. */

import { Inlet, NonRetriableError } from "@inlet/sdk";

export const inlet = new Inlet({ id: "node-shop" });

const ship = inlet.createFunction(
  { id: "ship", retries: 3, onFailure: ({ error, logger }) => logger.error(`could not ship: ${error.message}`) },
  { event: "shop/order.created" },
  async ({ event, step }) => {
    if (!event.data.orderId) throw new NonRetriableError("The order has no id");
    const [label, box] = await Promise.all([
      step.run("buy label", () => ({ tracking: `T-${event.data.orderId}` })),
      step.run("pack", () => ({ boxes: Math.ceil((event.data.items?.length ?? 1) / 3) })),
    ]);
    await step.sleep("wait for the van", "1s");
    await step.sendEvent("announce", {
      name: "shop/order.shipped",
      data: { orderId: event.data.orderId, tracking: label.tracking, boxes: box.boxes },
    });
    return label;
  },
);

const invoice = inlet.createFunction({ id: "invoice" }, { event: "shop/order.created" }, async ({ event, step }) => {
  const number = await step.run("write", () => `INV-${event.data.orderId}`);
  return { number };
});

const notify = inlet.createFunction({ id: "notify" }, { event: "shop/order.shipped" }, async ({ event, step, logger }) => {
  await step.run("send mail", () => logger.info(`order ${event.data.orderId} is on its way: ${event.data.tracking}`));
});

export const functions = [ship, invoice, notify];
