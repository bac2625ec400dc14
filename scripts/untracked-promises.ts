/**
 * Preloaded into a test process: node:test does not follow promises. It would note of each promise in the process to which test it belongs,
 * which takes about a fifth of the CPU time of a test that starts a service.
 *
 * What a test awaits fails that test. An error that nobody awaits fails the process, which prints its message; `node --test <file>`, without
 * this, names the test as well.
 */

import hooks from "node:async_hooks";

const { createHook } = hooks;

// The only hook of a test process is the one of node:test, which is loaded after this.
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
