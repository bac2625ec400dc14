/** The actions for an event. */

import { useState } from "react";
import type { JsonText } from "../api/json-text.ts";
import { sentEvent } from "../api/read-items.ts";
import { useMayErase, useMaySend } from "../api/session.ts";
import type { EventItem } from "../api/types.ts";
import { SendToDevServer } from "../dev-server/send-to-dev-server.tsx";
import { EraseDialog } from "../jobs/erase-dialog.tsx";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { CompareDialog } from "./compare-dialog.tsx";
import { SendEventDialog, sendEvent } from "./send-event.tsx";
import { curlCommand, fixtureCode, sdkCode } from "./snippets.ts";
import { useSendTarget } from "./use-send-target.ts";

export function EventActions({ env, event }: { env: string; event: EventItem }) {
  const sendTarget = useSendTarget(env);
  const maySend = useMaySend();
  const [editing, setEditing] = useState(false);
  const [comparing, setComparing] = useState(false);
  const [erasing, setErasing] = useState(false);
  const mayErase = useMayErase();
  // Without its id, so that it is not a duplicate, and without its ts, so that it gets the current time.
  const again: JsonText = sentEvent(event, { withId: false, withTs: false });
  const copy = async (text: string, what: string) =>
    (await copyText(text)) ? toast("ok", `Copied as ${what}`) : toast("bad", "The browser did not allow copying.");

  function resend() {
    void withToast(sendEvent(env, again), (ids) => `Sent again as ${ids.join(", ")}`);
  }

  return (
    <>
      <SendToDevServer event={sentEvent(event, { withTs: false })} />
      <Menu label="More actions" className="button icon" align="right" button={<Icon name="dots" />}>
        {(close) => {
          const item = (act: () => void) => () => {
            close();
            act();
          };
          return (
            <>
              <MenuItem onSelect={item(() => void copy(curlCommand(sentEvent(event), sendTarget), "curl"))}>
                <Icon name="copy" /> Copy as curl
              </MenuItem>
              <MenuItem onSelect={item(() => void copy(sdkCode(sentEvent(event)), "SDK code"))}>
                <Icon name="code" /> Copy as SDK code
              </MenuItem>
              <MenuItem onSelect={item(() => void copy(fixtureCode(sentEvent(event), event.name), "a test fixture"))}>
                <Icon name="checkCircle" /> Copy as a test fixture
              </MenuItem>
              <MenuItem onSelect={item(() => setComparing(true))}>
                <Icon name="list" /> Compare with another event
              </MenuItem>
              {maySend && (
                <>
                  <hr />
                  <MenuItem onSelect={item(resend)}>
                    <Icon name="refresh" /> Send again
                  </MenuItem>
                  <MenuItem onSelect={item(() => setEditing(true))}>
                    <Icon name="edit" /> Edit and send
                  </MenuItem>
                </>
              )}
              {mayErase && (
                <>
                  <hr />
                  <MenuItem onSelect={item(() => setErasing(true))}>
                    <Icon name="trash" /> Erase
                  </MenuItem>
                </>
              )}
            </>
          );
        }}
      </Menu>
      {editing && <SendEventDialog env={env} title="Edit and send" event={again} onClose={() => setEditing(false)} />}
      {erasing && (
        <EraseDialog env={env} request={{ kind: "events.erase", filter: { event: event.id } }} onClose={() => setErasing(false)} />
      )}
      {comparing && <CompareDialog env={env} event={event} onClose={() => setComparing(false)} />}
    </>
  );
}
