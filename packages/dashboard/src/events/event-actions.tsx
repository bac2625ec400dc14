/** What can be done with an event wherever its payload is shown. */

import { useState } from "react";
import type { JsonText } from "../api/json-text.ts";
import { sentEvent } from "../api/read-items.ts";
import { useMayChange } from "../api/session.ts";
import type { EventItem } from "../api/types.ts";
import { SendToDevServer } from "../dev-server/send-to-dev-server.tsx";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { rememberedKey, SendEventDialog, sendEvent } from "./send-event.tsx";
import { curlCommand, sdkCode } from "./snippets.ts";
import { useSendingPlace } from "./use-sending-place.ts";

export function EventActions({ env, event }: { env: string; event: EventItem }) {
  const place = useSendingPlace(env);
  const mayChange = useMayChange();
  const [editing, setEditing] = useState(false);
  // Sent again with its id it would be kept out as a duplicate; with its ts it would lie in the past.
  const again: JsonText = sentEvent(event, { withId: false, withTs: false });
  const copy = async (text: string, what: string) =>
    (await copyText(text)) ? toast("ok", `Copied as ${what}`) : toast("bad", "The browser does not allow copying here.");

  function resend() {
    const key = rememberedKey();
    if (!place.isDev && key === "") return setEditing(true);
    void withToast(sendEvent(again, place, key), (ids) => `Sent again as ${ids.join(", ")}`);
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
              <MenuItem onSelect={item(() => void copy(curlCommand(sentEvent(event), place), "curl"))}>
                <Icon name="copy" /> Copy as curl
              </MenuItem>
              <MenuItem onSelect={item(() => void copy(sdkCode(sentEvent(event)), "SDK code"))}>
                <Icon name="code" /> Copy as SDK code
              </MenuItem>
              {mayChange && (
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
            </>
          );
        }}
      </Menu>
      {editing && <SendEventDialog env={env} title="Edit and send" event={again} onClose={() => setEditing(false)} />}
    </>
  );
}
