/** Builds everything that can be published into one folder. docs/how-to/install.md lists the files. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApi } from "../rest-reference.ts";
import { packPackages } from "./pack-packages.ts";
import { writeImageContext } from "./write-image-context.ts";
import { writeChecksums, writeProvenance } from "./write-provenance.ts";
import { writeSbom } from "./write-sbom.ts";

export interface Release {
  folder: string;
  /** Paths of the two tarballs. */
  cli: string;
  sdk: string;
}

export async function buildRelease(out: string): Promise<Release> {
  const startedOn = new Date();
  const work = mkdtempSync(join(tmpdir(), "inlet-release-"));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  try {
    const { cli, sdk } = await packPackages(out, work);
    writeFileSync(join(out, "openapi.json"), `${JSON.stringify(await openApi(), null, 2)}\n`);
    await writeImageContext(join(out, "image"), join(out, cli));
    await writeSbom(join(out, "sbom.cdx.json"), work);
    await writeProvenance(out, startedOn);
    writeChecksums(out);
    return { folder: out, cli: join(out, cli), sdk: join(out, sdk) };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
