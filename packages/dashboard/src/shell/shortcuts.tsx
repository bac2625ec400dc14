/** Keys that work on every page: Ctrl-K for the palette, `?` for help. */

import { useEffect, useState } from "react";
import { isTyping } from "../ui/typing.ts";
import { KeyboardHelp } from "./keyboard-help.tsx";
import { Palette } from "./palette.tsx";

export function Shortcuts({ env }: { env: string }) {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen("palette");
      } else if (event.key === "?" && !isTyping(event)) setOpen("help");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const close = () => setOpen(null);
  if (open === "palette") return <Palette env={env} onClose={close} onHelp={() => setOpen("help")} />;
  return open === "help" ? <KeyboardHelp onClose={close} /> : null;
}
