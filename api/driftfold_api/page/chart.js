// A metric's curves, one for each job, drawn with uPlot.

import { h, put } from "./dom.js";
import { count, duration, short, unitFor } from "./format.js";

const DASHES = [[], [8, 4], [2, 3], [12, 3, 3, 3], [5, 5]]; // told apart without colours, too
const HEIGHT = 280;

// The style sheet chooses colours.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const curveColour = (index) => colour(`curve-${index}`);

/** Curves are { job, log, marks, index }. */
export class Chart {
  constructor(key, change) {
    this.key = key;
    this.name = key.split("/")[1];
    this.readout = h("span", { class: "readout" });
    this.box = h("div", { class: "plot", role: "img" });
    this.element = h("figure", { "data-metric": key }, h("figcaption", {}, h("b", {}, this.name), this.readout), this.box);
    // What is out of sight is drawn when it comes into sight.
    this.sight = new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      if (this.seen && this.late) change();
    });
    this.sight.observe(this.element);
    this.size = new ResizeObserver(() => this.plot?.setSize(this.room()));
    this.size.observe(this.box);
  }

  /** Bring the drawing up to date; `style` is { axis: "round" | "time", log }. */
  draw(curves, style) {
    this.late = !this.seen;
    if (this.late) return;
    const shown = curves.filter((curve) => curve.log.metrics.has(this.key));
    const data = merge(shown.map((curve) => this.points(curve, style)));
    const form = JSON.stringify([style, shown.map((curve) => curve.index)]);
    this.curves = shown;
    this.style = style;
    if (form !== this.form) {
      this.form = form;
      this.plot?.destroy();
      this.plot = new uPlot(this.options(), data, this.box);
      this.element.plot = this.plot; // for tests
    } else {
      this.plot.setData(data);
    }
    this.describe(data);
  }

  close() {
    this.sight.disconnect();
    this.size.disconnect();
    this.plot?.destroy();
  }

  points({ log }, { axis, log: positive }) {
    const metric = log.metrics.get(this.key);
    const drawable = (y) => Number.isFinite(y) && !(positive && y <= 0);
    return [metric[axis].slice(), metric.values.map((y) => (drawable(y) ? y : null))];
  }

  options() {
    const { axis, log } = this.style;
    const ink = colour("faint");
    const lines = { stroke: ink, grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } };
    const end = (plot) => unitFor(plot.scales.x.max ?? 0);
    const time = axis === "time";
    return {
      ...this.room(),
      scales: { x: { time: false, range: (_, min, max) => [min, max > min ? max : min + 1] }, y: { distr: log ? 3 : 1 } },
      axes: [
        {
          ...lines,
          label: (plot) => (time ? `virtual time (${end(plot)[0]})` : "round"),
          size: 32,
          labelSize: 22,
          labelGap: 2,
          incrs: (plot) => steps(time ? end(plot)[1] : 1, time ? 1e-6 : 1),
          values: (plot, splits) => splits.map((x) => short(time ? round(x / end(plot)[1]) : x)),
        },
        { ...lines, grid: { ...lines.grid, filter: (_, splits) => (log ? splits.map((y) => (decade(y) ? y : null)) : splits) }, size: 72, values: (_, splits) => splits.map((y) => (y == null ? "" : short(round(y)))) },
      ],
      series: [{}, ...this.curves.map(({ index }) => ({ stroke: curveColour(index), width: 1.75, dash: DASHES[index] }))],
      legend: { show: false },
      cursor: { sync: { key: "charts" }, drag: { x: false, y: false } },
      hooks: {
        draw: [(plot) => this.drawMarks(plot)],
        setCursor: [(plot) => this.read(plot)],
      },
    };
  }

  /** Where attempts began and ended: lines with words. */
  drawMarks(plot) {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    for (const { log, marks, index } of this.curves) {
      const words = new Map();
      for (const { seq, word } of marks) {
        const x = Math.round(plot.valToPos(log.place(seq, this.style.axis), "x", true));
        words.set(x, [...(words.get(x) ?? []), word]);
      }
      ctx.strokeStyle = ctx.fillStyle = this.curves.length > 1 ? curveColour(index) : colour("mark");
      ctx.lineWidth = ratio;
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      for (const [x, told] of words) {
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.beginPath();
        const middle = x + (ratio % 2) / 2; // of a pixel: sharp
        ctx.moveTo(middle, bbox.top);
        ctx.lineTo(middle, bbox.top + bbox.height);
        ctx.stroke();
        ctx.save();
        ctx.translate(x - 2 * ratio, bbox.top + 4 * ratio);
        ctx.rotate(-Math.PI / 2);
        ctx.fillText(told.join(", "), 0, 0);
        ctx.restore();
      }
    }
    ctx.restore();
  }

  /** What is under the pointer, in words. */
  read(plot) {
    const at = plot.cursor.idx;
    if (at == null || plot.cursor.left < 0) return put(this.readout, "");
    const x = plot.data[0][at];
    const place = this.style.axis === "time" ? duration(x) : `round ${count(x)}`;
    const values = this.curves.map(({ job }, curve) => {
      const y = plot.data[curve + 1][at];
      return y == null ? null : this.curves.length > 1 ? `${job} ${short(y)}` : short(y);
    });
    put(this.readout, [place, ...values.filter(Boolean)].join(" · "));
  }

  describe([xs, ...columns]) {
    const parts = this.curves.map(({ job, log }, curve) => {
      const drawn = columns[curve].reduce((sum, y) => sum + (y != null), 0);
      const left = log.metrics.get(this.key).values.length - drawn;
      return `${job}: ${drawn} points${left ? `, ${left} cannot be drawn` : ""}`;
    });
    const axis = this.style.axis === "time" ? "virtual time" : "round";
    const scale = this.style.log ? ", logarithmic" : "";
    this.box.setAttribute("aria-label", `${this.name} against ${axis}${scale}. ${parts.join("; ")}. The table has the latest values.`);
  }

  room() {
    return { width: Math.max(this.box.clientWidth, 200), height: HEIGHT };
  }
}

/** 1, 2 and 5 times powers of ten, in a unit, from the smallest on. */
function steps(unit, smallest) {
  const found = [];
  for (let power = smallest; power < 1e12; power *= 10) found.push(power * unit, 2 * power * unit, 5 * power * unit);
  return found;
}

const round = (x) => Number(x.toPrecision(10)); // 0.1 + 0.2

const decade = (y) => y > 0 && Number.isInteger(round(Math.log10(y)));

/** Curves on one axis: the union of their places; undefined where a curve has no point. */
export function merge(curves) {
  if (curves.length === 1) return curves[0];
  const at = curves.map(() => 0);
  const xs = [];
  const columns = curves.map(() => []);
  for (;;) {
    let x = Infinity;
    curves.forEach(([own], curve) => {
      if (at[curve] < own.length) x = Math.min(x, own[at[curve]]);
    });
    if (x === Infinity) return [xs, ...columns];
    xs.push(x);
    curves.forEach(([own, ys], curve) => {
      columns[curve].push(own[at[curve]] === x ? ys[at[curve]++] : undefined);
    });
  }
}
