/**
 * The errors of fetch after which no attempt with the same address can succeed. Node's fetch reports them as the cause of a `TypeError`. An error
 * that is not recognised, as of another runtime, counts as temporary.
 */

const REASONS: Readonly<Record<string, string>> = {
  "bad port": "HTTP clients refuse to connect to this port; use another one",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak HTTPS; use an http:// URL",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is of an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is of an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is of an unknown authority",
};

/** The reason as text; undefined if the fault may be temporary. */
export function permanentFault(thrown: unknown): string | undefined {
  const { code, message } = ((thrown as { cause?: unknown } | null)?.cause ?? {}) as { code?: unknown; message?: unknown };
  return [code, message].map((key) => (typeof key === "string" && Object.hasOwn(REASONS, key) ? REASONS[key] : undefined)).find(Boolean);
}
