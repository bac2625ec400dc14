/** The pages of an environment, as the sidebar and the palette list them. */

import type { IconName } from "../ui/icon.tsx";

export interface NavItem {
  to: string;
  label: string;
  icon: IconName;
  /** `g` and this key go there. */
  key: string;
}

export const NAVIGATION: readonly { title: string; items: readonly NavItem[] }[] = [
  {
    title: "Observe",
    items: [
      { to: "/env/$env", label: "Overview", icon: "home", key: "o" },
      { to: "/env/$env/events", label: "Events", icon: "inbox", key: "e" },
      { to: "/env/$env/event-types", label: "Event types", icon: "tag", key: "t" },
      { to: "/env/$env/runs", label: "Runs", icon: "activity", key: "r" },
      { to: "/env/$env/failures", label: "Failures", icon: "xCircle", key: "f" },
      { to: "/env/$env/approvals", label: "Approvals", icon: "checkCircle", key: "v" },
      { to: "/env/$env/jobs", label: "Jobs", icon: "refresh", key: "j" },
      { to: "/env/$env/alerts", label: "Alerts", icon: "alert", key: "a" },
    ],
  },
  {
    title: "Build",
    items: [
      { to: "/env/$env/functions", label: "Functions", icon: "function", key: "u" },
      { to: "/env/$env/apps", label: "Apps", icon: "app", key: "p" },
      { to: "/env/$env/webhooks", label: "Webhooks", icon: "webhook", key: "w" },
    ],
  },
  {
    title: "Manage",
    items: [
      { to: "/env/$env/keys", label: "Keys", icon: "key", key: "k" },
      { to: "/env/$env/environments", label: "Environments", icon: "layers", key: "n" },
      { to: "/env/$env/audit-log", label: "Audit log", icon: "book", key: "l" },
      { to: "/env/$env/settings", label: "Settings", icon: "settings", key: "s" },
    ],
  },
];

export const PAGES: readonly NavItem[] = NAVIGATION.flatMap(({ items }) => items);

/** The page that a path belongs to: `/env/dev/events/01…` belongs to Events. */
export function pageOf(path: string): NavItem | undefined {
  const [, , , part = ""] = path.split("/");
  return PAGES.find(({ to }) => to === (part === "" ? "/env/$env" : `/env/$env/${part}`));
}

/** The same page in another environment; of an object, which exists in one environment only, its list. */
export function listOf(path: string): string {
  return pageOf(path)?.to ?? "/env/$env";
}
