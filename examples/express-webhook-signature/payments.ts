/**
 * A function for the webhooks of a payment provider. The function has the provider's secret and verifies the signature over the
 * raw body. A wrong signature fails without retries.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { Inlet, NonRetriableError } from "@inlet/sdk";

export const inlet = new Inlet({ id: "express-payments" });

const SECRET = process.env.PAYMENTS_SECRET;
if (!SECRET) throw new Error("Set PAYMENTS_SECRET to the secret that the provider signs with");

const book = inlet.createFunction({ id: "book-payment" }, { event: "payments/charge.succeeded" }, async ({ event, step }) => {
  const { raw, signature } = event.data as { raw: string; signature: string };
  if (!isSigned(raw, signature)) throw new NonRetriableError("The signature does not match");
  // Trust only the signed body, not the parsed payload.
  const payment = JSON.parse(raw) as { id: string; amount: number };
  return step.run("book", () => ({ booked: payment.id, amount: payment.amount }));
});

function isSigned(raw: string, signature: string): boolean {
  const expected = Buffer.from(
    `sha256=${createHmac("sha256", SECRET as string)
      .update(raw)
      .digest("hex")}`,
  );
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export const functions = [book];
