/** The shapes of sessions, and of who is signed in, in REST. */

import { API_ROLES } from "../../store/contract/index.ts";
import { BOOLEAN, INSTANT, INSTANT_OR_NULL, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

const ROLE = { type: "string", enum: API_ROLES };
export const SIGNED_IN = shape({ role: ROLE, name: TEXT, expiresAt: INSTANT_OR_NULL });
export const WHO = shape(
  {
    required: { ...BOOLEAN, description: "False on a dev server, which has no sign-in." },
    role: ROLE,
    name: TEXT,
    expiresAt: { ...INSTANT_OR_NULL, description: "When the session ends unless it is used; null without a session." },
    mode: { type: "string", enum: ["dev", "start"] },
    version: TEXT,
    store: { type: "string", enum: ["sqlite", "postgres"], description: "What keeps the data: an embedded database, or PostgreSQL." },
    archive: { ...BOOLEAN, description: "Whether old events are archived (`--archive`), so that they can be listed with `archived=true`." },
    environments: { type: ["array", "null"], items: TEXT, description: "Where the caller has a role; null: everywhere." },
    defaultEnvironment: { ...TEXT, description: "The installation's own, or the first that the caller may see." },
  },
  { title: "SignedIn" },
);
export const SESSION = shape(
  {
    id: TEXT,
    name: { type: "string", description: "The name of the API key it was opened with, or `login link`." },
    role: ROLE,
    ip: TEXT,
    userAgent: TEXT_OR_NULL,
    createdAt: INSTANT,
    lastSeenAt: INSTANT,
    expiresAt: INSTANT,
    current: { ...BOOLEAN, description: "Whether this is the current session." },
  },
  { title: "Session" },
);
