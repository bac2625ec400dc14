/** The pages of an environment, as the sidebar and the palette list them. */

import type { IconName } from "../ui/icon.tsx";

export interface NavItem {
  to: string;
  label: string;
  icon: IconName;
}

export const NAVIGATION: readonly { title: string; items: readonly NavItem[] }[] = [
  {
    title: "Observe",
    items: [
      { to: "/env/$env", label: "Overview", icon: "home" },
      { to: "/env/$env/events", label: "Events", icon: "inbox" },
      { to: "/env/$env/event-types", label: "Event types", icon: "tag" },
      { to: "/env/$env/runs", label: "Runs", icon: "activity" },
      { to: "/env/$env/failures", label: "Failures", icon: "xCircle" },
      { to: "/env/$env/jobs", label: "Jobs", icon: "refresh" },
      { to: "/env/$env/alerts", label: "Alerts", icon: "alert" },
    ],
  },
  {
    title: "Build",
    items: [
      { to: "/env/$env/functions", label: "Functions", icon: "function" },
      { to: "/env/$env/apps", label: "Apps", icon: "app" },
      { to: "/env/$env/webhooks", label: "Webhooks", icon: "webhook" },
    ],
  },
  {
    title: "Manage",
    items: [
      { to: "/env/$env/keys", label: "Keys", icon: "key" },
      { to: "/env/$env/environments", label: "Environments", icon: "layers" },
      { to: "/env/$env/audit-log", label: "Audit log", icon: "book" },
      { to: "/env/$env/settings", label: "Settings", icon: "settings" },
    ],
  },
];
