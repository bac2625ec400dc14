/** A real app with functions, written with our SDK, that a service under test can call. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inlet, NonRetriableError } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";

export interface ShopApp {
  url: string;
  /** Unblocks the packing step of every run. */
  open(): void;
  stop(): Promise<void>;
}

const NAP = "1s";
/** Any other is declined. */
export const VALID_CARD = "tok_valid";

/** For a dev server, unless it has a key. */
export async function startShopApp(serviceUrl: string, signingKey?: string): Promise<ShopApp> {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const inlet = new Inlet({ id: "shop", baseUrl: serviceUrl, isDev: signingKey === undefined, signingKey, logger: QUIET });
  const functions = [
    inlet.createFunction({ id: "fulfil", name: "Fulfil order" }, { event: "shop/order.created" }, async ({ event, step, logger }) => {
      logger.info("Order", event.data.orderId);
      const label = await step.run("Buy a label", () => {
        logger.warn("The carrier is slow", { carrier: "DHL" });
        return { carrier: "DHL", tracking: `JD${event.data.orderId}`, order: event.data.orderId };
      });
      await step.sleep("Let the warehouse breathe", NAP);
      await step.run("Pack the parcel", () => gate.then(() => "packed"));
      await step.sendEvent("Announce it", { name: "shop/order.shipped", data: { label } });
      return { shipped: true, label };
    }),
    inlet.createFunction({ id: "charge", name: "Charge card" }, { event: "shop/payment.due" }, async ({ event, step }) => {
      await step.run("Ask the bank", () => {
        if (event.data.card !== VALID_CARD) throw new NonRetriableError("The card was declined");
      });
    }),
    inlet.createFunction(
      { id: "remind", name: "Remind of the cart", cancelOn: [{ event: "shop/cart.deleted" }] },
      { event: "shop/cart.left" },
      async ({ event, step }) => {
        if (event.data.asks) {
          await step.sleep("Until tomorrow", "1d");
          return step.waitForSignal("Until somebody agrees", { signal: "discount", timeout: "1d" });
        }
        await step.waitForEvent("Until they pay", { event: "shop/order.created", timeout: "2h" });
      },
    ),
    inlet.createFunction(
      { id: "deliver", name: "Deliver in order", ordering: { key: "event.data.customer", onFailure: "hold" } },
      { event: "shop/delivery.due" },
      async ({ event }) => {
        if (!event.data.address) throw new NonRetriableError("The address is missing");
      },
    ),
    inlet.createFunction({ id: "refund", name: "Refund order" }, { event: "shop/refund.asked" }, ({ event, step }) =>
      step.waitForApproval("Ask the manager", { prompt: `Refund order ${event.data.orderId}?`, data: event.data, timeout: "1d" }),
    ),
    inlet.createFunction({ id: "invoice", name: "Write invoices" }, { event: "shop/month.ended" }, async ({ step, attempt }) => {
      await step.run("Ask the ledger", () => {
        if (attempt < 2) throw new Error("The ledger is locked");
      });
      for (let n = 1; n <= 4; n++) await step.run("Write an invoice", () => ({ invoice: n }));
    }),
  ];
  const server = createServer(serve({ client: inlet, functions }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inlet`,
    open,
    async stop() {
      open();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
