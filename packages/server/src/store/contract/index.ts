export * from "./dedup-keys.ts";
export * from "./environments.ts";
export * from "./events.ts";
export * from "./keys.ts";
export * from "./store.ts";
export * from "./store-text.ts";
export * from "./webhook-requests.ts";
export * from "./webhooks.ts";
