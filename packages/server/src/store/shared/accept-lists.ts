/** Allow and deny lists as columns: JSON text, or NULL. */

import type { AcceptList } from "@inlet/protocol";

export function listText(list: AcceptList | null): string | null {
  return list ? JSON.stringify(list) : null;
}

export function parseList(text: string | null): AcceptList | null {
  return text ? (JSON.parse(text) as AcceptList) : null;
}
