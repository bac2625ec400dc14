/** How calls to apps are signed: on a dev server not at all, otherwise with the keys of the app's environment. Nothing is sent unsigned for lack of a key. */

import type { EnvironmentId } from "@inlet/protocol";
import { BRANCH_SCOPE } from "@inlet/protocol";
import type { Signing } from "../execute/call/function-request.ts";
import type { Directory } from "../receive/senders/directory.ts";

export interface SigningParts {
  directory: Pick<Directory, "signingKeys" | "environment">;
  isDev: boolean;
}

export function createSigning({ directory, isDev }: SigningParts): (environmentId: EnvironmentId) => Signing {
  return (environmentId) => {
    if (isDev) return { kind: "unsigned" };
    const keys = directory.signingKeys(environmentId);
    if (keys.length > 0) return { kind: "signed", keys };
    const environment = directory.environment(environmentId);
    return { kind: "impossible", reason: keyMissing(environment?.kind === "branch" ? BRANCH_SCOPE : (environment?.name ?? "")) };
  };
}

function keyMissing(scope: string): string {
  return (
    `The environment "${scope}" has no signing key, so nothing was sent. Create one with "inlet keys create NAME --kind signing --env ${scope}" ` +
    `or POST /v1/keys {"kind":"signing","name":"…","environment":"${scope}"}, and set it in the app as INLET_SIGNING_KEY or INNGEST_SIGNING_KEY.`
  );
}
