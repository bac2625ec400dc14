/** Why a request got no response: the reason as text, and whether another attempt could succeed. */

/** Node's fetch reports these after it was asked for an address that it never connects to. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  "bad port": "HTTP clients refuse to connect to this port; use another one",
  "unknown scheme": "the URL must start with http:// or https://",
};

/** The peer answered, and its side of TLS does not change by asking again. */
const TLS: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak HTTPS; use an http:// URL",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed; set NODE_EXTRA_CA_CERTS to a file that contains it",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is of an unknown authority; set NODE_EXTRA_CA_CERTS to the file of its certificates",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is of an unknown authority; set NODE_EXTRA_CA_CERTS to the file of its certificates",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is of an unknown authority; set NODE_EXTRA_CA_CERTS to the file of its certificates",
};

const UNREACHED: Readonly<Record<string, string>> = { ECONNREFUSED: "connection refused", ENOTFOUND: "unknown host" };

type FetchFault = Error & { cause?: Error & { code?: string } };

/** No attempt with the same address can succeed, and nothing was sent. */
export function isPermanent(error: unknown): boolean {
  const { cause } = error as FetchFault;
  return Object.hasOwn(FORBIDDEN, cause?.message ?? "") || Object.hasOwn(TLS, cause?.code ?? "") || cause?.code === "ERR_INVALID_URL";
}

/** The time limit of the request has passed. */
export function isTimeout(error: unknown): boolean {
  return (error as FetchFault).name === "TimeoutError";
}

export function reasonOf(error: unknown, timeoutMs: number): string {
  const { message, cause } = error as FetchFault;
  if (isTimeout(error)) return `no response within ${timeoutMs / 1_000} s`;
  const code = cause?.code ?? "";
  return FORBIDDEN[cause?.message ?? ""] ?? TLS[code] ?? UNREACHED[code] ?? (cause?.message || code || message);
}
