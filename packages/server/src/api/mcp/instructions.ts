/** What a model is told about the tools as a whole. */

export const INSTRUCTIONS = `Inlet receives events and runs functions on them. Tools that end in _read never change anything.
To find out why something failed: failures_read for groups of failures, runs_read for runs, then explain_run with the id of a run.
For an event that started nothing: explain_event with its id. Lists are newest first; page.next is the cursor of the next page.
Each tool takes environment. The documentation is offered as resources; an error names the page that explains it.`;
