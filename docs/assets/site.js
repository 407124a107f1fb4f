// What scrolls can be reached by the keyboard, and every region has a name of its own.
addEventListener("load", () => {
  const scrolls = ".md-typeset__scrollwrap, .md-typeset .scroll, .md-typeset pre > code, .md-typeset p:has(> img[src*='figures/'])";
  document.querySelectorAll(scrolls).forEach((part) => part.setAttribute("tabindex", "0"));
  document.querySelectorAll("nav.md-nav[aria-labelledby], nav.md-code__nav").forEach((part, number) => {
    const label = document.getElementById(part.getAttribute("aria-labelledby"));
    const name = label ? `Pages of ${label.textContent.trim()}` : "Code";
    part.removeAttribute("aria-labelledby");
    part.setAttribute("aria-label", `${name} (${number + 1})`);
  });
});
