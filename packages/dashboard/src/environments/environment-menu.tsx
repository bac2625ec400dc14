/** What is done to an environment now and then: moving it to another database, archiving it. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import type { Environment } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { MoveDialog } from "./move-environment.tsx";

export function EnvironmentMenu({ environment, isPlaced }: { environment: Environment; isPlaced: boolean }) {
  const { name, kind, archivedAt, database } = environment;
  const [dialog, setDialog] = useState<"archive" | "move" | null>(null);
  const queries = useQueryClient();
  const mayMove = isPlaced && kind !== "branch";
  const mayArchive = kind !== "default";
  async function act(what: "archive" | "unarchive") {
    await call(`/environments/${encodeURIComponent(name)}/${what}`, { method: "POST" });
    await reload(queries, ["environments"]);
  }
  async function archive() {
    await act("archive");
    toast("ok", `${name} archived. It keeps its events and runs no functions.`);
    setDialog(null);
  }
  if (!mayMove && !mayArchive) return null;
  return (
    <>
      <Menu label={`More actions for ${name}`} className="button small icon" isInTable button={<Icon name="dots" size={14} />}>
        {(close) => {
          const item = (select: () => void) => () => {
            close();
            select();
          };
          return (
            <>
              {mayMove && <MenuItem onSelect={item(() => setDialog("move"))}>Move to another database</MenuItem>}
              {mayArchive && !archivedAt && <MenuItem onSelect={item(() => setDialog("archive"))}>Archive</MenuItem>}
              {mayArchive && archivedAt && (
                <MenuItem onSelect={item(() => void withToast(act("unarchive"), `${name} is active again.`))}>Unarchive</MenuItem>
              )}
            </>
          );
        }}
      </Menu>
      {dialog === "move" && <MoveDialog name={name} from={database} onClose={() => setDialog(null)} />}
      {dialog === "archive" && (
        <FormDialog title={`Archive ${name}?`} submit="Archive" danger onClose={() => setDialog(null)} onSubmit={archive}>
          <p className="second">It accepts no events and runs no functions until it is unarchived. Its events and runs are kept.</p>
        </FormDialog>
      )}
    </>
  );
}
