// Elements. Whatever comes from outside becomes text, never markup.

/** Make an element: h("a", {href: "#/"}, "Jobs"). A function is a listener: {onclick: f}. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  fill(element, ...children);
  return element;
}

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(2).filter((child) => child != null && child !== false));
}

/** A table that scrolls sideways where there is too little room, by keyboard, too. */
export function table(name, heads, kind, ...rows) {
  const head = h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text))));
  const body = rows.length > 0 && h("tbody", {}, rows);
  const inner = h("table", { class: kind }, h("caption", {}, name), head, body);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, inner);
}

/** Change a text only when it differs. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Tell those who listen to a screen reader. */
export function say(text) {
  put(document.getElementById("said"), text);
}

/** Show whether the page hears the service. */
export function connected(yes) {
  const element = document.getElementById("connection");
  element.className = yes ? "" : "lost";
  put(element, yes ? "" : "Connection lost. Trying again …");
}
