/**
 * Which tool a route of the REST API belongs to. Its path says it: `GET /v1/events/:id/runs` is the part `runs` of `events_read`, and
 * `POST /v1/runs/:id/cancel` the action `cancel` of `runs_write`. This file holds what a path does not say.
 */

export const ACTIONS = ["rerun", "replay", "cancel", "pause", "resume", "test", "save", "start"] as const;
export type Action = (typeof ACTIONS)[number];

/** Whether an action can end, change or replace something. The others only add to what is there. */
export const IS_DESTRUCTIVE: Readonly<Record<Action, boolean>> = {
  rerun: false,
  replay: false,
  cancel: true,
  pause: true,
  resume: true,
  test: false,
  save: true,
  start: true,
};

export interface ToolPlace {
  /** As in `<resource>_read`. */
  resource: string;
  /** What of the resource, if not itself. */
  part: string | null;
}

/** Who may do what is decided by people: keys and sessions have no tools. */
const WITHOUT_TOOLS: ReadonlySet<string> = new Set(["keys", "session", "sessions", "openapi.json"]);

/** Resources that `save` creates and changes. Others that can be created, such as environments, contain secrets or ask people. */
const SAVED: ReadonlySet<string> = new Set(["webhooks", "event_types", "alert_rules"]);

const REQUESTS: ToolPlace = { resource: "requests", part: null };
const FIGURES: ToolPlace = { resource: "figures", part: null };

const PLACES: Readonly<Record<string, readonly ToolPlace[]>> = {
  "/webhooks/:id/requests": [REQUESTS],
  "/webhooks/:id/requests/:requestId": [REQUESTS],
  "/webhooks/:id/requests/:requestId/replay": [{ ...REQUESTS, part: "replay" }],
  "/stats": [FIGURES],
  "/functions/:id/stats": [FIGURES],
  "/functions/figures": [{ ...FIGURES, part: "functions" }],
  "/webhooks/health": [{ ...FIGURES, part: "webhooks" }],
  // A transform is tested before there is a webhook that has it.
  "/transforms/test": [
    { resource: "transforms", part: "test" },
    { resource: "webhooks", part: "test" },
  ],
};

/** `path` is below /v1. */
export function placesOf(path: string): readonly ToolPlace[] {
  const [first = "", ...rest] = path.split("/").filter((word) => word !== "" && !word.startsWith(":"));
  if (WITHOUT_TOOLS.has(first)) return [];
  return PLACES[path] ?? [{ resource: first.replaceAll("-", "_"), part: rest.join("/") || null }];
}

/** The action of a route that writes; null: it is not offered as a tool. */
export function actionOf(method: string, path: string, { resource, part }: ToolPlace): Action | null {
  if (method === "post" && path === "/jobs") return "start";
  if (part === null) return SAVED.has(resource) && ["post", "put"].includes(method) ? "save" : null;
  return method === "post" && part !== "save" && part !== "start" ? (ACTIONS.find((action) => action === part) ?? null) : null;
}
