/** The progress of a job. */

import type { JobView } from "@inlet/protocol";
import { count } from "../ui/numbers.ts";

export function JobProgress({ job: { done, total } }: { job: JobView }) {
  const text = `${count(done)} of ${count(total)}`;
  return (
    <span className="job-progress">
      <progress value={done} max={Math.max(total, 1)} aria-label={text} />
      <span className="num small second">{text}</span>
    </span>
  );
}
