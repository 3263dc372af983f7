// The records of one job, by metric.

import { number } from "./format.js";

/** One metric's values, with the round and the virtual time of each. */
class Metric {
  round = [];
  time = [];
  values = [];
}

export class Log {
  metrics = new Map(); // "evaluation/gap" -> Metric
  round = [0]; // of record 0, 1, 2, ...; 0 is the beginning
  time = [0];

  take(record) {
    const time = number(record.time);
    this.round.push(record.version);
    this.time.push(Number.isFinite(time) ? time : this.time.at(-1)); // an axis has no infinity
    for (const [name, value] of Object.entries(record.values)) this.add(record.kind, name, value);
    for (const [name, value] of Object.entries(record.timing ?? {})) this.add("seconds", name, value);
  }

  add(group, name, value) {
    const key = `${group}/${name}`;
    let metric = this.metrics.get(key);
    if (!metric) this.metrics.set(key, (metric = new Metric()));
    metric.round.push(this.round.at(-1));
    metric.time.push(this.time.at(-1));
    metric.values.push(number(value));
  }

  /** Where a lifecycle event belongs that happened after so many records. */
  place(seq, axis) {
    return this[axis][Math.min(seq, this[axis].length - 1)];
  }
}

const FIRST = ["evaluation/gap", "evaluation/loss"];

/** What to show to somebody who has not chosen. */
export function preferred(keys) {
  return FIRST.find((key) => keys.includes(key)) ?? keys.find((key) => key.startsWith("evaluation/")) ?? keys[0];
}
