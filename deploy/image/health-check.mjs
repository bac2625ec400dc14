/* The container's health check: 0 while the store accepts writes. The image has no shell and no curl. */

const { SERVICE_PORT = "8288", SERVICE_HOST = "127.0.0.1" } = process.env;
// 0.0.0.0 and :: are every address, this one among them.
const address = ["0.0.0.0", "::"].includes(SERVICE_HOST) ? "127.0.0.1" : SERVICE_HOST;
const host = address.includes(":") ? `[${address}]` : address;

try {
  const { status } = await fetch(`http://${host}:${SERVICE_PORT}/ready`, { signal: AbortSignal.timeout(4_000) });
  process.exitCode = status === 200 ? 0 : 1;
} catch {
  process.exitCode = 1;
}
