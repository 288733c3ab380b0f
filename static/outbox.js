// @ts-check
/** Text that an earlier page could not send: kept in this browser, sent from any page of the site. */

const PREFIX = "awb:";

/**
 * What is kept of one response. `client` and `sequence` are not kept: whoever sends it is a page of
 * its own, and the server compares each field with what this one had last seen stored.
 * @typedef {{url: string, page: string, fields: Record<string, [string, string]>}} Copy
 */

/** @param {string} person */
export function keysOf(person) {
  try {
    return person ? Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}${person}:`)) : [];
  } catch { return []; }
}

/** Whether the browser holds text of somebody else. @param {string} person */
export function holdsOthers(person) {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith(PREFIX) && !key.startsWith(`${PREFIX}${person}:`));
  } catch { return false; }
}

/** @param {string} person @param {string} slot */
export function keyOf(person, slot) { return `${PREFIX}${person}:${slot}`; }

/** Keep a copy, or drop it if there is nothing in it; true only if it was read back. @param {string} key @param {Copy} copy */
export function keep(key, copy) {
  try {
    if (Object.keys(copy.fields).length === 0) { localStorage.removeItem(key); return true; }
    const text = JSON.stringify(copy);
    localStorage.setItem(key, text);
    return localStorage.getItem(key) === text;
  } catch { return false; }
}

/** @param {string} key @returns {Copy | null} */
export function kept(key) {
  try {
    const copy = JSON.parse(localStorage.getItem(key) || "null");
    return copy && typeof copy.fields === "object" ? copy : null;
  } catch { return null; }
}

/** Hold a response while its page is open, so that no other page sends its text. @param {string} key */
export function hold(key) {
  void navigator.locks?.request(key, { mode: "shared" }, () => new Promise(() => {}));
}

/** Send one copy unless its own page is open: "sent", "waits" or "open". @param {string} key */
async function send(key) {
  if (!navigator.locks) return "open";
  return navigator.locks.request(key, { ifAvailable: true }, async (lock) => {
    const copy = lock && kept(key);
    if (!copy) return "open";
    try {
      const fresh = await fetch(copy.url, { headers: { Accept: "application/json" }, redirect: "manual" });
      if (fresh.status !== 200) return "waits";
      const client = Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, "0")).join("");
      const reply = await fetch(copy.url, {
        method: "POST", redirect: "manual", body: JSON.stringify({ client, sequence: 1, left: true, fields: copy.fields }),
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": (await fresh.json()).token },
      });
      if (reply.status !== 200) return "waits";
      localStorage.removeItem(key);
      return "sent";
    } catch { return "waits"; }
  });
}

/** @param {HTMLElement} words @param {string} person */
async function sendAll(words, person) {
  for (const key of keysOf(person)) {
    const page = kept(key)?.page || "/";
    const outcome = await send(key);
    if (outcome === "sent") say(words.dataset.late || "");
    else if (outcome === "waits") say(words.dataset.waits || "", link(page, words.dataset.open || ""));
  }
}

/** @param {string} text @param {HTMLElement} [more] */
function say(text, more) {
  const line = document.createElement("p");
  line.className = "notice";
  line.setAttribute("role", "status");
  line.append(text, " ", more || "");
  document.getElementById("main")?.prepend(line);
}

/** @param {string} href @param {string} text */
function link(href, text) {
  const a = document.createElement("a");
  a.href = href; a.textContent = text;
  return a;
}

/** Signing out with unsent text asks once more. @param {HTMLElement} words @param {string} person */
function guardSignOut(words, person) {
  for (const form of document.querySelectorAll("form[data-sign-out]")) {
    form.addEventListener("submit", async (event) => {
      if (keysOf(person).length === 0) return;
      event.preventDefault();
      await sendAll(words, person);
      const leave = () => /** @type {HTMLFormElement} */ (form).submit();
      if (keysOf(person).length === 0) { leave(); return; }
      const button = document.createElement("button");
      button.textContent = words.dataset.leave || "";
      button.addEventListener("click", leave);
      say(words.dataset.leaving || "", button);
      button.focus();
    });
  }
}

const texts = /** @type {HTMLElement | null} */ (document.querySelector("[data-outbox]"));
const person = document.body.dataset.browser || "";
if (texts && person) {
  void sendAll(texts, person);
  window.addEventListener("online", () => void sendAll(texts, person));
  guardSignOut(texts, person);
}
