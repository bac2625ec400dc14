/** Data of the catalogue for the transform editor: names of event types, and the fields of the types that the draft names. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { eventTypeQuery, eventTypesQuery } from "../api/queries.ts";
import type { KnownEvents } from "../editor/transform-completions.ts";

const TYPES_MAX = 5;

export function useKnownFields(env: string, draft: string): KnownEvents {
  const { data: types } = useQuery(eventTypesQuery(env));
  const names = useMemo(() => (types ?? []).map(({ name }) => name).filter((name) => !/^(?:inlet|inngest)\//.test(name)), [types]);
  const named = names.filter((name) => draft.includes(JSON.stringify(name).slice(1, -1))).slice(0, TYPES_MAX);
  const details = useQueries({ queries: named.map((name) => eventTypeQuery(env, name)) });
  const fields = details.flatMap(({ data }) => data?.shape?.fields ?? []);
  return { names, fields: [...new Map(fields.map(({ path, types: found }) => [path, found.map(({ type }) => type).join(" | ")]))] };
}
