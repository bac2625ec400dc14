/** The signed-in user and the sign-out button. Hidden on a dev server, which has no sign-in. */

import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../api/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { exactTime, plainTime } from "../ui/time.tsx";
import { useSignOut } from "./use-sign-out.ts";

export function UserMenu() {
  const { data: session } = useQuery(sessionQuery);
  const signOut = useSignOut();
  if (!session?.required) return null;
  return (
    <Menu label="Your session" className="button bare icon" align="right" button={<Icon name="shield" />}>
      {(close) => (
        <>
          <div className="menu-item" style={{ cursor: "default", display: "block" }}>
            <div className="strong">{session.name ?? "Signed in"}</div>
            <div className="quiet small">
              Role {session.role}
              {session.expiresAt && <span title={exactTime(session.expiresAt)}> · until {plainTime(session.expiresAt)}</span>}
            </div>
          </div>
          <hr />
          <MenuItem
            onSelect={() => {
              close();
              void signOut();
            }}
          >
            <Icon name="logOut" /> Sign out
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
