// What can be done to a job. Whatever changes its course is asked for first.

import { ask, FINAL, home } from "./api.js";
import { h, put } from "./dom.js";

const over = ({ state }) => FINAL.includes(state) && state !== "deleted";
const ACTIONS = {
  resume: { text: "Resume job", when: (job) => job.state === "paused" || job.pausing },
  pause: {
    text: "Pause job",
    when: (job) => job.state === "queued" || (job.state === "running" && !job.pausing),
    question: (name) => `Pause ${name}? It stops after its round, and goes on from there when it is resumed.`,
    yes: "Pause the job",
    no: "Go on",
  },
  cancel: {
    text: "Cancel job",
    when: (job) => !FINAL.includes(job.state),
    idle: (job) => job.state === "canceling",
    question: (name) => `Cancel ${name}? It ends after its round and cannot go on.`,
    yes: "Cancel the job",
    no: "Keep it",
    grave: true,
  },
  retry: {
    text: "Retry job",
    when: ({ state }) => state === "failed" || state === "canceled",
    question: (name) => `Try ${name} again? A new job goes on from its last snapshot.`,
    yes: "Retry the job",
    no: "Leave it",
    makes: true,
  },
  clone: {
    text: "Clone job",
    when: over,
    question: (name) => `Run ${name} once more from the start, as a new job?`,
    yes: "Clone the job",
    no: "Leave it",
    makes: true,
  },
};

export class Actions {
  /** `done` is given what the service says then of the job. */
  constructor(name, done) {
    this.name = name;
    this.done = done;
    this.problem = h("p", { class: "problem", role: "alert" });
    this.buttons = new Map(Object.entries(ACTIONS).map(([key, { text }]) => [key, h("button", { hidden: true, onclick: () => this.ask(key) }, text)]));
    this.element = h("span", { class: "actions" }, [...this.buttons.values()]);
  }

  show(job) {
    this.job = job;
    const focused = [...this.buttons.values()].find((button) => button === document.activeElement);
    for (const [key, button] of this.buttons) {
      button.hidden = !ACTIONS[key].when(job);
      button.disabled = Boolean(ACTIONS[key].idle?.(job));
    }
    // Who works by keyboard stays where things are done.
    if (focused?.hidden) [...this.buttons.values()].find((button) => !button.hidden)?.focus();
  }

  ask(key) {
    const { question, yes, no, grave } = ACTIONS[key];
    if (!question) return this.do(key);
    const sure = h("button", { class: grave && "danger", value: "yes" }, yes);
    const dialog = h("dialog", { "aria-labelledby": "question", onclose: () => (dialog.remove(), dialog.returnValue === "yes" && this.do(key)) },
      h("form", { method: "dialog" }, h("p", { id: "question" }, question(this.name)), h("div", { class: "tools" }, sure, h("button", { autofocus: true, value: "no" }, no))),
    );
    this.element.append(dialog);
    dialog.showModal();
  }

  async do(key) {
    put(this.problem, "");
    try {
      const job = await ask(`${home(this.job.id)}/${key}`, "POST");
      if (ACTIONS[key].makes) location.hash = `#/jobs/${job.id}`;
      else this.done(job);
    } catch (error) {
      put(this.problem, error.message);
    }
  }
}
