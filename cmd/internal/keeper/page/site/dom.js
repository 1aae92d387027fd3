// Elements, made without markup: whatever text comes in stays text.

/**
 * el makes an element. Of props, class and text are what they say, functions named on… listen, true is an attribute without
 * a value, null and false are none; anything else is an attribute.
 */
export function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") e.className = value;
    else if (name === "text") e.textContent = value;
    else if (name === "value") e.value = value;
    else if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** button makes one that does something. */
export function button(text, does, props) {
  return el("button", { type: "button", text, onclick: does, ...props });
}

/** facts makes a list of names and values. Values are text or nodes; those that are empty are left out. */
export function facts(pairs, cls = "facts") {
  const list = el("dl", { class: cls });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value.length === 0) continue;
    list.append(el("div", null, el("dt", { text: name }), el("dd", null, value)));
  }
  return list;
}

/** say has a screen reader tell something, once. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** land puts the focus on the title of what is shown, so that it does not fall out of the page. */
export function land(title) {
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
}
