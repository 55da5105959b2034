// Keeps pages fresh, and helps with JSON. Nothing that matters needs it: forms are forms.
"use strict";

// ---- live regions: what has changed of a page is taken from the same page, asked for again ----

const body = document.body;
let asking = false;
let askedAgain = false;

const refresh = async () => {
  if (asking) { askedAgain = true; return; }
  asking = true;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (response.ok) take(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch { /* it is asked again with the next change */ }
  asking = false;
  if (askedAgain) { askedAgain = false; refresh(); }
};

const take = (fresh) => {
  for (const region of document.querySelectorAll("[data-region]")) {
    const next = fresh.getElementById(region.id);
    if (next && next.innerHTML !== region.dataset.was && next.innerHTML !== region.innerHTML) place(region, next);
  }
};

// What somebody fills in is left alone until it is closed.
const busy = (region) => region.hasAttribute("data-keep") && region.querySelector("details[open]");

const place = (region, next) => {
  if (busy(region)) return;
  const open = new Set([...region.querySelectorAll("details[open][id]")].map((one) => one.id));
  const focused = region.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && (focused.id || focused.getAttribute("href"));
  const scrolled = [...region.querySelectorAll(".scroll, pre")].map((one) => [one.scrollLeft, one.scrollTop]);
  const text = next.innerHTML;
  region.replaceChildren(...[...next.childNodes].map((node) => document.importNode(node, true)));
  region.dataset.was = text;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  [...region.querySelectorAll(".scroll, pre")].forEach((one, n) => { if (scrolled[n]) [one.scrollLeft, one.scrollTop] = scrolled[n]; });
  if (key) [...region.querySelectorAll("a, button, summary, [tabindex]")].find((one) => (one.id || one.getAttribute("href")) === key)?.focus();
  const said = region.querySelector("[data-announce]");
  const announcer = document.getElementById("announcer");
  if (said && announcer.textContent !== said.textContent.trim()) announcer.textContent = said.textContent.trim();
};

document.addEventListener("toggle", (event) => {
  if (!event.target.open && event.target.closest("[data-keep]")) refresh();
}, true);

// Where no news are to be had (too many listen, or what serves is gone) the page asks again and again.
const AGAIN_MS = 5000;
let news = null;
let again = null;
const listen = () => {
  if (!body.dataset.live || news) return;
  news = new EventSource(body.dataset.live);
  news.addEventListener("changed", refresh);
  news.addEventListener("open", () => { clearInterval(again); again = null; });
  news.addEventListener("error", () => {
    if (news?.readyState !== EventSource.CLOSED) return;  // else it comes back by itself
    news = null;
    again ??= setInterval(() => { if (!document.hidden) { refresh(); listen(); } }, AGAIN_MS);
  });
};
const hush = () => { news?.close(); news = null; };
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hush(); else { listen(); refresh(); }
});
addEventListener("pagehide", hush);
if (!document.hidden) listen();
if (body.dataset.every) setInterval(() => { if (!document.hidden) refresh(); }, 1000 * Number(body.dataset.every));

// ---- a graph that is larger than its place begins where the execution stands ----

const graph = document.getElementById("graph");
const stands = graph?.querySelector("[data-mark=running], [data-mark=waiting], [data-mark=blocked]");
if (stands) {
  const outer = graph.getBoundingClientRect();
  const inner = stands.getBoundingClientRect();
  graph.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  graph.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

// ---- forms ----

document.querySelector(".pick select")?.addEventListener("change", (event) => event.target.form.submit());

const check = (area) => {
  const text = area.value.trim();
  let said = "";
  if (text) try { JSON.parse(text); } catch (error) { said = `No JSON yet: ${error.message}`; }
  area.setAttribute("aria-invalid", said ? "true" : "false");
  area.setCustomValidity(said);
  const place = document.getElementById(`${area.id}-said`);
  if (place) { place.textContent = said; place.classList.toggle("bad", Boolean(said)); }
};
for (const area of document.querySelectorAll("textarea[data-json]")) {
  area.addEventListener("input", () => check(area));
}

document.addEventListener("click", (event) => {
  const fill = event.target.closest("[data-fill]");
  if (!fill) return;
  const area = document.getElementById(fill.dataset.fill);
  area.value = document.getElementById(fill.dataset.from).textContent;
  check(area);
  area.focus();
});

// ---- the editor: what the validator finds while somebody writes; nothing faulty can be saved ----

const editor = document.querySelector("form[data-check]");
if (editor) {
  const findings = document.getElementById("findings");
  const save = document.getElementById("save");
  let timer = null;
  let asked = 0;
  const examine = async () => {
    const mine = ++asked;
    const response = await fetch(editor.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(editor)) });
    if (!response.ok || mine !== asked) return;
    const found = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("found");
    findings.replaceChildren(document.importNode(found, true));
    save.disabled = Boolean(found.querySelector(".notice.bad"));
  };
  editor.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(examine, 300); });
  save.disabled = Boolean(findings.querySelector(".notice.bad"));
}
