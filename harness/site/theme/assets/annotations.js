// The theme's code annotations are links without a name; screen readers need one.
"use strict";

new MutationObserver(() => {
  document.querySelectorAll(".md-annotation__index:not([aria-label])").forEach((link, number) => {
    link.setAttribute("aria-label", `(${number + 1})`);
  });
}).observe(document.documentElement, { childList: true, subtree: true });
