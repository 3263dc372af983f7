// One job, or several compared: their curves grow as their logs do.

import { ask, FINAL, home } from "./api.js";
import { Card } from "./card.js";
import { Chart } from "./chart.js";
import { differences } from "./differences.js";
import { connected, fill, h } from "./dom.js";
import { Feed } from "./feed.js";
import { called } from "./format.js";
import { Log, preferred } from "./log.js";
import { Values } from "./values.js";

export function watch(main, ids, options) {
  const view = new Watch(main, [...new Set(ids)].slice(0, 5), options);
  view.open();
  return () => view.close();
}

class Watch {
  charts = new Map(); // metric -> Chart
  jobs = [];
  closed = false;
  cost = 0; // milliseconds of the last drawing

  constructor(main, ids, options) {
    this.main = main;
    this.ids = ids;
    this.style = { axis: options.get("axis") === "time" ? "time" : "round", log: options.has("log") };
    this.chosen = options.get("show")?.split(",") ?? null; // null: nobody has chosen yet
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => {
      for (const chart of this.charts.values()) chart.form = undefined; // draw anew
      this.change();
    };
    this.dark.addEventListener("change", this.recolour);
  }

  async open() {
    const waiting = h("h1", { tabindex: -1 }, "Loading …");
    this.main.append(waiting);
    try {
      const found = await Promise.all(this.ids.map((id) => ask(home(id))));
      if (this.closed) return;
      connected(true);
      const focused = document.activeElement === waiting;
      waiting.remove();
      this.show(found);
      if (focused) this.main.querySelector("h1").focus();
      this.follow();
    } catch (error) {
      if (this.closed) return;
      if (error.status >= 400 && error.status < 500) return fill(this.main, h("h1", { tabindex: -1 }, "There is no such job"), h("p", {}, error.message));
      connected(false);
      waiting.remove();
      this.retry = setTimeout(() => this.open(), 1000);
    }
  }

  show(found) {
    const alone = found.length === 1;
    this.jobs = found.map((job, index) => ({ ...job, index, name: called(job), job: called(job), log: new Log(), marks: [], card: new Card(job, index, alone) }));
    this.values = new Values(this.jobs, (key, yes) => this.choose(key, yes));
    this.figures = h("div", { class: "figures" });
    const radio = (axis, text) =>
      h("label", {}, h("input", { type: "radio", name: "axis", value: axis, checked: this.style.axis === axis, onchange: () => this.restyle({ axis }) }), ` ${text}`);
    const log = h("input", { type: "checkbox", checked: this.style.log, onchange: ({ target }) => this.restyle({ log: target.checked }) });
    const tools = h("div", { class: "tools" },
      h("fieldset", {}, h("legend", {}, "Against"), radio("round", "round"), radio("time", "virtual time")),
      h("label", {}, log, " logarithmic"),
      h("span", { class: "quiet" }, "Choose metrics in the table."),
    );
    const names = this.jobs.map(({ name }) => name);
    document.title = `${names.join(" / ")} – driftfold`;
    this.main.append(
      ...(alone ? [] : [h("h1", { tabindex: -1 }, `${found.length} jobs compared`)]),
      h("div", { class: "cards" }, this.jobs.map(({ card }) => card.element)),
      tools,
      this.figures,
      this.values.element,
      ...(alone ? [] : [differences(this.jobs)]),
      ...this.jobs.flatMap(({ card }) => card.more).filter(Boolean),
    );
    this.clock = setInterval(() => this.jobs.forEach(({ card }) => card.tick()), 1000);
  }

  follow() {
    const jobs = new Map(this.jobs.map((job) => [job.id, job]));
    this.feed = new Feed(jobs.keys(), {
      connected,
      record: (id, record) => (jobs.get(id).log.take(record), this.change()),
      lifecycle: (id, event) => (this.mark(jobs.get(id), event), this.soon(jobs.get(id))),
      waiting: (id) => this.soon(jobs.get(id)),
      end: (id, { state, reason }) => {
        const job = jobs.get(id);
        if (state === "deleted") job.card.show({ ...job.card.job, state, reason });
        else this.soon(job);
        this.change();
      },
    });
  }

  /** Note what curves show of a job's life. */
  mark(job, { kind, facts }) {
    const again = kind === "resumed" || (kind === "claimed" && facts.epoch > 1);
    const word = again ? `attempt ${facts.attempt}` : /lost|released/.test(kind) && facts.outcome;
    if (word) job.marks.push({ seq: facts.seq ?? 0, word });
  }

  /** Fetch a job's facts, once for events that come together. */
  soon(job) {
    clearTimeout(job.timer);
    job.timer = setTimeout(async () => {
      try {
        await job.card.refresh();
        this.change();
      } catch {
        if (!this.closed && !FINAL.includes(job.card.job.state)) this.soon(job);
      }
    }, 100);
  }

  choose(key, yes) {
    const now = this.keys();
    this.chosen = yes ? [...now, key] : now.filter((other) => other !== key);
    this.remember();
    this.change();
  }

  restyle(style) {
    Object.assign(this.style, style);
    this.remember();
    this.change();
  }

  /** Keep the choice in the address. */
  remember() {
    const [path] = location.hash.split("?");
    const { axis, log } = this.style;
    const query = new URLSearchParams({ ...(axis === "time" && { axis }), ...(log && { log: "" }), ...(this.chosen && { show: this.chosen }) });
    history.replaceState(null, "", query.size ? `${path}?${query}` : path);
  }

  keys() {
    const known = [...new Set(this.jobs.flatMap(({ log }) => [...log.metrics.keys()]))];
    if (this.chosen) return this.chosen.filter((key) => known.includes(key));
    return known.length ? [preferred(known)] : [];
  }

  /** Draw in a coming frame, however many records come before it, a third of the time at most. */
  change() {
    this.waiting ??= setTimeout(() => requestAnimationFrame(() => {
      this.waiting = undefined;
      const began = performance.now();
      if (!this.closed && this.values) this.draw();
      queueMicrotask(() => (this.cost = performance.now() - began)); // uPlot draws in one, too
    }), 2 * this.cost);
  }

  draw() {
    const keys = this.keys();
    for (const [key, chart] of this.charts) {
      if (keys.includes(key)) continue;
      chart.close();
      chart.element.remove();
      this.charts.delete(key);
    }
    for (const key of keys) {
      let chart = this.charts.get(key);
      if (!chart) {
        this.charts.set(key, (chart = new Chart(key, () => this.change())));
        this.figures.append(chart.element);
      }
      chart.draw(this.jobs, this.style);
    }
    this.values.show(keys);
    for (const { card, log } of this.jobs) card.far(log.round.at(-1), log.time.at(-1));
  }

  close() {
    this.closed = true;
    clearTimeout(this.retry);
    clearInterval(this.clock);
    this.dark.removeEventListener("change", this.recolour);
    this.feed?.close();
    for (const job of this.jobs) clearTimeout(job.timer);
    for (const chart of this.charts.values()) chart.close();
    connected(true);
  }
}
