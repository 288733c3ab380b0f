// @ts-check
/** Passages that a judge marks in the response: a line each in the criterion's box, shown in the text. */

/** @type {{text: string, nodes: [Text, number][]}[]} */
let read = [];
/** @type {string} */
let selected = "";

/** One space for any run of blanks, so that what is selected is found again. @param {string} text */
export function plain(text) { return text.replace(/\s+/g, " ").trim(); }

/** The passages in a box: one a line. @param {string} value */
export function passages(value) { return value.split("\n").map(plain).filter(Boolean); }

/** The characters of a section in order, blanks run together, each with its node and place. @param {Element} section */
function index(section) {
  const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
  let text = "";
  /** @type {[Text, number][]} */
  const nodes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const data = /** @type {Text} */ (node).data;
    for (let at = 0; at < data.length; at += 1) {
      const blank = /\s/.test(data[at]);
      if (blank && (text === "" || text.endsWith(" "))) continue;
      text += blank ? " " : data[at];
      nodes.push([/** @type {Text} */ (node), at]);
    }
  }
  return { text, nodes };
}

/** Show every marked passage in the text, where the browser can. @param {HTMLFormElement} form */
function paint(form) {
  if (!("highlights" in CSS)) return;
  const ranges = [];
  for (const box of form.querySelectorAll("textarea[name$='-evidence']")) {
    for (const passage of passages(/** @type {HTMLTextAreaElement} */ (box).value)) {
      for (const { text, nodes } of read) {
        const at = text.indexOf(passage);
        if (at < 0) continue;
        const range = new Range();
        range.setStart(...nodes[at]);
        const [node, place] = nodes[at + passage.length - 1];
        range.setEnd(node, place + 1);
        ranges.push(range);
        break;
      }
    }
  }
  CSS.highlights.set("evidence", new Highlight(...ranges));
}

/** What is selected now, if it is in the response. @param {Element[]} sections */
function selection(sections) {
  const now = document.getSelection();
  if (!now || now.isCollapsed || !now.rangeCount) return "";
  const inside = sections.some((one) => one.contains(now.anchorNode) && one.contains(now.focusNode));
  return inside ? plain(now.toString()) : "";
}

/**
 * Let passages be marked. Returns the act for a shortcut: mark for a criterion's fieldset.
 * @param {HTMLFormElement} form @param {(text: string) => void} announce @param {DOMStringMap} words
 */
export function follow(form, announce, words) {
  const sections = [...document.querySelectorAll("section.response")];
  read = sections.map(index);
  document.addEventListener("selectionchange", () => { selected = selection(sections) || selected; });

  /** @param {Element | null} criterion */
  const mark = (criterion) => {
    const box = /** @type {HTMLTextAreaElement | null} */ (criterion?.querySelector("textarea[name$='-evidence']") || null);
    if (!box) return;
    const details = box.closest("details");
    if (details) details.open = true;
    if (!selected) { announce(words.markFirst || ""); return; }
    if (!passages(box.value).includes(selected)) {
      box.value = [...passages(box.value), selected].join("\n");
      box.dispatchEvent(new Event("input", { bubbles: true }));
      announce(words.marked || "");
    }
    selected = "";
    document.getSelection()?.removeAllRanges();
  };
  for (const button of form.querySelectorAll("[data-mark]")) {
    button.addEventListener("mousedown", (event) => event.preventDefault());  // keeps the selection
    button.addEventListener("click", () => mark(button.closest("fieldset.criterion")));
  }
  form.addEventListener("input", (event) => {
    if (event.target instanceof HTMLTextAreaElement && event.target.name.endsWith("-evidence")) paint(form);
  });
  paint(form);
  return mark;
}
