// How the service is: its parts, its queue, its workers. #/health

import { ask } from "./api.js";
import { connected, fill, h, put, table } from "./dom.js";
import { count, duration, short } from "./format.js";

const EVERY = 2000; // milliseconds
const seconds = (value) => (value >= 1 ? duration(Math.round(value)) : value > 0 ? "under 1 s" : "–");

export function health(main) {
  const view = new Health();
  main.append(...view.parts);
  view.look();
  return () => view.close();
}

class Health {
  constructor() {
    this.about = h("p", { class: "quiet" });
    this.service = h("div");
    this.queue = h("div");
    this.workers = h("div");
    this.links = h("p", { class: "quiet" }, "As JSON: ", ["condition", "queue", "workers"].map((name) => [h("a", { href: `v1/${name}` }, name), " "]), "For Prometheus: ", h("a", { href: "metrics" }, "metrics"));
    this.parts = [
      h("div", { class: "top" }, h("h1", { tabindex: -1 }, "Health"), this.about),
      this.service,
      this.queue,
      this.workers,
      this.links,
    ];
    this.wake = () => document.hidden || this.look();
    document.addEventListener("visibilitychange", this.wake);
    document.title = "driftfold: health";
  }

  async look() {
    clearTimeout(this.timer);
    const turn = (this.turn = {}); // an answer to an older question is not shown
    const parts = ["condition", "queue", "workers"].map((name) => ask(`v1/${name}`));
    const [condition, queue, workers] = (await Promise.allSettled(parts)).map(({ value }) => value);
    if (turn !== this.turn) return;
    connected(condition !== undefined);
    if (condition) this.tell(condition);
    // Without its job store the service knows neither.
    if (queue) this.line(queue);
    else if (condition) fill(this.queue, h("h2", {}, "Queue"), h("p", { class: "quiet" }, "Unknown while the job store does not answer."));
    if (workers) this.crew(workers.workers);
    else if (condition) fill(this.workers);
    if (!document.hidden) this.timer = setTimeout(() => this.look(), EVERY);
  }

  tell({ version, job_store: store, archive, recorder, jobs, streams }) {
    const well = store.up && archive.up && recorder.up;
    put(this.about, well ? "All parts answer." : "Not all parts answer.");
    this.about.classList.toggle("warning", !well);
    const lag = recorder.lag_records === null ? "" : recorder.lag_jobs ? `${count(Math.round(recorder.lag_records))} records of ${count(recorder.lag_jobs)} jobs are not recorded yet` : "all is recorded";
    const rows = [
      ["Job store", store.up, store.detail],
      ["Archive", archive.up, archive.detail],
      ["Recorder", recorder.up, [recorder.up && (recorder.here ? "in this process" : "in another process"), lag].filter(Boolean).join("; ")],
      ["API", true, `version ${version}, ${count(streams)} ${streams === 1 ? "stream" : "streams"} open`],
    ];
    const row = ([name, up, detail]) =>
      h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, h("span", { class: `state ${up ? "succeeded" : "failed"}` }, h("span", { "aria-hidden": "true" }, up ? "✓" : "✗"), up ? " up" : " down")), h("td", {}, detail));
    const states = Object.entries(jobs).filter(([, number]) => number > 0).map(([state, number]) => `${count(number)} ${state}`);
    fill(this.service, table("Parts", ["Part", "State", "What it says"], "", ...rows.map(row)), h("p", { class: "quiet" }, states.length ? `Jobs: ${states.join(", ")}.` : "No jobs."));
  }

  line(queue) {
    const facts = {
      waiting: queue.depth,
      "wait for a time": queue.delayed,
      "wait for others": queue.held,
      paused: queue.paused,
      running: `${count(queue.running)} of ${count(queue.slots)} slots`,
      dead: queue.dead,
      "ended a minute": short(queue.ended_per_minute),
      "empty in about": queue.wait_seconds === null ? "unknown" : seconds(queue.wait_seconds),
      limit: queue.limit,
    };
    const fact = ([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "number" ? count(value) : value));
    const row = (line) => h("tr", {}, h("th", { scope: "row" }, line.priority), h("td", { class: "number" }, count(line.depth)), h("td", { class: "number" }, line.depth ? seconds(line.oldest_seconds) : "–"));
    fill(this.queue,
      h("h2", {}, "Queue"),
      h("dl", { "aria-label": "Queue" }, Object.entries(facts).map(fact)),
      table("Jobs that begin as soon as a worker is free", ["Priority", "Jobs", "The next has waited"], "values", ...queue.lines.map(row)),
    );
  }

  crew(workers) {
    const job = (id) => h("a", { href: `#/jobs/${id}`, title: id }, `…${id.slice(-8)}`);
    const row = (worker) => h("tr", {},
      h("th", { scope: "row" }, worker.name),
      h("td", {}, worker.host),
      h("td", {}, worker.version),
      h("td", {}, `${worker.jobs.length} of ${worker.slots}`),
      h("td", {}, worker.jobs.flatMap((id) => [job(id), " "])),
      h("td", {}, count(worker.kinds.length)),
      h("td", {}, `${seconds(worker.seen)} ago`.replace("– ago", "just now").replace("under 1 s ago", "just now")),
    );
    const heads = ["Worker", "Host", "Version", "Busy slots", "Jobs", "Kinds", "Last sign"];
    fill(this.workers, h("h2", {}, "Workers"), workers.length ? table("Workers that are there", heads, "", ...workers.map(row)) : h("p", { class: "warning" }, "No worker is there; start one with driftfold worker."));
  }

  close() {
    this.turn = null;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.wake);
  }
}
