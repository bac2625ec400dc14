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

/** A JSON body of about `bytes` bytes, as providers send them: an envelope around a list of records. */
export function providerBody(bytes: number): string {
  const items: object[] = [];
  const envelope = () => JSON.stringify({ id: "evt_1NG8Du2eZvKYlo2C", type: "invoice.paid", created: 1_700_000_000, data: { items } });
  while (envelope().length < bytes) items.push({ id: `li_${items.length}`, amount: items.length * 10, description: "One line of it" });
  return envelope();
}

/** An event of about `bytes` bytes, to set beside a webhook request of that size. */
export function eventOfSize(bytes: number): string {
  return JSON.stringify({ name: EVENT.name, data: JSON.parse(providerBody(bytes)) });
}

export const FIELDS_EVENT_NAME = "shop/order.detailed";
const FIELD_NAMES = Array.from({ length: 20 }, (_, n) => `field${n}`);

const FIELD_KINDS = [
  { schema: { type: "string", minLength: 1, maxLength: 100 }, value: "ord_8f14e45fceea" },
  { schema: { type: "integer", minimum: 0 }, value: 1999 },
  { schema: { enum: ["EUR", "USD", "GBP"] }, value: "EUR" },
  { schema: { type: "boolean" }, value: true },
  { schema: { type: "array", items: { type: "string" }, maxItems: 10 }, value: ["inlet-mug", "inlet-shirt"] },
];

/** Of 20 fields, of five kinds in turn. */
export const FIELDS_SCHEMA = {
  type: "object",
  required: FIELD_NAMES,
  additionalProperties: false,
  properties: Object.fromEntries(FIELD_NAMES.map((name, n) => [name, FIELD_KINDS[n % 5]?.schema])),
};

function eventOfFields(): string {
  return JSON.stringify({
    name: FIELDS_EVENT_NAME,
    data: Object.fromEntries(FIELD_NAMES.map((name, n) => [name, FIELD_KINDS[n % 5]?.value])),
  });
}

/** The bodies a load generator can be asked for by name. */
export const BODIES: Readonly<Record<string, () => string>> = {
  event: () => requestBody(1),
  "batch-100": () => requestBody(100),
  "event-1kb": () => eventOfSize(1_000),
  "event-20-fields": eventOfFields,
  "webhook-1kb": () => providerBody(1_000),
  "webhook-96kb": () => providerBody(96 * 1024),
};
