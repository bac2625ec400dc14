/** Icons on a 16-pixel grid with one stroke. They are decorative: the text next to them has the same meaning. */

const PATHS = {
  activity: "M1.5 8h3l2-5 3 10 2-5h3",
  alert: "M8 5.5v3M8 11h.01M6.9 2.6 1.6 11.8A1.3 1.3 0 0 0 2.7 13.7h10.6a1.3 1.3 0 0 0 1.1-1.9L9.1 2.6a1.3 1.3 0 0 0-2.2 0Z",
  app: "M2.5 3.5h11v9h-11zM2.5 6h11M4.5 4.75h.01M6.5 4.75h.01",
  arrowRight: "M3 8h10M9 4l4 4-4 4",
  book: "M3 2.5h8.5A1.5 1.5 0 0 1 13 4v9.5H4.5A1.5 1.5 0 0 1 3 12zM3 12a1.5 1.5 0 0 1 1.5-1.5H13",
  branch: "M4.5 2.5v11M4.5 9.5c4.5 0 7-1 7-4M11.5 2.5v3M4.5 2.5h.01M11.5 2.5h.01M4.5 13.5h.01",
  bolt: "M8.8 1.8 3 9h4.2l-.7 5.2L12.5 7H8.2z",
  check: "m3 8.5 3.2 3L13 4.5",
  checkCircle: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM5.3 8.2l1.9 1.9 3.5-3.8",
  chevronDown: "m4.5 6.5 3.5 3.5 3.5-3.5",
  chevronRight: "m6.5 4.5 3.5 3.5-3.5 3.5",
  circle: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4Z",
  circleDashed:
    "M6 2.1a6.2 6.2 0 0 1 4 0M13 4.3a6.2 6.2 0 0 1 1.2 3.4M13.4 11a6.2 6.2 0 0 1-2.5 2.5M6 13.9a6.2 6.2 0 0 1-3.4-2.8M1.9 7.7A6.2 6.2 0 0 1 3.1 4.2",
  clock: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM8 4.6V8l2.3 1.5",
  code: "m5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  edit: "M11 2.5 13.5 5 5.5 13H3v-2.5zM9.5 4 12 6.5",
  external: "M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v4.5h-9v-9H7",
  filter: "M2.5 3.5h11L9.5 8.5v4l-3 1v-5z",
  function: "M10.5 2.5C8 2 7.5 4 7.2 6L6 13c-.4 1-1.2 1.2-2.5.8M4.5 7H10",
  globe: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM1.8 8h12.4M8 1.8c2.2 2 2.2 10.4 0 12.4M8 1.8c-2.2 2-2.2 10.4 0 12.4",
  home: "M2.5 7.5 8 2.8l5.5 4.7v5.7h-4V9.7h-3v3.5h-4z",
  hourglass: "M4 2h8M4 14h8M5 2v2.5L8 8l3-3.5V2M5 14v-2.5L8 8l3 3.5V14",
  inbox: "M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5L6.5 11h3l1-1.5H14",
  key: "M5 13.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM7.2 8.4 13 2.5M11 4.5 13 6.5M9.3 6.2l1.4 1.4",
  laptop: "M3.5 3.5h9v6.5h-9zM1.5 12.5h13",
  layers: "m8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  logOut: "M6.5 13.5h-4v-11h4M10.5 11l3-3-3-3M13.5 8h-7",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  moon: "M13.5 9.2A5.8 5.8 0 0 1 6.8 2.5a5.8 5.8 0 1 0 6.7 6.7Z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.2v9.6L12.5 8z",
  plus: "M8 3v10M3 8h10",
  refresh: "M13.5 3v3.5H10M2.5 13V9.5H6M3.2 6.3A5.2 5.2 0 0 1 12.6 5l.9 1.5M12.8 9.7A5.2 5.2 0 0 1 3.4 11l-.9-1.5",
  search: "M7 11.8a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6ZM10.5 10.5 14 14",
  send: "M14 2 7 9M14 2 9.5 14 7 9 2 6.5z",
  settings:
    "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM6 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
  shield: "M8 1.8 13 3.5v4c0 3.2-2.1 5.6-5 6.7-2.9-1.1-5-3.5-5-6.7v-4z",
  slash: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM3.8 12.2l8.4-8.4",
  spinner: "M8 1.8a6.2 6.2 0 1 1-5.4 3.1",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  tag: "M2.5 2.5h5L14 9l-5 5-6.5-6.5zM5.3 5.3h.01",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",
  webhook: "M6.3 6.5a2.8 2.8 0 1 1 3.4-.4l2 3.6M9.7 11.7h-4a2.6 2.6 0 1 1-2.3-3.9M8.2 4.8l-2.6 5M11.6 9.3a2.6 2.6 0 1 1-1.2 4.6",
  x: "m4 4 8 8M12 4l-8 8",
  xCircle: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM6 6l4 4M10 6l-4 4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16, className }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      className={className}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "dots" || name === "list" ? 1.8 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
