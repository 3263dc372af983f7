// The list of jobs, live.

import { ask } from "./api.js";
import { connected, fill, h, put } from "./dom.js";
import { inWords } from "./group.js";
import { ago, between, called, duration } from "./format.js";
import { badge, Progress } from "./state.js";

const EVERY = 1000; // milliseconds
const MOST = 5; // jobs in one comparison: browsers open six connections to a server
const STATES = ["queued", "running", "canceling", "paused", "succeeded", "failed", "canceled"];

const chosen = new Set(); // for as long as the page is open: who comes back goes on choosing

export function jobs(main) {
  const list = new List();
  main.append(...list.parts);
  list.look();
  return () => list.close();
}

class List {
  rows = new Map(); // id -> Row
  pages = 1;
  chosen = chosen;

  constructor() {
    this.body = h("tbody");
    this.about = h("p", { class: "quiet" });
    this.state = h("select", { onchange: () => this.look() },
      h("option", { value: "" }, "all"),
      STATES.map((state) => h("option", {}, state)),
    );
    this.compare = h("button", { disabled: true, onclick: () => (location.hash = `#/compare/${[...this.chosen].join(",")}`) }, "Compare");
    this.more = h("button", { hidden: true, onclick: () => ((this.pages += 1), this.look()) }, "Show more");
    this.empty = h("div", { class: "empty", hidden: true });
    const heads = ["", "Job", "State", "Progress", "Worker", "Submitted", "Took"];
    this.table = h("table", { class: "jobs" },
      h("caption", { class: "unseen" }, "Jobs, newest first"),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head || h("span", { class: "unseen" }, "Compare"))))),
      this.body,
    );
    this.groups = h("section", { "aria-label": "Groups", hidden: true });
    this.parts = [
      h("div", { class: "top" }, h("h1", { tabindex: -1 }, "Jobs"), this.about),
      h("div", { class: "tools" }, h("label", {}, "State ", this.state), this.compare, h("span", { class: "quiet" }, `Choose 2 to ${MOST} jobs to compare.`)),
      this.groups,
      this.table,
      this.empty,
      this.more,
    ];
    this.wake = () => document.hidden || this.look();
    document.addEventListener("visibilitychange", this.wake);
    document.title = "driftfold: jobs";
  }

  async look() {
    clearTimeout(this.timer);
    const turn = (this.turn = {}); // an answer to an older question is not shown
    const began = performance.now();
    try {
      const [found, more] = await this.fetch();
      const { workers } = await ask("v1/workers");
      const { groups } = await ask("v1/groups?limit=5");
      if (turn !== this.turn) return;
      this.show(found, more);
      this.tell(workers, found);
      this.gather(groups);
      connected(true);
    } catch {
      if (turn !== this.turn) return;
      connected(false);
    }
    // A slow service is asked less often.
    if (!document.hidden) this.timer = setTimeout(() => this.look(), Math.max(EVERY, 5 * (performance.now() - began)));
  }

  async fetch() {
    const found = [];
    let cursor = null;
    for (let page = 0; page < this.pages; page += 1) {
      const query = new URLSearchParams({ limit: 50 });
      if (this.state.value) query.set("state", this.state.value);
      if (cursor) query.set("cursor", cursor);
      const part = await ask(`v1/jobs?${query}`);
      found.push(...part.jobs);
      cursor = part.cursor;
      if (!cursor) break;
    }
    return [found, cursor !== null];
  }

  /** Change only what has changed: focus and selection stay where they are. */
  show(found, more) {
    const ids = new Set(found.map((job) => job.id));
    for (const [id, row] of this.rows) {
      if (ids.has(id)) continue;
      row.element.remove();
      this.rows.delete(id);
    }
    for (const id of this.chosen) if (!ids.has(id)) this.chosen.delete(id);
    let before = this.body.firstChild;
    for (const job of found) {
      let row = this.rows.get(job.id);
      if (!row) this.rows.set(job.id, (row = new Row(job, this.chosen.has(job.id), (yes) => this.choose(job.id, yes))));
      row.show(job);
      if (row.element === before) before = before.nextSibling;
      else this.body.insertBefore(row.element, before);
    }
    this.table.hidden = found.length === 0;
    this.more.hidden = !more;
    this.choose();
  }

  /** Show the latest groups; their jobs are in the list, too. */
  gather(groups) {
    this.groups.hidden = groups.length === 0;
    const known = JSON.stringify(groups);
    if (known === this.known) return;
    this.known = known;
    const line = ({ id, name, progress, states }) => {
      const bar = new Progress(name || `group …${id.slice(-8)}`);
      bar.show(progress.rounds, progress.horizon_rounds);
      return h("li", {}, h("a", { href: `#/groups/${id}` }, name || `group …${id.slice(-8)}`), " ", bar.element, " ", h("span", { class: "quiet" }, `${progress.finished} of ${progress.jobs} jobs over: ${inWords(states)}`));
    };
    const focused = document.activeElement?.getAttribute("href");
    fill(this.groups, h("h2", {}, "Groups"), h("ul", { class: "groups" }, groups.map(line)));
    if (focused) this.groups.querySelector(`a[href="${focused}"]`)?.focus();
  }

  tell(workers, found) {
    const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
    const busy = workers.reduce((sum, worker) => sum + worker.jobs.length, 0);
    const waits = found.some((job) => job.state === "queued");
    put(
      this.about,
      workers.length === 0
        ? `No worker is there.${waits ? " Queued jobs wait until one comes: driftfold worker" : ""}`
        : `${workers.length} ${workers.length === 1 ? "worker" : "workers"}, ${busy} of ${slots} slots busy`,
    );
    this.about.classList.toggle("warning", workers.length === 0 && waits);
    this.empty.hidden = found.length > 0;
    if (found.length === 0 && !this.empty.firstChild) {
      fill(this.empty, h("p", {}, "No jobs here. Submit one:"), h("pre", {}, "driftfold submit pca-synthetic --watch"));
    }
  }

  choose(id, yes) {
    if (id) this.chosen[yes ? "add" : "delete"](id);
    const size = this.chosen.size;
    this.compare.disabled = size < 2 || size > MOST;
    put(this.compare, size > 1 ? `Compare ${size}` : "Compare");
  }

  close() {
    this.turn = null;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.wake);
  }
}

class Row {
  constructor(job, checked, choose) {
    const name = called(job);
    this.progress = new Progress(name);
    this.state = h("td");
    this.reason = h("span", { class: "reason" });
    this.worker = h("td", { class: "worker", "data-label": "Worker" });
    this.submitted = h("time", { datetime: job.created });
    this.took = h("td", { "data-label": "Took" });
    this.element = h("tr", {},
      h("td", {}, h("input", { type: "checkbox", checked, "aria-label": `Compare ${name}`, onchange: ({ target }) => choose(target.checked) })),
      h("th", { scope: "row" }, h("a", { href: `#/jobs/${job.id}`, title: job.id }, name), this.reason),
      this.state,
      h("td", { class: "far" }, this.progress.element),
      this.worker,
      h("td", { "data-label": "Submitted" }, this.submitted),
      this.took,
    );
  }

  show(job) {
    if (job.state !== this.shown) fill(this.state, badge(job.state));
    this.shown = job.state;
    this.progress.show(job.progress.rounds, job.progress.horizon_rounds);
    put(this.reason, job.state === "failed" ? job.reason : "");
    put(this.worker, job.worker + (job.attempt > 1 ? ` (attempt ${job.attempt})` : ""));
    put(this.submitted, ago(job.created));
    put(this.took, job.started ? duration(Math.max(0, between(job.started, job.finished))) : "");
  }
}
