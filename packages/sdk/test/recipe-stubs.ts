/** What the recipes in docs/how-to take for granted: the reader's own code, reduced to its types and a plausible answer. */

/** The pages whose examples are compiled and run with these. */
export const RECIPES = ["idempotent-charges", "fan-out", "rate-limited-api", "human-approval", "nightly-job", "file-upload"].map(
  (name) => `how-to/${name}.md`,
);

export const RECIPE_STUBS = `
const payments = {
  charge: async (_charge: { customerId: string; amount: number }, _options: { idempotencyKey: string }) => ({ id: "ch_1" }),
  refund: async (_refundId: string) => undefined,
};
const mail = { send: async (_to: string, _text: string) => undefined };
const crm = { update: async (_account: string, _contact: object) => ({ status: 200, retryAfter: "30s" }) };
const database = {
  readers: async () => ["ada@example.com", "bob@example.com"],
  orders: async () => [{ id: "4711", total: 1250 }],
  importPrices: async (_lines: string[]) => undefined,
};
const storage = { read: async (_key: string) => "1,100\\n2,200\\n" };
export const taken = { payments, mail, crm, database, storage };
`;
