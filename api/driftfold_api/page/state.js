// A job's state and progress, as the list and the page of a job show them.

import { h, put } from "./dom.js";
import { count } from "./format.js";

const SIGNS = { queued: "…", running: "▶", canceling: "■", paused: "‖", succeeded: "✓", failed: "✗", canceled: "■", deleted: "–" };

/** A state, with a sign for those who see no colours. */
export const badge = (state) =>
  h("span", { class: `state ${state}` }, h("span", { "aria-hidden": "true" }, SIGNS[state]), ` ${state}`);

/** A bar, and the rounds in words. */
export class Progress {
  constructor(name) {
    this.bar = h("progress", { max: 1, value: 0, "aria-label": `Progress of ${name}` });
    this.text = h("span");
    this.element = h("span", { class: "progress" }, this.bar, this.text);
  }

  /** `share` is for horizons that are no number of rounds. */
  show(rounds, wanted, share = null) {
    const reached = wanted ? rounds / wanted : share;
    this.bar.hidden = reached === null;
    if (reached !== null) this.bar.value = Math.min(1, reached);
    put(this.text, wanted ? `${count(rounds)} / ${count(wanted)}` : `${count(rounds)} rounds`);
  }
}
