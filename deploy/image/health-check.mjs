/* The container's health check: 0 while the store accepts writes. The image has no shell and no curl. */

const { INLET_PORT, SERVICE_PORT, INLET_HOST, SERVICE_HOST } = process.env;
// Kubernetes sets INLET_PORT=tcp://… for a Service that is called inlet.
const port = [INLET_PORT, SERVICE_PORT, "8288"].find((value) => /^\d+$/.test(value ?? ""));
const listenHost = INLET_HOST || SERVICE_HOST || "127.0.0.1";
// 0.0.0.0 and :: are every address, this one among them.
const address = ["0.0.0.0", "::"].includes(listenHost) ? "127.0.0.1" : listenHost;
const host = address.includes(":") ? `[${address}]` : address;

try {
  const { status } = await fetch(`http://${host}:${port}/ready`, { signal: AbortSignal.timeout(4_000) });
  process.exitCode = status === 200 ? 0 : 1;
} catch {
  process.exitCode = 1;
}
