/**
 * A browser started with the locale "C" or "POSIX" reports a language that its own `Intl` refuses, such as "en-US@posix".
 * The chart library passes it on, so it is replaced by a valid one before any chart loads.
 */

const FALLBACK = "en-US";

export function ensureUsableLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: FALLBACK });
  }
}
