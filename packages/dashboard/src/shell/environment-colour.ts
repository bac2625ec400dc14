/** Each environment has a colour of its own, the same on every machine, so that one sees at a glance where one is. */

/** Production asks for care, dev does not. The shared scope of the branches has the colour of none of them. */
const KNOWN: Readonly<Record<string, string>> = {
  production: "light-dark(#d9480f, #ff8a4c)",
  dev: "light-dark(#0f766e, #2dd4bf)",
  branch: "light-dark(#6941c6, #a78bfa)",
};

const PALETTE = [
  ...["light-dark(#175cd3, #60a5fa)", "light-dark(#b5176d, #f472b6)", "light-dark(#4d7c0f, #a3e635)", "light-dark(#a16207, #facc15)"],
  ...["light-dark(#0e7490, #22d3ee)", "light-dark(#be123c, #fb7185)", "light-dark(#4338ca, #818cf8)", "light-dark(#7c2d92, #d58bf0)"],
];

export function environmentColour(name: string): string {
  const hash = [...name].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
  return KNOWN[name] ?? (PALETTE[hash % PALETTE.length] as string);
}
