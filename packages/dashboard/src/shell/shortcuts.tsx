/**
 * Keys that work on every page: Ctrl-K for the palette, `?` for help, `g` and another key to go to a page. Not while a dialog is open: it is
 * about the page behind it.
 */

import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { isTyping } from "../ui/typing.ts";
import { KeyboardHelp } from "./keyboard-help.tsx";
import { PAGES } from "./navigation.ts";
import { Palette } from "./palette.tsx";

export function Shortcuts({ env }: { env: string }) {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const navigate = useNavigate();
  /** Whether the key before was `g`. */
  const isGoing = useRef(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        if (!isDialogOpen()) setOpen("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || isDialogOpen()) return;
      const page = isGoing.current ? PAGES.find(({ key }) => key === event.key) : undefined;
      isGoing.current = event.key === "g";
      if (page) {
        // The key would otherwise move through the list.
        event.stopImmediatePropagation();
        void navigate({ to: page.to, params: { env } } as NavigateOptions);
      } else if (event.key === "?") setOpen("help");
    };
    document.addEventListener("keydown", onKey, { capture: true });
    return () => document.removeEventListener("keydown", onKey, { capture: true });
  }, [navigate, env]);
  const close = () => setOpen(null);
  if (open === "palette") return <Palette env={env} onClose={close} onHelp={() => setOpen("help")} />;
  return open === "help" ? <KeyboardHelp onClose={close} /> : null;
}

function isDialogOpen(): boolean {
  return document.querySelector("dialog[open]") !== null;
}
