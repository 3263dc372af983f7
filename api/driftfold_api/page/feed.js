// One job's log as it grows: every record exactly once, over any number of connections.

import { ask, home } from "./api.js";

const AGAIN = 1000; // milliseconds

/** Follows a job; `hear` has record, lifecycle, waiting, end, connected. */
export class Feed {
  last = 0; // number of the last record taken
  told = 0; // number of the last lifecycle event taken
  over = false;

  constructor(job, hear) {
    this.job = job;
    this.hear = hear;
    // Browsers grant few connections to one server. A hidden page needs none: it catches up.
    this.look = () => (document.hidden ? this.hush() : this.open());
    document.addEventListener("visibilitychange", this.look);
    this.look();
  }

  open() {
    if (this.over || this.source) return;
    const from = `after=${this.last}&lifecycle_after=${this.told}`;
    const source = new EventSource(`${home(this.job)}/events?${from}`);
    this.source = source;
    source.onopen = () => this.hear.connected(true);
    source.onmessage = ({ data }) => this.record(JSON.parse(data));
    source.addEventListener("lifecycle", ({ data }) => this.lifecycle(JSON.parse(data)));
    source.addEventListener("waiting", this.hear.waiting);
    source.addEventListener("end", ({ data }) => this.end(JSON.parse(data)));
    source.onerror = () => {
      this.hear.connected(false);
      // Browsers come back after a lost connection, not after a refusal.
      if (source.readyState === EventSource.CLOSED) this.again();
    };
  }

  record(record) {
    if (record.seq <= this.last) return;
    if (record.seq > this.last + 1) return this.again(0); // ask for what is missing
    this.last = record.seq;
    this.hear.record(record);
  }

  lifecycle(event) {
    if (event.number <= this.told) return;
    this.told = event.number;
    this.hear.lifecycle(event);
  }

  end(facts) {
    this.close();
    this.hear.end(facts);
  }

  again(after = AGAIN) {
    this.hush();
    this.timer = setTimeout(async () => {
      try {
        await ask(home(this.job));
      } catch (error) {
        if (error.status === 404) return this.end({ state: "deleted", reason: error.message });
        return this.again();
      }
      if (!document.hidden) this.open();
    }, after);
  }

  hush() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
  }

  close() {
    this.over = true;
    document.removeEventListener("visibilitychange", this.look);
    this.hush();
  }
}
