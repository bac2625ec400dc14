/**
 * A browser started where the language is "C" or "POSIX" names one that its own `Intl` refuses, such as "en-US@posix". The charts
 * hand on what it names: so it is made to name one that can be used, before any of them is loaded.
 */

const USUAL = "en-US";

export function ensureUsableLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: USUAL });
  }
}
