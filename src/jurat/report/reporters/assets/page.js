"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  // --- light and dark: as the system has it, until somebody says otherwise
  const theme = document.querySelector(".theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const named = () => { theme.textContent = now() === "dark" ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = now() === "dark" ? "light" : "dark"; named(); });
  dark.addEventListener("change", named);
  named();

  const number = (text) => (text === undefined || text === "" ? null : Number(text));
  const ranks = ["fail", "error", "unverified", "unfinished", "skipped", "pass"];

  document.querySelectorAll(".run").forEach((run) => {
    const list = run.querySelector(".cases");
    const cases = Array.from(list.children).filter((one) => one.matches(".case"));
    const search = run.querySelector("input[type=search]");
    const chips = Array.from(run.querySelectorAll(".chip"));
    const heads = Array.from(run.querySelectorAll(".heads button"));
    const told = run.querySelector(".told");
    const none = run.querySelector(".none");
    const every = run.querySelector(".every");
    const texts = new Map();
    const text = (one) => {
      if (!texts.has(one)) texts.set(one, one.textContent.toLowerCase());
      return texts.get(one);
    };

    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.tone);
      let shown = 0;
      for (const one of cases) {
        const fits = (!wanted.length || wanted.includes(one.dataset.tone)) && words.every((word) => text(one).includes(word));
        one.hidden = !fits;
        shown += fits;
      }
      none.hidden = shown > 0;
      told.textContent = shown === cases.length ? "" : `${shown} of ${cases.length} cases`;
      label();
    };

    const values = {
      order: (one) => number(one.dataset.order),
      status: (one) => ranks.indexOf(one.dataset.tone),
      name: (one) => one.dataset.name,
      score: (one) => number(one.dataset.score),
      cost: (one) => number(one.dataset.cost),
      time: (one) => number(one.dataset.time),
    };
    const compare = (one, other) => {
      if (one === null || other === null) return (one === null) - (other === null);
      return typeof one === "string" ? one.localeCompare(other, undefined, { numeric: true }) : one - other;
    };
    const sort = (head) => {
      const before = head.dataset.direction;
      heads.forEach((one) => { delete one.dataset.direction; one.removeAttribute("aria-description"); });
      const key = before === "down" ? "order" : head.dataset.sort;
      const sign = before === "up" ? -1 : 1;
      if (before !== "down") {
        head.dataset.direction = before === "up" ? "down" : "up";
        head.setAttribute("aria-description", before === "up" ? "sorted, descending" : "sorted, ascending");
      }
      const value = values[key];
      const known = (one) => value(one) !== null;
      cases.sort((one, other) => {
        const missing = known(other) - known(one);  // what has no value stands last, either way
        return missing || sign * compare(value(one), value(other)) || number(one.dataset.order) - number(other.dataset.order);
      });
      list.prepend(...cases);
    };

    const visible = () => cases.filter((one) => !one.hidden);
    const label = () => { every.textContent = visible().some((one) => !one.open) ? "Expand all" : "Collapse all"; };
    search.addEventListener("input", filter);
    chips.forEach((chip) => chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
      filter();
    }));
    heads.forEach((head) => head.addEventListener("click", () => sort(head)));
    every.addEventListener("click", () => {
      const open = visible().some((one) => !one.open);
      visible().forEach((one) => { one.open = open; });
      label();
    });
    list.addEventListener("toggle", label, true);
  });

  // --- a link into a case opens it
  const follow = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const within = target && target.closest(".case");
    if (within) { within.hidden = false; within.open = true; target.scrollIntoView({ block: "center" }); }
  };
  addEventListener("hashchange", follow);
  follow();

  // --- keys: / to search, j and k to go from case to case
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input")) {
      if (event.key === "Escape") { event.target.value = ""; event.target.dispatchEvent(new Event("input")); event.target.blur(); }
      return;
    }
    if (event.key === "/") { event.preventDefault(); document.querySelector("input[type=search]").focus(); return; }
    if (event.key !== "j" && event.key !== "k") return;
    const all = Array.from(document.querySelectorAll(".case:not([hidden]) > summary"));
    const at = all.indexOf(document.activeElement);
    const next = all[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
    if (next) { event.preventDefault(); next.focus(); next.scrollIntoView({ block: "nearest" }); }
  });

  // --- on paper everything is open
  addEventListener("beforeprint", () => document.querySelectorAll(".case").forEach((one) => { one.open = true; }));
})();
