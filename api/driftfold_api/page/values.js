// The latest value of every metric: says in text what curves show, and chooses which are drawn.

import { h, put, table } from "./dom.js";
import { count, short } from "./format.js";

const GROUPS = { evaluation: "measured", round: "of the round", fault: "faults", seconds: "seconds of real time" };

export class Values {
  rows = new Map(); // metric -> { box, cells, at }
  groups = new Map(); // group -> tbody

  constructor(jobs, choose) {
    this.jobs = jobs;
    this.choose = choose;
    const columns = jobs.length > 1 ? jobs.map(({ name }) => name) : ["Latest value"];
    this.element = table("Latest values", ["Metric", ...columns, "Round"], "values");
    this.table = this.element.firstChild;
  }

  show(chosen) {
    for (const { log } of this.jobs) for (const key of log.metrics.keys()) if (!this.rows.has(key)) this.add(key);
    for (const [key, { box, cells, at }] of this.rows) {
      const round = [];
      this.jobs.forEach(({ log }, job) => {
        const metric = log.metrics.get(key);
        if (!metric) return;
        put(cells[job], short(metric.values.at(-1)));
        round.push(count(metric.round.at(-1)));
      });
      put(at, [...new Set(round)].join(", "));
      box.checked = chosen.includes(key);
    }
  }

  add(key) {
    const [group, name] = key.split("/");
    if (!this.groups.has(group)) {
      const body = h("tbody", {}, h("tr", {}, h("th", { scope: "rowgroup", colspan: this.jobs.length + 2 }, GROUPS[group] ?? group)));
      this.groups.set(group, body);
      // What people look for stands first.
      if (group === "evaluation") this.table.tHead.after(body);
      else this.table.append(body);
    }
    const box = h("input", { type: "checkbox", onchange: () => this.choose(key, box.checked) });
    const cells = this.jobs.map(() => h("td", { class: "number" }));
    const at = h("td", { class: "number" });
    this.groups.get(group).append(h("tr", { "data-metric": key }, h("th", { scope: "row" }, h("label", {}, box, ` ${name}`)), ...cells, at));
    this.rows.set(key, { box, cells, at });
  }
}
