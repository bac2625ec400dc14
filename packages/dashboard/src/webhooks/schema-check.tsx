/** Whether the event of a draft matches the schema declared for its name. */

import { useQuery } from "@tanstack/react-query";
import { call } from "../api/client.ts";
import { type JsonText, membersOf } from "../api/json-text.ts";
import type { SchemaMode } from "../api/types.ts";
import { Notice } from "../ui/states.tsx";

interface CheckResult {
  mode: SchemaMode | null;
  valid: boolean;
  errors: { path: string; message: string }[];
}

const SHOWN = 5;

export function SchemaCheck({ env, event }: { env: string; event: JsonText }) {
  const members = membersOf(event);
  const name = JSON.parse(members.get("name") ?? '""') as string;
  const data = members.get("data") ?? "{}";
  const { data: result } = useQuery({
    queryKey: ["schema-check", env, name, data],
    queryFn: () =>
      call<CheckResult>(`/event-types/${encodeURIComponent(name)}/check`, { method: "POST", env, body: { data: JSON.parse(data) } }),
    enabled: name !== "",
    gcTime: 10_000,
  });
  if (!result || result.mode === null || result.valid) return null;
  const isRefused = result.mode === "refuse";
  return (
    <Notice kind={isRefused ? "bad" : "warn"} icon="alert">
      {isRefused ? "This event would be refused" : "This event does not match"}: by the schema of <code>{name}</code>,{" "}
      {result.errors
        .slice(0, SHOWN)
        .map(({ path, message }) => `data${path} ${message}`)
        .join("; ")}
      {result.errors.length > SHOWN && ` and ${result.errors.length - SHOWN} more`}.
    </Notice>
  );
}
