// The picture of the audit: which share of the promises each model would honour.

import { h, svg } from "./dom.js";
import { percent } from "./format.js";
import { t } from "./words.js";

const HEIGHT = 300;
const MARGIN = { top: 34, right: 12, bottom: 44, left: 52 };
const NARROWEST_SLOT = 84;
const SHAPES = [
  // A disc, then shapes that can be told apart without colour; all about 5 units across.
  (x, y) => svg("circle", { cx: x, cy: y, r: 5 }),
  (x, y) => svg("rect", { x: x - 4.5, y: y - 4.5, width: 9, height: 9 }),
  (x, y) => svg("path", { d: `M${x} ${y - 6} L${x + 5.5} ${y + 4} H${x - 5.5} Z` }),
  (x, y) => svg("path", { d: `M${x} ${y - 6} L${x + 6} ${y} L${x} ${y + 6} L${x - 6} ${y} Z` }),
  (x, y) => svg("path", { d: `M${x} ${y + 6} L${x + 5.5} ${y - 4} H${x - 5.5} Z` }),
];

function kind(i) {
  return `series series-${i % SHAPES.length}`;
}

function symbol(i, x, y) {
  return svg("g", { class: kind(i) }, SHAPES[i % SHAPES.length](x, y));
}

/** Where the scale starts: at nothing, or a little below the lowest interval. */
export function floorOf(series, zoomed) {
  if (!zoomed) return 0;
  const lows = series.flatMap(({ points }) => points.filter(Boolean).map((point) => point.low));
  const lowest = Math.min(1, ...lows);
  const step = lowest < 0.8 ? 0.1 : lowest < 0.96 ? 0.05 : 0.01;
  return Math.max(0, Math.min(1 - step, Math.floor(lowest / step) * step));
}

/** Shares for the lines of the scale, from the floor to 1. */
function ticks(floor) {
  const room = 1 - floor;
  const step =
    [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((s) => room / s <= 5.001) ?? 0.25;
  const n = Math.floor(room / step + 1e-9);
  return Array.from({ length: n + 1 }, (_, i) => 1 - i * step);
}

function scale(floor, y, width) {
  return ticks(floor).map((share) => [
    svg("line", {
      class: "grid",
      x1: MARGIN.left,
      x2: width - MARGIN.right,
      y1: y(share),
      y2: y(share),
    }),
    svg(
      "text",
      { class: "tick", x: MARGIN.left - 8, y: y(share) + 4, "text-anchor": "end" },
      percent(share),
    ),
  ]);
}

function modelLabel(model, x, slot) {
  const most = Math.max(4, Math.floor(slot / 8));
  // A model that is not in service is named by where it lies; the end says most.
  const last = model.name.split("/").filter(Boolean).at(-1) ?? model.name;
  const name = last.length > most ? `${last.slice(0, most - 1)}…` : last;
  return svg(
    "text",
    { class: "tick", x, y: HEIGHT - MARGIN.bottom + 20, "text-anchor": "middle" },
    svg("title", {}, model.name),
    name,
  );
}

/** One share with its interval. */
function mark(i, point, x, y) {
  const [top, bottom] = [y(point.high), y(point.low)];
  return svg(
    "g",
    { class: kind(i) },
    svg("path", {
      class: "interval",
      d: `M${x - 4} ${top} h8 M${x} ${top} V${bottom} M${x - 4} ${bottom} h8`,
    }),
    SHAPES[i % SHAPES.length](x, y(point.share)),
  );
}

function inWords(name, point) {
  if (!point) return t("{name}: nothing was judged", { name });
  const [share, low, high] = [point.share, point.low, point.high].map(percent);
  return t("{name}: {share}, between {low} and {high}", { name, share, low, high });
}

function describe(models, series) {
  const parts = models.map((model, m) => inWords(model.name, series[0].points[m]));
  return `${t("Share of all judged promises that each model honours.")} ${parts.join("; ")}.`;
}

/**
 * Draws the picture.
 *
 * `models` have a name. Each of `series` has a name and `points`, one for each model: share, low and
 * high, or null where nothing was judged. The first series is that of all promises.
 */
export function draw(models, series, { zoomed, room }) {
  const least = MARGIN.left + MARGIN.right + models.length * NARROWEST_SLOT;
  const width = Math.max(room, least);
  const slot = (width - MARGIN.left - MARGIN.right) / models.length;
  const floor = floorOf(series, zoomed);
  const bottom = HEIGHT - MARGIN.bottom;
  const y = (share) => bottom - ((share - floor) / (1 - floor)) * (bottom - MARGIN.top);
  const gap = Math.min(22, (slot - 20) / series.length);
  const centre = (m) => MARGIN.left + slot * (m + 0.5);
  const place = (m, i) => centre(m) + gap * (i - (series.length - 1) / 2);
  return svg(
    "svg",
    {
      class: "chart",
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-labelledby": "chart-title chart-text",
    },
    svg("title", { id: "chart-title" }, t("Promises that each model honours")),
    svg("desc", { id: "chart-text" }, describe(models, series)),
    scale(floor, y, width),
    svg("text", { class: "axis-label", x: 4, y: 14 }, t("Share of promises honoured")),
    svg("line", {
      class: "axis",
      x1: MARGIN.left,
      x2: width - MARGIN.right,
      y1: bottom,
      y2: bottom,
    }),
    models.map((model, m) => modelLabel(model, centre(m), slot)),
    svg(
      "text",
      { class: "axis-label", x: (MARGIN.left + width) / 2, y: HEIGHT - 4, "text-anchor": "middle" },
      t("Model that judges"),
    ),
    series.map(({ points }, i) =>
      points.map((point, m) => (point ? mark(i, point, place(m, i), y) : null)),
    ),
  );
}

export function legend(series) {
  return h(
    "ul",
    { class: "legend" },
    series.map(({ name }, i) =>
      h(
        "li",
        {},
        svg("svg", { width: 16, height: 16, "aria-hidden": "true" }, symbol(i, 8, 8)),
        name,
      ),
    ),
  );
}
