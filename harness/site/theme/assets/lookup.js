// Error lookup in the browser. The twin of harness/site/lookup.py: change both, a test holds them together. Nothing is sent anywhere.
"use strict";

(() => {
  const MOST = 3;
  // Of a long paste the beginnings of lines (some patterns take their time over long ones), the end, and there the last exceptions.
  const LINE = 1000;
  const LONGEST = 50000;
  const EXCEPTIONS = 5;
  const DELAY_MS = 200;
  const COLOUR = /\x1b\[[0-9;]*m/g;
  const HEADER = "^[ \\t]*(?:E[ \\t]+)?(?:[\\w.]+\\.)?\\w*(?:Error|Exception|Warning)\\d*: ";

  // Where to look, in order: each exception's text, the last first, then the whole; each with its class, without, and its first line.
  function blocks(pasted) {
    const lines = pasted.replace(COLOUR, "").replace(/\r/g, "").trim().split("\n");
    const text = lines.map((line) => line.slice(0, LINE)).join("\n").slice(-LONGEST);
    const starts = Array.from(text.matchAll(new RegExp(HEADER, "gm")), (found) => found.index).slice(-EXCEPTIONS);
    const parts = starts.reverse().map((start) => text.slice(start).trim());
    return [...parts, text].map((part) => {
      const bare = part.replace(new RegExp(HEADER), "").trim();
      return [part, bare, bare.split("\n")[0].trim()];
    });
  }

  // The loaded list with its patterns compiled; one that this browser cannot read is left out.
  function compile(index) {
    const patterns = [];
    for (const entry of index.patterns) {
      try {
        patterns.push({ ...entry, expression: new RegExp(entry.pattern, entry.flags) });
      } catch (error) {
        console.warn(`lookup: ${entry.pattern}: ${error.message}`);
      }
    }
    return { ...index, patterns };
  }

  // [{ code, bugs }]: what a message points to, the most specific first. The last exception that tells decides.
  function find(pasted, index) {
    for (const block of blocks(pasted)) {
      const hits = index.patterns.filter((entry) => block.some((part) => entry.expression.test(part)));
      if (hits.length) {
        return ranked(hits);
      }
    }
    return [];
  }

  function ranked(hits) {
    const found = new Map();
    for (const { code, bugs, weight } of hits) {
      const answer = found.get(code) || { weight: 0, bugs: new Map() };
      answer.weight = Math.max(answer.weight, weight);
      for (const bug of bugs) {
        answer.bugs.set(bug, Math.max(answer.bugs.get(bug) || 0, weight));
      }
      found.set(code, answer);
    }
    const heavier = ([name, weight], [other, another]) => another - weight || (name < other ? -1 : 1);
    const codes = Array.from(found, ([code, answer]) => [code, answer.weight]).sort(heavier).slice(0, MOST);
    return codes.map(([code]) => ({ code, bugs: Array.from(found.get(code).bugs).sort(heavier).map(([bug]) => bug) }));
  }

  function element(name, text, children = []) {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...children);
    return made;
  }

  function link(id, target, base) {
    const title = target.title.startsWith(id) ? target.title : `${id}: ${target.title}`;
    const made = element("a", title);
    made.href = new URL(target.link, base).href;
    return made;
  }

  function start(form, folder) {
    const field = form.querySelector("textarea");
    const answer = form.querySelector("[aria-live]");
    const address = new URL(form.dataset.index, folder);
    let loading = null;
    let timer = 0;

    async function load() {
      const response = await fetch(address);
      if (!response.ok) {
        throw new Error(`${address}: ${response.status}`);
      }
      return compile(await response.json());
    }

    async function show() {
      const text = field.value;
      if (!text.trim()) {
        answer.replaceChildren();
        return;
      }
      let index;
      try {
        loading = loading || load();
        index = await loading;
      } catch (error) {
        loading = null;
        answer.replaceChildren(element("p", form.dataset.failed));
        return;
      }
      if (field.value !== text) {
        return; // typed on meanwhile
      }
      const found = find(text, index);
      const items = found.map(({ code, bugs }) => {
        const links = bugs.map((bug) => element("li", "", [link(bug, index.bugs[bug], address)]));
        const seen = links.length ? [element("p", form.dataset.specimens), element("ul", "", links)] : [];
        return element("li", "", [link(code, index.checks[code], address), ...seen]);
      });
      answer.replaceChildren(found.length ? element("ol", "", items) : element("p", form.dataset.nothing));
    }

    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(show, DELAY_MS);
    });
    show(); // a browser keeps what was typed when the page is reloaded
  }

  if (typeof module !== "undefined" && module.exports) {
    module.exports = { blocks, compile, find };
    return;
  }
  // The list lies beside this file, whatever the address of the page.
  const folder = document.currentScript.src;
  const all = () => document.querySelectorAll(".zoo-lookup").forEach((form) => start(form, folder));
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", all);
  } else {
    all();
  }
})();
