// One job's facts: state, progress, attempts, result, files, what can be done to it.

import { Actions } from "./actions.js";
import { ask, FINAL, home } from "./api.js";
import { fill, h, put, say, table } from "./dom.js";
import { ago, between, called, clock, count, duration } from "./format.js";
import { badge, Progress } from "./state.js";

const ENDED = { rounds: "all rounds done", seconds: "virtual time is over", "nobody left": "no client will ever be available again" };

export class Card {
  /** `job` is what the service says of it; `index` its place among the jobs shown. */
  constructor(job, index, alone) {
    this.name = called(job);
    this.progress = new Progress(this.name);
    this.state = h("span");
    this.facts = h("p", { class: "quiet" });
    this.reason = h("p", { class: "reason", hidden: true });
    this.diverged = h("p", { class: "problem", hidden: true });
    this.actions = new Actions(this.name, (job) => this.show(job));
    this.result = h("div");
    this.attempts = h("div");
    this.links = h("p", { class: "quiet" });
    this.kin = h("p", { class: "quiet", hidden: true });
    this.title = alone
      ? h("h1", { tabindex: -1 }, this.name)
      : h("h2", {}, h("span", { class: `swatch curve-${index}` }), h("a", { href: `#/jobs/${job.id}` }, this.name));
    this.element = h("section", { class: "card", "aria-label": this.name },
      h("div", { class: "top" }, this.title, this.state, this.progress.element, this.actions.element),
      this.facts,
      this.kin,
      this.reason,
      this.diverged,
      this.actions.problem,
      this.result,
      this.links,
    );
    const spec = h("pre", { tabindex: 0 }, JSON.stringify(job.spec, null, 2));
    this.more = [this.attempts, alone && h("details", {}, h("summary", {}, "Specification"), spec)];
    this.show(job);
  }

  /** Show what the service says of the job now. */
  show(job) {
    const changed = this.job?.state !== job.state;
    if (this.job && changed) say(`${this.name} is ${job.state}`);
    this.job = job;
    this.tick();
    this.far();
    this.actions.show(job);
    this.relate(job);
    if (!changed) return;
    fill(this.state, badge(job.state));
    const parts = { job: "", records: "/records", lifecycle: "/lifecycle", ...(job.state === "succeeded" && { result: "/result" }) };
    const link = ([text, part]) => [" ", h("a", { href: home(job.id) + part }, text)];
    fill(this.links, job.state !== "deleted" && ["As JSON:", ...Object.entries(parts).map(link)].flat());
  }

  /** Say from which job this one was made, and which tries it again. */
  relate({ origin, retried_by: by, dead }) {
    const link = (id, text) => h("a", { href: `#/jobs/${id}` }, text);
    const from = { retry: "Tries again ", clone: "A copy of " };
    fill(this.kin,
      origin && [from[origin.how], link(origin.job, "another job"), ". "],
      dead && "Its attempts ran out. ",
      by && ["It was ", link(by, "tried again"), "."],
    );
    this.kin.hidden = !this.kin.firstChild;
  }

  /** Say since when, and for how long. */
  tick() {
    const { job } = this;
    const left = Math.max(0, Math.ceil(-between(job.due)));
    put(this.reason, job.reason.replace(/^retry in \d+/, `retry in ${left}`));
    this.reason.hidden = !job.reason;
    this.diverged.hidden = job.diverged == null;
    if (!this.diverged.hidden) {
      put(this.diverged, `Record ${job.diverged} was computed again and is another one: the job is not deterministic.`);
    }
    const over = FINAL.includes(job.state);
    const seconds = job.started ? Math.max(0, between(job.started, job.finished)) : 0;
    const took = job.started && job.state !== "paused" && (over ? `took ${duration(seconds)}` : `running for ${duration(Math.floor(seconds))}`);
    const who = job.worker && `${over ? "last on" : "on"} ${job.worker}`;
    put(this.facts, [`submitted ${ago(job.created)}`, took, who, job.attempt > 1 && `attempt ${job.attempt}`, job.id].filter(Boolean).join(" · "));
  }

  /** Show how far its log has come. */
  far(round = 0, time = 0) {
    const { job } = this;
    const { rounds, horizon_rounds: wanted } = job.progress;
    const seconds = job.spec.horizon?.seconds;
    this.progress.show(Math.max(round, rounds), wanted, seconds ? time / seconds : null);
  }

  /** Fetch what only changes with the job's lifecycle. */
  async refresh() {
    const { id } = this.job;
    const [job, { attempts }] = await Promise.all([ask(home(id)), ask(`${home(id)}/attempts`)]);
    this.show(job);
    if (attempts.length > 1) this.list(attempts);
    if (FINAL.includes(job.state) && !this.closed) {
      this.closed = true;
      const { artefacts } = await ask(`${home(id)}/artefacts`);
      if (artefacts.length) this.links.append(" Files: ", ...artefacts.flatMap((file) => [h("a", { href: file.href.replace(/^\//, ""), download: true }, file.name), " "]));
      if (job.state === "succeeded") this.conclude(await ask(`${home(id)}/result`));
    }
  }

  list(attempts) {
    const cells = ({ attempt, worker, started, resumed, outcome, reason, first, last }) => [
      attempt,
      worker,
      clock(started) + (resumed ? ", from a snapshot" : ""),
      reason && reason !== outcome ? `${outcome}: ${reason}` : outcome,
      count(first + 1),
      last == null ? "" : count(last),
    ];
    const heads = ["Attempt", "Worker", "Began", "Outcome", "From record", "To record"];
    const row = (attempt) => h("tr", {}, cells(attempt).map((text) => h("td", {}, String(text))));
    fill(this.attempts, table(`Attempts at ${this.name}`, heads, "", ...attempts.map(row)));
  }

  conclude(result) {
    const { ended, rounds, events, time, metrics_digest: digest } = result;
    const facts = { ended: ENDED[ended] ?? ended, rounds, events, "virtual time": time != null && duration(time), "metrics digest": digest && h("span", { title: digest }, `${digest.slice(0, 16)}…`) };
    const row = ([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "number" ? count(value) : value));
    fill(this.result, h("dl", { "aria-label": "Result" }, Object.entries(facts).filter(([, value]) => value != null && value !== false).map(row)));
  }
}
