/** The pages that show what happens, as one file to load. */

export { AlertsPage } from "../alerts/alerts-page.tsx";
export { ApprovalsPage } from "../approvals/approvals-page.tsx";
export { EventTypePage } from "../event-types/event-type-page.tsx";
export { EventTypesPage } from "../event-types/event-types-page.tsx";
export { JobPage } from "../jobs/job-page.tsx";
export { JobsPage } from "../jobs/jobs-page.tsx";
export { FailuresPage } from "../runs/failures-page.tsx";
export { RunPage } from "../runs/run-page.tsx";
export { RunsPage } from "../runs/runs-page.tsx";
