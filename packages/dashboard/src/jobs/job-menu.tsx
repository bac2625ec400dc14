/** Actions on every item of a filtered list, including those that are not loaded. */

import type { JobKindName } from "@inlet/protocol";
import { useState } from "react";
import type { JobRequest } from "../api/jobs.ts";
import type { Filters } from "../api/queries.ts";
import { useMayRepair } from "../api/session.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { JobDialog } from "./job-dialog.tsx";

export interface JobChoice {
  kind: JobKindName;
  label: string;
  icon: IconName;
}

interface JobMenuProps {
  env: string;
  filter: Filters;
  choices: readonly JobChoice[];
  /** Asks for what the choice needs beside the filter. */
  dialog?: (request: JobRequest, onClose: () => void) => React.ReactNode;
}

export function JobMenu({ env, filter, choices, dialog }: JobMenuProps) {
  const [request, setRequest] = useState<JobRequest | null>(null);
  const mayRepair = useMayRepair();
  if (!mayRepair) return null;
  const close = () => setRequest(null);
  return (
    <>
      <Menu label="All of this list" align="right" button={<MenuLabel />}>
        {(closeMenu) =>
          choices.map(({ kind, label, icon }) => (
            <MenuItem
              key={kind}
              onSelect={() => {
                closeMenu();
                setRequest({ kind, filter });
              }}
            >
              <Icon name={icon} /> {label}
            </MenuItem>
          ))
        }
      </Menu>
      {request && (dialog?.(request, close) ?? <JobDialog env={env} request={request} onClose={close} />)}
    </>
  );
}

function MenuLabel() {
  return (
    <>
      <Icon name="layers" size={14} />
      <span>
        All<span className="wide-only"> of this list</span>
      </span>
    </>
  );
}
