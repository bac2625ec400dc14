/** Light, dark, or the system's theme. public/theme.js applies the choice before the first paint. */

import { useSyncExternalStore } from "react";
import { Icon, type IconName } from "../ui/icon.tsx";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = "inlet.theme";
const ICONS: Record<Theme, IconName> = { system: "laptop", light: "sun", dark: "moon" };
const listeners = new Set<() => void>();

function current(): Theme {
  return (document.documentElement.dataset.theme as Theme | undefined) ?? "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(STORED_AS);
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(STORED_AS, theme);
  }
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}

/** Calls the listener when the theme changes, so that canvas drawings can be redrawn. */
export function watchColours(listener: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  listeners.add(listener);
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}

export function ThemeButton() {
  const theme = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
  return (
    <button
      type="button"
      className="button bare icon"
      aria-label={`Theme: ${theme}. Change to ${next}`}
      title={`Theme: ${theme}`}
      onClick={() => setTheme(next)}
    >
      <Icon name={ICONS[theme]} />
    </button>
  );
}
