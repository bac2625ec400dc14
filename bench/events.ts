/** The events every benchmark sends: an ordinary order of about 300 bytes. */

const EVENT = {
  name: "shop/order.created",
  data: {
    orderId: "ord_8f14e45fceea",
    amount: 19_99,
    currency: "EUR",
    customer: { id: "cus_6512bd43d9", email: "someone@example.com", country: "PT" },
    items: [
      { sku: "inlet-mug", quantity: 2 },
      { sku: "inlet-shirt", quantity: 1 },
    ],
  },
};

export function requestBody(events: number): string {
  return JSON.stringify(events === 1 ? EVENT : Array.from({ length: events }, () => EVENT));
}

export const EVENT_NAME = EVENT.name;
export const EVENT_DATA = JSON.stringify(EVENT.data);
