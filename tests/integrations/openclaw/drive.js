/**
 * Loads the plugin as OpenClaw does and plays events to it: node drive.js PLUGIN CONFIG < STEPS.
 *
 * A step is a JSON object a line: {"hook", "event", "ctx"}, {"corpus", "asked"}, or a list of steps
 * that happen at once. What each gives back is printed, one JSON object a line, at the end what was
 * warned of and how long each step took, in milliseconds.
 */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [folder, config] = process.argv.slice(2);
const { default: plugin } = await import(pathToFileURL(`${folder}/index.js`).href);
const handlers = new Map();
const warnings = [];
let corpus;

plugin.register({
  pluginConfig: JSON.parse(config),
  logger: { warn: (told) => warnings.push(told) },
  on: (name, handler, options) => handlers.set(name, { handler, options }),
  registerMemoryCorpusSupplement: (given) => {
    corpus = given;
  },
});

async function play(step) {
  if (Array.isArray(step)) return Promise.all(step.map(play));
  if (step.corpus) return corpus[step.corpus](step.asked);
  return handlers.get(step.hook).handler(step.event ?? {}, step.ctx ?? {});
}

const took = [];
for (const line of (await text(process.stdin)).split("\n").filter(Boolean)) {
  const began = Date.now();
  console.log(JSON.stringify({ answer: (await play(JSON.parse(line))) ?? null }));
  took.push(Date.now() - began);
}
console.log(JSON.stringify({ warnings, took, hooks: [...handlers.keys()] }));
