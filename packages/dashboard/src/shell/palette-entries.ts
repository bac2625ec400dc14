/** The entries of the palette: pages, functions, event types, environments and actions. */

import { useQuery } from "@tanstack/react-query";
import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { environmentsQuery, eventTypesQuery, functionsQuery } from "../api/queries.ts";
import type { IconName } from "../ui/icon.tsx";
import { setTimeZone, timeZone } from "../ui/time-zone.ts";
import { environmentTitle } from "./environment-names.ts";
import { findById } from "./find-by-id.ts";
import { NAVIGATION } from "./navigation.ts";
import { setTheme, THEMES } from "./theme.tsx";

export interface PaletteEntry {
  id: string;
  kind: "Page" | "Function" | "Event type" | "Environment" | "Action";
  label: string;
  icon: IconName;
  act: () => void;
}

const SHOWN_MAX = 40;

export function usePaletteEntries(env: string, onHelp: () => void): PaletteEntry[] {
  const navigate = useNavigate();
  const { data: functions = [] } = useQuery({ ...functionsQuery(env), retry: false });
  const { data: types = [] } = useQuery({ ...eventTypesQuery(env), retry: false });
  const { data: environments = [] } = useQuery(environmentsQuery);
  const go = (to: string, params: Record<string, string> = {}, search: object = {}) =>
    void navigate({ to, params: { env, ...params }, search } as unknown as NavigateOptions);
  const entry = (kind: PaletteEntry["kind"], id: string, label: string, icon: IconName, act: () => void): PaletteEntry => ({
    id: `${kind} ${id}`,
    kind,
    label,
    icon,
    act,
  });
  const actions: [string, IconName, () => void][] = [
    ["Show failed runs", "xCircle", () => go("/env/$env/runs", {}, { status: "failed" })],
    ["Create a webhook", "plus", () => go("/env/$env/webhooks/new")],
    [timeZone() === "utc" ? "Show local times" : "Show times in UTC", "clock", () => setTimeZone(timeZone() === "utc" ? "local" : "utc")],
    ...THEMES.map((theme): [string, IconName, () => void] => [`Use the ${theme} theme`, "sun", () => setTheme(theme)]),
    ["Show keyboard shortcuts", "book", onHelp],
  ];
  return [
    ...NAVIGATION.flatMap(({ items }) => items).map(({ to, label, icon }) => entry("Page", to, label, icon, () => go(to))),
    ...actions.map(([label, icon, act]) => entry("Action", label, label, icon, act)),
    ...functions.map(({ id, name }) => entry("Function", id, name, "function", () => go("/env/$env/functions/$id", { id }))),
    ...types.map(({ name }) => entry("Event type", name, name, "tag", () => go("/env/$env/event-types/$name", { name }))),
    ...environments
      .filter(({ archivedAt }) => archivedAt === null)
      .map(({ name }) => entry("Environment", name, environmentTitle(name), "layers", () => go("/env/$env", { env: name }))),
  ];
}

/** Entries that contain every word, those whose label begins with the text first; then a search for the text itself. */
export function matching(entries: readonly PaletteEntry[], text: string, onFind: (text: string) => void): PaletteEntry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = entries.filter(({ kind, label }) => words.every((word) => `${kind} ${label}`.toLowerCase().includes(word)));
  const ranked = found.toSorted((a, b) => Number(startsWith(b, wanted)) - Number(startsWith(a, wanted))).slice(0, SHOWN_MAX);
  if (wanted === "") return ranked;
  const act = () => onFind(text.trim());
  return [...ranked, { id: "find", kind: "Action", label: `Find “${text.trim()}”`, icon: "search", act }];
}

function startsWith({ label }: PaletteEntry, text: string): boolean {
  return label.toLowerCase().startsWith(text);
}

/** Opens the object of an id; other text is searched for in the payloads. */
export function useFind(env: string): (text: string) => Promise<void> {
  const navigate = useNavigate();
  return async (text) => {
    const found = await findById(env, text);
    await navigate(found ?? { to: "/env/$env/events", params: { env }, search: { q: text } });
  };
}
