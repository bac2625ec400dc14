/** The signed-in user and the sign-out button. Hidden on a dev server, which has no sign-in. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../api/client.ts";
import { sessionQuery } from "../api/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { exactTime, plainTime } from "../ui/time.tsx";

export function UserMenu() {
  const { data: session } = useQuery(sessionQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  if (!session?.required) return null;

  async function signOut() {
    await call("/session", { method: "DELETE" }).catch(() => {});
    queries.clear();
    await navigate({ to: "/login" });
  }

  return (
    <Menu label="Your session" className="button bare icon" align="right" button={<Icon name="shield" />}>
      {() => (
        <>
          <div className="menu-item" style={{ cursor: "default", display: "block" }}>
            <div className="strong">{session.name ?? "Signed in"}</div>
            <div className="quiet small">
              Role {session.role}
              {session.expiresAt && <span title={exactTime(session.expiresAt)}> · until {plainTime(session.expiresAt)}</span>}
            </div>
          </div>
          <hr />
          <MenuItem onSelect={() => void signOut()}>
            <Icon name="logOut" /> Sign out
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
