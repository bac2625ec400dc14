/** The version in every request and response; a test compares it with package.json. */

export const VERSION = "0.3.0";

/** How the SDK identifies itself to the service. */
export const SDK_NAME = `js:v${VERSION}`;
