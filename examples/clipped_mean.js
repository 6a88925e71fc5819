// The clipped noisy mean (P2, Algorithm 2) as a program that answers audits and some vectors, in JavaScript without packages.
//
//     tailproof audit --command 'node examples/clipped_mean.js' --claim 'zcdp(rho=0.5)' --records 10 --columns 2
//     tailproof vectors check --command 'node examples/clipped_mean.js'
//
// An argument breaks it on purpose: `unclipped` leaves out the clipping, `halved` halves the noise.
"use strict";
const bug = process.argv[2];

const clipped = (row, radius) => {
  const length = Math.hypot(...row);
  return length <= radius || bug === "unclipped" ? row : row.map((x) => (x / length) * radius);
};
const cut = (row, bound) => row.map((x) => (Math.abs(x) <= bound ? x : 0));
const mean = (rows) => rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j] / rows.length, 0));

// A small generator (mulberry32) and the polar method.  For tests: real noise needs a cryptographic generator.
function gaussians(seed) {
  let state = (seed ^ Math.floor(seed / 4294967296)) >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

function runs({ data, seed, size, parameters }) {
  const { clip, rho } = { clip: 1, rho: 0.5, ...parameters };
  const centre = mean(data.map((row) => clipped(row, clip)));
  const scale = ((2 * clip) / data.length / Math.sqrt(2 * rho)) * (bug === "halved" ? 0.5 : 1);
  const normal = gaussians(seed);
  return { outputs: Array.from({ length: size }, () => centre.map((x) => x + scale * normal())) };
}

const kinds = {
  clipping: ({ data, clip }) => {
    const rows = data.map((row) => clipped(row, clip));
    return { rows, mean: mean(rows) };
  },
  truncation: ({ data, bound }) => {
    const rows = data.map((row) => cut(row, bound));
    return { rows, mean: mean(rows) };
  },
  "median-of-means": ({ data, groups, truncation, rule }) => {
    const start = (g) => Math.floor((data.length * g) / groups);
    const means = Array.from({ length: groups }, (_, g) =>
      mean(data.slice(start(g), start(g + 1)).map((row) => cut(row, truncation))),
    );
    const low = Math.floor((groups - 1) / 2), high = rule === "low" ? low : Math.floor(groups / 2);
    const median = means[0].map((_, j) => {
      const ordered = means.map((row) => row[j]).sort((a, b) => a - b);
      return (ordered[low] + ordered[high]) / 2;
    });
    return { means, median };
  },
  projection: ({ domain, point }) => {
    if (domain.box) return { point: point.map((x, j) => Math.min(Math.max(x, domain.box.lower[j]), domain.box.upper[j])) };
    if (!domain.ball) return undefined;
    const { center, radius } = domain.ball;
    return { point: clipped(point.map((x, j) => x - center[j]), radius).map((x, j) => x + center[j]) };
  },
  calibration: ({ rule, sensitivity, epsilon, delta, rho }) => {
    if (rule === "gaussian zcdp") return { value: sensitivity / Math.sqrt(2 * rho) };
    if (rule === "l2-laplace") return { value: sensitivity / epsilon };
    if (rule === "gaussian classical") return { value: (sensitivity * Math.sqrt(2 * Math.log(1.25 / delta))) / epsilon };
    if (rule === "P0 Definition 3") return { value: (4 * sensitivity * Math.sqrt(Math.log(1 / delta))) / epsilon };
    return undefined;
  },
};

function reply(request) {
  if (request.kind === undefined) return runs(request);
  const outputs = kinds[request.kind] && kinds[request.kind](request.inputs);
  return outputs === undefined ? { unsupported: request.kind } : { outputs };
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => process.stdout.write(JSON.stringify(reply(JSON.parse(line))) + "\n"));
