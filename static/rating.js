// @ts-check
/** The rating page's saving, keys, conflicts and marked passages. Without it the page is a plain form. */

import { hold, holdsOthers, keep as keepCopy, keyOf, kept } from "./outbox.js";
import { follow, plain } from "./evidence.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("rating"));
const words = /** @type {HTMLElement} */ (document.querySelector("[data-words]")).dataset;
const stateBox = /** @type {HTMLElement} */ (document.querySelector("[data-save-state]"));
const echo = /** @type {HTMLElement} */ (document.querySelector("[data-save-echo]"));
const announcer = /** @type {HTMLElement} */ (document.querySelector("[data-announce]"));
const client = form.dataset.client || "";
const shown = /** @type {HTMLInputElement} */ (form.elements.namedItem("shown")).value;
const person = document.body.dataset.browser || "";
const copyKey = keyOf(person, form.dataset.slot || "");
hold(copyKey);
document.documentElement.classList.add("scripted");

/** What the server has acknowledged, field by field. @type {Record<string, string>} */
const acked = {};
/** Fields in two versions that the judge has not chosen between. @type {Set<string>} */
const clashing = new Set();
let token = /** @type {HTMLInputElement} */ (form.elements.namedItem("csrfmiddlewaretoken")).value;
let sequence = 0;
let inFlight = false;
let trouble = "";
let typing = 0;
let retrying = 0;

for (const input of form.querySelectorAll("input[name^='was-']")) {
  acked[input.getAttribute("name")?.slice(4) || ""] = lines(/** @type {HTMLInputElement} */ (input).value);
}

/** @param {string} text */
function lines(text) { return text.replace(/\r\n/g, "\n"); }

/** @param {string} name @returns {string} */
function read(name) {
  const field = form.elements.namedItem(name);
  const value = field && "value" in field ? lines(String(field.value)) : "";
  return value === "cannot" && name.endsWith("-answer") ? `cannot:${read(reasonOf(name))}` : value;
}

/** The second radio group of an answer: the page has two so that Tab reaches the reasons. @param {string} name */
function reasonOf(name) { return name.replace(/answer$/, "reason"); }

/** @param {string} name @param {string} value */
function write(name, value) {
  if (!name.startsWith("was-") && name.endsWith("-answer") && value.startsWith("cannot:")) {
    write(reasonOf(name), value.slice("cannot:".length));
    value = "cannot";
  }
  const field = form.elements.namedItem(name);
  if (field instanceof RadioNodeList) {
    for (const radio of /** @type {Iterable<HTMLInputElement>} */ (/** @type {unknown} */ (field))) radio.checked = radio.value === value;
  } else if (field && "value" in field) {
    /** @type {HTMLInputElement} */ (field).value = value;
    grow(field);
  }
}

/** Say how many criteria have an answer, in the bar that stays in sight. */
function count() {
  const names = Object.keys(acked).filter((name) => name.endsWith("-answer"));
  const answered = names.filter((name) => read(name)).length;
  const place = document.querySelector("[data-answered]");
  if (place) place.textContent = `${answered}/${names.length}`;
}

/** Every field that differs from what is acknowledged: all of them go with each save. */
function dirty() {
  /** @type {Record<string, [string, string]>} */
  const changed = {};
  for (const name of Object.keys(acked)) {
    const value = read(name);
    if (value !== acked[name] && !clashing.has(name)) changed[name] = [acked[name], value];
  }
  return changed;
}

/** Keep what is not acknowledged in this browser; true only if it was read back. */
function keep() {
  const fields = dirty();
  for (const name of clashing) fields[name] = [acked[name], read(name)];
  return keepCopy(copyKey, { url: form.dataset.draft || "", page: location.pathname, fields });
}

/** @param {string} key @param {string} [time] */
function show(key, time) {
  stateBox.textContent = (words[key] || "") + (time ? ` · ${time}` : "");
  stateBox.dataset.state = key;
  echo.textContent = stateBox.textContent;
  echo.toggleAttribute("data-bad", !["saving", "saved", "restored"].includes(key));
}

/** Say a problem once, or its end; routine saves are not announced. @param {string} key */
function problem(key) {
  const kept = keep();
  const shown = kept ? key : key === "signedOut" ? "signedOutUnkept" : ["offline", "server"].includes(key) ? "nowhere" : key;
  if (trouble !== shown) {
    announcer.setAttribute("role", shown === "nowhere" ? "alert" : "status");
    announcer.textContent = words[shown] || "";
  }
  trouble = shown;
  show(shown);
  stateBox.append(" ");
  if (key === "signedOut") stateBox.append(link(form.dataset.signIn || "/", words.signInAgain || ""));
  if (!kept) stateBox.append(button(words.copy || "", copyText));
  clearTimeout(retrying);
  if (["offline", "server", "signedOut"].includes(key)) retrying = setTimeout(() => push(false), 5000);
}

/** @param {string} href @param {string} text */
function link(href, text) {
  const a = document.createElement("a");
  a.href = href; a.target = "_blank"; a.textContent = text;
  return a;
}

/** @param {string} text @param {() => void} act */
function button(text, act) {
  const b = document.createElement("button");
  b.type = "button"; b.textContent = text; b.addEventListener("click", act);
  return b;
}

function copyText() {
  const texts = Object.keys(acked).filter((name) => name.endsWith("-rationale")).map(read).filter(Boolean);
  void navigator.clipboard.writeText(texts.join("\n\n"));
}

/** Send what is not acknowledged. Resolves to true if nothing is left to send. @param {boolean} left */
async function push(left) {
  if (inFlight) return false;
  const changed = dirty();
  if (Object.keys(changed).length === 0) {
    keep();
    if (trouble === "conflict" && clashing.size === 0) settled();
    return clashing.size === 0;
  }
  inFlight = true;
  sequence += 1;
  if (!trouble) show("saving");
  const body = JSON.stringify({ client, sequence, left, shown, fields: changed });
  try {
    const reply = await fetch(form.dataset.draft || "", {
      method: "POST", body, keepalive: body.length < 60000, redirect: "manual",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": token },
    });
    return await settle(reply, changed);
  } catch {
    problem("offline");
    return false;
  } finally {
    inFlight = false;
  }
}

/** @param {Response} reply @param {Record<string, [string, string]>} changed */
async function settle(reply, changed) {
  if (reply.status === 200 || reply.status === 409) {
    const data = await reply.json();
    const lost = new Set((data.clashes || []).map((/** @type {{name: string}} */ c) => c.name));
    for (const name of Object.keys(changed)) if (!lost.has(name)) acked[name] = changed[name][1];
    merge(data.fields);
    for (const clash of data.clashes || []) offer(clash);
    keep();
    if (reply.status === 409) { problem("conflict"); return false; }
    settled(data.at);
    if (Object.keys(dirty()).length) later(50);
    return Object.keys(dirty()).length === 0 && clashing.size === 0;
  }
  if (reply.status === 401 || reply.type === "opaqueredirect") problem("signedOut");
  else if (reply.status === 403) await freshToken();
  else if (reply.status === 404) problem("other");
  else if (reply.status === 423) { keep(); trouble = "refused"; stateBox.textContent = (await reply.json()).message; }
  else problem("server");
  return false;
}

/** Everything is stored: say the end of a trouble, if there was one, and when. @param {string} [time] */
function settled(time) {
  if (trouble && clashing.size === 0) { announcer.setAttribute("role", "status"); announcer.textContent = words.recovered || ""; trouble = ""; }
  show("saved", time);
}

/** Take over what other pages saved, where nothing is being written here. @param {Record<string, string>} fields */
function merge(fields) {
  for (const [name, value] of Object.entries(fields)) {
    if (!(name in acked) || clashing.has(name) || value === acked[name]) continue;
    if (read(name) !== acked[name]) continue;
    write(name, value);
    acked[name] = value;
  }
}

async function freshToken() {
  try {
    const reply = await fetch(form.dataset.draft || "", { headers: { Accept: "application/json" }, redirect: "manual" });
    if (reply.status === 200) { token = (await reply.json()).token; later(50); } else problem(reply.status === 404 ? "other" : "signedOut");
  } catch { problem("offline"); }
}

/** A value as the page names it: a level with its text, a reason, or what was written. @param {string} name @param {string} value */
function said(name, value) {
  if (!name.endsWith("-answer")) return value;
  const [answer, reason] = value.split(":");
  return [[name, answer], [reasonOf(name), reason]]
    .map(([group, wanted]) => form.querySelector(`input[type=radio][name="${group}"][value="${wanted}"]`))
    .map((radio) => plain(radio?.closest("label")?.textContent || "")).filter(Boolean).join(": ") || words.noAnswer || "";
}

/** Show both versions beside the field; the judge chooses. @param {{name: string, mine: string, theirs: string}} clash */
function offer(clash) {
  clashing.add(clash.name);
  const field = form.elements.namedItem(clash.name);
  const first = field instanceof RadioNodeList ? field[0] : field;
  const place = first instanceof Element ? first.closest("fieldset") : null;
  if (!place) return;
  const box = document.createElement("div");
  box.className = "notice";
  const kept = document.createElement("p");
  kept.className = "kept";
  kept.textContent = `${words.stored}: ${said(clash.name, clash.theirs)}`;
  /** @param {string} value */
  const choose = (value) => {
    clashing.delete(clash.name);
    acked[clash.name] = clash.theirs;
    write(clash.name, value);
    box.remove();
    void push(true);
  };
  box.append(kept, button(words.keepMine || "", () => choose(read(clash.name))), " ", button(words.keepTheirs || "", () => choose(clash.theirs)));
  if (clash.name.endsWith("-rationale")) box.append(" ", button(words.join || "", () => choose(`${clash.theirs}\n\n${read(clash.name)}`)));
  place.append(box);
}

/** @param {number} wait */
function later(wait) {
  clearTimeout(typing);
  typing = setTimeout(() => push(false), wait);
}

/** @param {EventTarget | Element | RadioNodeList | null} field */
function grow(field) {
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

/** Bring back what an earlier visit could not send; never somebody else's. */
function restore() {
  if (holdsOthers(person)) {
    const line = document.createElement("p");
    line.className = "notice"; line.setAttribute("role", "status"); line.textContent = words.foreign || "";
    form.before(line);
  }
  const copy = kept(copyKey);
  if (!copy) return;
  for (const [name, [initial, value]] of Object.entries(copy.fields)) {
    if (!(name in acked) || read(name) === value) continue;
    if (acked[name] !== initial) { offer({ name, mine: value, theirs: acked[name] }); }
    write(name, value);
  }
  announcer.textContent = words.restored || "";
  show("restored");
  later(50);
}

form.addEventListener("input", (event) => { grow(event.target); keep(); later(700); });
form.addEventListener("change", count);
form.addEventListener("change", (event) => { if (event.target instanceof HTMLInputElement && event.target.type === "radio") void push(false); });
form.addEventListener("focusin", (event) => grow(event.target));
form.addEventListener("focusout", (event) => { if (event.target instanceof HTMLTextAreaElement) void push(true); });
window.addEventListener("online", () => push(false));
window.addEventListener("focus", () => { if (trouble) void push(false); });
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") { keep(); void push(true); } });
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
window.addEventListener("beforeunload", (event) => { if (Object.keys(dirty()).length && !keep()) event.preventDefault(); });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void finish();
});

/** Marking done leaves the page only when everything has been acknowledged. */
async function finish() {
  for (let tries = 0; tries < 40; tries += 1) {
    if (!inFlight && (await push(true))) {
      for (const name of Object.keys(acked)) write(`was-${name}`, acked[name]);
      const action = document.createElement("input");
      action.type = "hidden"; action.name = "action"; action.value = "done";
      form.append(action);
      write("csrfmiddlewaretoken", token);
      form.submit();
      return;
    }
    if (trouble) { stateBox.scrollIntoView({ block: "nearest" }); return; }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// Keys. `event.key`, never `event.code`: Shift+3 is the dot of l·l on a Catalan keyboard.
const shortcuts = form.dataset.shortcuts !== "off";

/** The criterion that had the focus last: where a passage is marked with `m`. @type {Element | null} */
let current = form.querySelector("fieldset.criterion");
const mark = follow(form, (text) => { announcer.textContent = text; }, words);
form.addEventListener("focusin", (event) => {
  current = (event.target instanceof Element && event.target.closest("fieldset.criterion")) || current;
});

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  const typesText = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && ["text", "search"].includes(target.type));
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form.contains(target)) { event.preventDefault(); void finish(); return; }
  if (event.ctrlKey || event.altKey || event.metaKey || event.getModifierState("AltGraph")) return;
  if (event.key === "Enter" && target instanceof HTMLInputElement && form.contains(target)) { event.preventDefault(); void push(true); return; }
  if (typesText || !shortcuts) return;
  if (event.key === "d") for (const details of document.querySelectorAll("details.dilemma")) toggle(details);
  else if (event.key === "m") mark(current);
  else if (event.key === "?") toggle(document.getElementById("help"));
  else if (/^[0-9]$/.test(event.key)) level(target.closest("fieldset.criterion"), event.key);
});

/** @param {Element | null} details */
function toggle(details) {
  if (details instanceof HTMLDetailsElement) { details.open = !details.open; if (details.open) details.scrollIntoView({ block: "nearest" }); }
}

/** Choose a level by its figure and go to the next criterion. @param {Element | null} criterion @param {string} digit */
function level(criterion, digit) {
  const radio = criterion && /** @type {HTMLInputElement | null} */ (criterion.querySelector(`input[type=radio][value="${digit}"]`));
  if (!criterion || !radio) return;
  radio.checked = true;
  count();
  void push(false);
  const next = criterion.nextElementSibling;
  const first = next && /** @type {HTMLElement | null} */ (next.querySelector("input[type=radio]:checked, input[type=radio]"));
  if (next?.matches("fieldset.criterion") && first) first.focus(); else radio.focus();
}

// Coming back finds the text where it was left.
const placeKey = `awb-place:${form.dataset.slot}`;
const panes = [document.scrollingElement, document.querySelector(".criteria")];
try {
  const places = JSON.parse(sessionStorage.getItem(placeKey) || "[]");
  if (!location.hash && !document.querySelector("[autofocus]")) panes.forEach((pane, at) => { if (pane && places[at]) pane.scrollTop = places[at]; });
} catch { /* it opens at the top */ }
window.addEventListener("pagehide", () => {
  try { sessionStorage.setItem(placeKey, JSON.stringify(panes.map((pane) => pane?.scrollTop || 0))); } catch { /* not remembered */ }
});

restore();
