/**
 * The patterns of texts in requests, and what is said of a text that does not match one: nobody should have to read a regular
 * expression. A test finds a pattern of the REST API that has no sentence.
 */

/** Without C0, DEL and C1, which terminals, logs and files of settings would take for something else. */
export const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
export const WEB_URL = "^https?://";
export const ENVIRONMENT_NAME = "^[A-Za-z0-9._/-]{1,128}$";
export const DATABASE_NAME = "^[A-Za-z0-9._-]{1,64}$";
export const HTTP_HEADER = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$";
export const TIME_OF_DAY = "^([01]\\d|2[0-3]):[0-5]\\d$";
export const VERSION_OR_SHAPE = "^(\\d{1,9}|shape)$";
export const EVENT_ID = "^[0-9A-Za-z]{26}$";
export const RUN_IDS_MAX = 500;
export const RUN_IDS = `^[0-9A-Za-z]{26}(,[0-9A-Za-z]{26}){0,${RUN_IDS_MAX - 1}}$`;

/** Each continues the name of the field. */
export const PATTERN_SENTENCES: Readonly<Record<string, string>> = {
  [NO_CONTROL_CHARACTERS]: "must not contain control characters",
  [WEB_URL]: "must begin with http:// or https://",
  [ENVIRONMENT_NAME]: "must consist of 1 to 128 letters, digits and . _ - /",
  [DATABASE_NAME]: "must consist of 1 to 64 letters, digits and . _ -",
  [HTTP_HEADER]: "must be the name of an HTTP header, with at most 128 characters",
  [TIME_OF_DAY]: "must be a time of day such as 22:00",
  [VERSION_OR_SHAPE]: "must be the number of a version, or shape",
  [EVENT_ID]: "must be an Event ID: 26 letters and digits",
  [RUN_IDS]: `must be at most ${RUN_IDS_MAX} run ids, each of 26 letters and digits, separated by commas`,
};
