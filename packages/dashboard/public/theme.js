// Runs before anything is painted, so that a chosen theme does not flash in the other one's colours.
try {
  const theme = localStorage.getItem("inlet.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: the system's theme it is.
}
