/** The test kit: runs a function in the test's own process, step by step, with mocked steps. No service, no network. */

export { failureFunction } from "./functions/inlet-function.ts";
export { type DeferredCall, type FunctionRun, type RunFunctionOptions, runFunction } from "./testing/run-function.ts";
export { inOrder, type RanStep, type StepMock } from "./testing/settle-step.ts";
