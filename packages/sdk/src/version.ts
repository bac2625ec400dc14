/** The version every request and answer carries; a test holds it against package.json. */

export const VERSION = "0.1.0";

/** How the SDK introduces itself to the service. */
export const SDK_NAME = `js:v${VERSION}`;
