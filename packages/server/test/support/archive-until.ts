/** Archives everything, and stands still at a named point: `node archive-until.ts <database> <folder> <point>`. Prints the point when it is there. */

import type { ArchiveTarget } from "../../src/archive/targets/archive-target.ts";
import { folderTarget } from "../../src/archive/targets/folder-target.ts";
import { archiveAll, archiveOf, openSampleStore } from "./archive-scene.ts";

const [url = "", folder = "", point] = process.argv.slice(2);

async function reach(name: string): Promise<void> {
  if (name !== point) return;
  console.log(`reached ${name}`);
  await new Promise(() => setInterval(() => undefined, 60_000));
}

const store = await openSampleStore(url);
const whole = folderTarget(folder);
const target: ArchiveTarget = {
  ...whole,
  async create(name) {
    const upload = await whole.create(name);
    return {
      append: upload.append,
      abort: upload.abort,
      async finish(check) {
        await reach("before the file is finished");
        await upload.finish(check);
        await reach("before it is verified");
      },
    };
  },
};
const archive = archiveOf(store, target);
const write = archive.write.bind(archive);
archive.write = async (day) => {
  const isWritten = await write(day);
  await reach("before the partition is dropped");
  return isWritten;
};
await archiveAll(store, archive);
await store.stop();
