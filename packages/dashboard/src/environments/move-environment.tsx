/** Moves an environment to another database. A job does it: its page shows how far it is. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { DatabaseField, useDatabases } from "./databases-section.tsx";

export function MoveDialog({ name, from, onClose }: { name: string; from: string; onClose: () => void }) {
  const others = useDatabases().filter((database) => database.name !== from);
  const [to, setTo] = useState(others.find(({ reachable }) => reachable)?.name ?? "");
  const queries = useQueryClient();
  const navigate = useNavigate();
  async function move() {
    const job = await call<{ id: string }>(`/environments/${encodeURIComponent(name)}/move`, { method: "POST", body: { database: to } });
    await reload(queries, ["jobs"]);
    onClose();
    await navigate({ to: "/env/$env/jobs/$id", params: { env: name, id: job.id } });
  }
  return (
    <FormDialog title={`Move ${name}?`} submit="Move" disabled={to === ""} onClose={onClose} onSubmit={move}>
      <DatabaseField label={`From ${from} to`} databases={others} value={to} onChange={setTo} />
      <p className="second">
        Everything that the environment holds is copied while it runs. At the end, new events are refused with 503 for at most 5 seconds;
        senders that retry lose nothing.
      </p>
    </FormDialog>
  );
}
