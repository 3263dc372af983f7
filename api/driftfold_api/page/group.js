// One group: how far it is, and its jobs with their points.

import { ask } from "./api.js";
import { connected, fill, h, put } from "./dom.js";
import { ago, count } from "./format.js";
import { badge, Progress } from "./state.js";

const EVERY = 1000; // milliseconds
const PAGE = 100;

/** How many jobs are in which state: "3 running, 5 queued". */
export const inWords = (states) => Object.entries(states).map(([state, jobs]) => `${count(jobs)} ${state}`).join(", ");

export function group(main, id) {
  const view = new Group(main, id);
  view.look();
  return () => view.close();
}

class Group {
  rows = new Map(); // number -> Row
  wanted = PAGE;

  constructor(main, id) {
    this.main = main;
    this.home = `v1/groups/${encodeURIComponent(id)}`;
    this.title = h("h1", { tabindex: -1 }, "Loading …");
    this.progress = new Progress("the group");
    this.about = h("p", { class: "quiet" });
    this.ended = h("p", { class: "reason", hidden: true });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.cancel = h("button", { hidden: true, onclick: () => this.ask() }, "Cancel group");
    this.body = h("tbody");
    this.head = h("tr");
    this.table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Jobs of the group" },
      h("table", {}, h("caption", {}, "Jobs, by their points"), h("thead", {}, this.head), this.body));
    this.more = h("button", { hidden: true, onclick: () => ((this.wanted += PAGE), this.look()) }, "Show more");
    main.append(h("div", { class: "top" }, this.title, this.progress.element, this.cancel), this.about, this.ended, this.problem, this.table, this.more);
    this.wake = () => document.hidden || this.look();
    document.addEventListener("visibilitychange", this.wake);
  }

  async look() {
    clearTimeout(this.timer);
    const turn = (this.turn = {}); // an answer to an older question is not shown
    try {
      const told = await ask(this.home);
      const jobs = [];
      let [last, complete] = [0, false];
      while (!complete && jobs.length < this.wanted) {
        const part = await ask(`${this.home}/jobs?limit=${PAGE}&after=${last}`);
        jobs.push(...part.jobs);
        [last, complete] = [part.last, part.complete];
      }
      if (turn !== this.turn) return;
      this.show(told, jobs, !complete);
      connected(true);
      if (told.done) return;
    } catch (error) {
      if (turn !== this.turn) return;
      if (error.status >= 400 && error.status < 500) return fill(this.main, h("h1", { tabindex: -1 }, "There is no such group"), h("p", {}, error.message));
      connected(false);
    }
    if (!document.hidden) this.timer = setTimeout(() => this.look(), EVERY);
  }

  show(told, jobs, more) {
    const name = told.name || `group …${told.id.slice(-8)}`;
    put(this.title, name);
    document.title = `${name} – driftfold`;
    const { finished, jobs: all, rounds, horizon_rounds: wanted } = told.progress;
    this.progress.show(rounds, wanted);
    put(this.about, [`${finished} of ${all} jobs over`, inWords(told.states), `submitted ${ago(told.created)}`, told.id].join(" · "));
    put(this.ended, told.ended);
    this.ended.hidden = !told.ended;
    this.cancel.hidden = told.done;
    this.cancel.disabled = Boolean(told.ended);
    const paths = [...new Set(jobs.flatMap(({ point }) => Object.keys(point)))];
    if (this.head.childElementCount !== paths.length + 4) fill(this.head, ["#", "Job", ...paths, "State", "Progress"].map((text) => h("th", { scope: "col" }, text)));
    for (const child of jobs) {
      let row = this.rows.get(child.number);
      if (!row) {
        this.rows.set(child.number, (row = new Row(child, paths)));
        this.body.append(row.element);
      }
      row.show(child.job);
    }
    this.more.hidden = !more;
  }

  /** Ask first: it cannot be taken back. */
  ask() {
    const yes = h("button", { class: "danger", value: "yes" }, "Cancel the group");
    const dialog = h("dialog", { "aria-labelledby": "question", onclose: () => (dialog.remove(), dialog.returnValue === "yes" && this.stop()) },
      h("form", { method: "dialog" }, h("p", { id: "question" }, "Cancel all jobs of the group that are not over?"), h("div", { class: "tools" }, yes, h("button", { autofocus: true, value: "no" }, "Keep them"))),
    );
    this.main.append(dialog);
    dialog.showModal();
  }

  async stop() {
    put(this.problem, "");
    try {
      await ask(`${this.home}/cancel`, "POST");
      this.look();
    } catch (error) {
      put(this.problem, error.message);
    }
  }

  close() {
    this.turn = null;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.wake);
    connected(true);
  }
}

class Row {
  constructor({ number, point, job }, paths) {
    this.progress = new Progress(`job ${number}`);
    this.state = h("td");
    this.reason = h("span", { class: "reason" });
    const value = (path) => (typeof point[path] === "object" ? JSON.stringify(point[path]) : String(point[path] ?? ""));
    this.element = h("tr", {},
      h("td", {}, String(number)),
      h("th", { scope: "row" }, h("a", { href: `#/jobs/${job.id}` }, job.name || `job …${job.id.slice(-8)}`), " ", this.reason),
      paths.map((path) => h("td", {}, value(path))),
      this.state,
      h("td", {}, this.progress.element),
    );
  }

  show(job) {
    if (job.state !== this.shown) fill(this.state, badge(job.state));
    this.shown = job.state;
    this.progress.show(job.progress.rounds, job.progress.horizon_rounds);
    put(this.reason, ["failed", "canceled"].includes(job.state) ? job.reason : "");
  }
}
