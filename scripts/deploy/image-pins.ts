/** The images of others that the files of deploy/ use, each with the digest that it is pinned by and the day of that digest. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../release/pack-packages.ts";

export interface ImagePin {
  file: string;
  /** Name and tag, such as postgres:18. */
  image: string;
  /** null: only the tag is given, which can be moved. */
  digest: string | null;
  /** As the file says it; null if it does not. */
  day: string | null;
}

/** Our own image, which is built from these files. */
const OWN = /^\$\{INLET_IMAGE:-inlet\}$/;
const RENEW_AFTER_DAYS = 60;
const DAY_MS = 86_400_000;

export function imagePins(): ImagePin[] {
  return globSync(["deploy/image/Dockerfile", "deploy/compose*.yaml"], { cwd: ROOT }).flatMap((file) =>
    readPins(file, readFileSync(join(ROOT, file), "utf8")),
  );
}

export function readPins(file: string, text: string): ImagePin[] {
  const day = /^# Digests of (\d{4}-\d{2}-\d{2})\b/m.exec(text)?.[1] ?? null;
  const named = [...text.matchAll(/^(?:ARG \w+_BASE=|FROM (?!\$\{)|\s*image: )(\S+)/gm)].map(([, name = ""]) => name);
  return named
    .filter((name) => !OWN.test(name))
    .map((name) => {
      const [image = "", digest = null] = name.split(/@(?=sha256:[0-9a-f]{64}$)/);
      return { file, image, digest, day };
    });
}

/** One sentence per file, for whoever builds a release. */
export function ageOfPins(pins: readonly ImagePin[], now: Date): string[] {
  const files = new Map(pins.map(({ file, day }) => [file, day]));
  return [...files].map(([file, day]) => {
    const days = Math.floor((now.getTime() - Date.parse(day ?? "")) / DAY_MS);
    const advice = days <= RENEW_AFTER_DAYS ? "" : ". Renew them: docs/how-to/containers.md";
    return `${file}: the digests of its images are ${days} days old${advice}`;
  });
}
