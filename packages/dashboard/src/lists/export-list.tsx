/** Downloads a list as it is filtered, page by page, as JSON lines or CSV. */

import { useState } from "react";
import { type CallOptions, callForPage } from "../api/client.ts";
import type { JsonText } from "../api/json-text.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { count } from "../ui/numbers.ts";
import { messageOf } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";
import { csvOf } from "./csv.ts";

interface ExportListProps {
  env: string;
  /** Of the REST API, such as `/events`. */
  path: string;
  query: NonNullable<CallOptions["query"]>;
  /** The name of the file, without its extension. */
  name: string;
}

/** As much as a browser holds comfortably. Whoever needs more pages through the REST API. */
const ITEMS_MAX = 10_000;
const PAGE_ITEMS = 100;

export function ExportList({ env, path, query, name }: ExportListProps) {
  const [isBusy, setBusy] = useState(false);
  async function save(format: "jsonl" | "csv") {
    setBusy(true);
    try {
      const items = await readAll(env, path, query);
      download(`${name}.${format}`, format === "csv" ? csvOf(items) : items.map((item) => `${item}\n`).join(""));
      const isCut = items.length === ITEMS_MAX;
      toast("ok", `${count(items.length)} exported${isCut ? ": the newest. Page through the REST API for more." : "."}`);
    } catch (error) {
      toast("bad", messageOf(error));
    }
    setBusy(false);
  }
  return (
    <Menu
      label="Export"
      align="right"
      button={
        <>
          <Icon name="external" size={14} /> {isBusy ? "Exporting…" : "Export"}
        </>
      }
    >
      {(close) => (
        <>
          {(["jsonl", "csv"] as const).map((format) => (
            <MenuItem
              key={format}
              onSelect={() => {
                close();
                if (!isBusy) void save(format);
              }}
            >
              {format === "csv" ? "As CSV" : "As JSON lines"}
            </MenuItem>
          ))}
        </>
      )}
    </Menu>
  );
}

/** The items as the service wrote them. */
async function readAll(env: string, path: string, query: ExportListProps["query"]): Promise<JsonText[]> {
  const items: JsonText[] = [];
  let cursor: string | undefined;
  do {
    const page = await callForPage(path, (text) => text, { env, query: { ...query, limit: PAGE_ITEMS, cursor } });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.length < ITEMS_MAX);
  return items.slice(0, ITEMS_MAX);
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
