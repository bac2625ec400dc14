/** The REST API's responses, as the dashboard uses them. Payloads stay text. */

export * from "./types/access.ts";
export * from "./types/environments.ts";
export * from "./types/event-types.ts";
export * from "./types/events.ts";
export * from "./types/functions.ts";
export * from "./types/runs.ts";
export * from "./types/webhooks.ts";
