// Values as people read them.

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** A number of a record; JSON has no NaN and no infinity, so these come as text. */
export const number = (value) => (typeof value === "string" ? Number(value) : value);

/** 0.17123456 -> "0.1712", 1234567 -> "1,234,567". */
export function short(value) {
  if (value == null) return "";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return count(value);
  const text = value.toPrecision(4);
  return text.includes("e") ? text.replace(/\.?0+e/, "e") : text.replace(/\.?0+$/, "");
}

export const count = (value) => value.toLocaleString("en");

/** Seconds in the largest unit that gives at least 1: 5400 -> "1.5 h". */
export function duration(seconds) {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["s", 1];
  const value = seconds / size;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}

/** The unit for an axis that ends at so many seconds. */
export const unitFor = (seconds) => UNITS.find(([, size]) => seconds >= 2 * size) ?? ["s", 1];

/** A moment of the past, as the time since. */
export function ago(moment) {
  const seconds = (Date.now() - new Date(moment)) / 1000;
  return seconds < 5 ? "just now" : `${duration(Math.floor(seconds))} ago`.replace(/\.\d+/, "");
}

export const clock = (moment) => new Date(moment).toLocaleString();

/** Seconds between two moments; until now when the second is missing. */
export const between = (from, to) => (new Date(to ?? Date.now()) - new Date(from)) / 1000;

/** What a job is called. Ids begin with the time of submission, so their ends tell them apart. */
export const called = (job) => job.name || `job …${job.id.slice(-8)}`;
