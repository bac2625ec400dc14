/** A finding of a check, with a suggested fix. */

export interface Finding {
  check: string;
  /** `note`: good to know, nothing to do. */
  status: "ok" | "note" | "warning" | "problem" | "skipped";
  message: string;
  advice?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: "warning", message, advice };
}

export function problem(check: string, message: string, advice: string): Finding {
  return { check, status: "problem", message, advice };
}

export function note(check: string, message: string): Finding {
  return { check, status: "note", message };
}

export function skipped(check: string, message: string): Finding {
  return { check, status: "skipped", message };
}
