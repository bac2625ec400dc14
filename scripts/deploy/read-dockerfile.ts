/** The last stage of a Dockerfile, as far as our tests run it without Docker. */

export interface ImageSettings {
  from: string;
  user: string;
  folder: string;
  volume: string;
  stopSignal: string;
  variables: Record<string, string>;
  healthCheck: string[];
  /** Entry point and command. */
  command: string[];
}

export function readDockerfile(text: string): ImageSettings {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  const all = (word: string) => stage.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1).trim());
  const one = (word: string) => all(word)[0] ?? "";
  return {
    from: one("FROM"),
    user: one("USER"),
    folder: one("WORKDIR"),
    volume: one("VOLUME"),
    stopSignal: one("STOPSIGNAL"),
    variables: Object.fromEntries(all("ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("=", 2) as [string, string]))),
    healthCheck: JSON.parse(/CMD (\[.*\])/.exec(one("HEALTHCHECK"))?.[1] ?? "[]"),
    command: [...JSON.parse(one("ENTRYPOINT")), ...JSON.parse(one("CMD"))],
  };
}
