// The logs of some jobs as they grow: every record exactly once, on one connection at a time.

import { ask, home } from "./api.js";

const AGAIN = 1000; // milliseconds

/** Follows jobs; `hear` has record, lifecycle, waiting, end, each with the job's id first; connected. */
export class Feed {
  cursor = null; // what the last event that was taken counts
  last = new Map(); // job -> number of the last record taken
  told = new Map(); // job -> number of the last lifecycle event taken

  constructor(jobs, hear) {
    this.living = new Set(jobs); // those whose end is not known
    this.hear = hear;
    // A hidden page needs no connection: it catches up.
    this.look = () => (document.hidden ? this.hush() : this.open());
    document.addEventListener("visibilitychange", this.look);
    this.look();
  }

  open() {
    if (this.living.size === 0 || this.source) return;
    const query = new URLSearchParams({ jobs: [...this.living].join(), ...(this.cursor && { cursor: this.cursor }) });
    const source = new EventSource(`v1/events?${query}`);
    this.source = source;
    source.onopen = () => this.hear.connected(true);
    for (const kind of ["records", "lifecycle", "waiting", "gap", "end"]) {
      source.addEventListener(kind, ({ data, lastEventId }) => {
        const { job, ...facts } = JSON.parse(data);
        if (source === this.source && this[kind](job, facts) !== false) this.cursor = lastEventId || this.cursor;
      });
    }
    source.onerror = () => {
      this.hear.connected(false);
      // Browsers come back after a lost connection, not after a refusal.
      if (source.readyState === EventSource.CLOSED) this.again();
    };
  }

  records(job, { records }) {
    for (const record of records) {
      const last = this.last.get(job) ?? 0;
      if (record.seq <= last) continue;
      if (record.seq > last + 1) return this.again(0); // ask for what is missing
      this.last.set(job, record.seq);
      this.hear.record(job, record);
    }
  }

  lifecycle(job, event) {
    if (event.number <= (this.told.get(job) ?? 0)) return;
    this.told.set(job, event.number);
    this.hear.lifecycle(job, event);
  }

  waiting(job, facts) {
    this.hear.waiting(job, facts);
  }

  /** Records that nobody has any more. */
  gap(job, { last }) {
    this.last.set(job, Math.max(last, this.last.get(job) ?? 0));
  }

  end(job, facts) {
    this.living.delete(job);
    if (this.living.size === 0) this.close();
    this.hear.end(job, facts);
  }

  /** Come back later, without those that are gone; returns false: what led here was not taken. */
  again(after = AGAIN) {
    this.hush();
    this.timer = setTimeout(async () => {
      for (const job of [...this.living]) {
        try {
          await ask(home(job));
        } catch (error) {
          if (error.status !== 404) return this.again();
          this.end(job, { state: "deleted", reason: error.message });
        }
      }
      if (!document.hidden) this.open();
    }, after);
    return false;
  }

  hush() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  close() {
    this.living.clear();
    document.removeEventListener("visibilitychange", this.look);
    this.hush();
  }
}
