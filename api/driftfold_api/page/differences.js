// How the specifications of several jobs differ.

import { h, table } from "./dom.js";

/** {a: {b: 1}} -> [["a.b", "1"]] */
function flat(value, path = "") {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([name, inner]) => flat(inner, path ? `${path}.${name}` : name));
}

/** A table of the fields that are not the same in all, one column for each job. */
export function differences(jobs) {
  const fields = jobs.map(({ spec }) => new Map(flat(spec)));
  const names = [...new Set(fields.flatMap((table) => [...table.keys()]))];
  const unequal = names.filter((name) => new Set(fields.map((table) => table.get(name))).size > 1);
  if (unequal.length === 0) return h("p", { class: "quiet" }, "The specifications are the same.");
  const row = (name) => h("tr", {}, h("th", { scope: "row" }, name), fields.map((table) => h("td", {}, table.get(name) ?? "–")));
  const heads = ["Field", ...jobs.map(({ name }) => name)];
  return table("What differs in their specifications", heads, "differences", ...unequal.map(row));
}
