// @ts-check
/** Keys of the blinding review. Without it every step is a button or a link. */

document.documentElement.classList.add("scripted");
const form = document.getElementById("review");
const shortcuts = form?.dataset.shortcuts !== "off";

document.addEventListener("keydown", (event) => {
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if (event.isComposing) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form?.contains(target)) {
    event.preventDefault();
    const first = form.querySelector("button.primary");
    if (first instanceof HTMLButtonElement) first.click();
    return;
  }
  if (!shortcuts || event.ctrlKey || event.altKey || event.metaKey || event.getModifierState("AltGraph")) return;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement) return;
  const where = { n: "next", p: "prev" }[event.key];
  const link = where && document.querySelector(`a[rel=${where}]`);
  if (link instanceof HTMLAnchorElement) link.click();
});
