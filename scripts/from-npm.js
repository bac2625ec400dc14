/*
 * Runs the `inlet` command for `npm start` and `npm run dev`, and stops it when npm was stopped: npm passes SIGTERM to the shell that it
 * runs scripts with, and many shells end without passing it on. A parent process that has changed says so.
 *
 * Plain JavaScript, for the reason that packages/cli/bin/inlet.js gives.
 */

const CHECK_MS = 500;
const parent = process.ppid;

const timer = setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
}, CHECK_MS).unref();

// A signal to the whole process group, such as Ctrl-C, arrives here too, and a second one would end the process at once.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    clearInterval(timer);
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  });
}

await import("../packages/cli/bin/inlet.js");
