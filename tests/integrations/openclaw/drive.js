/**
 * Loads copies of the plugin as OpenClaw does and plays events to them:
 * node drive.js CONFIG PLUGIN... < STEPS.
 *
 * A step is a JSON object a line: {"hook", "event", "ctx"}, {"corpus", "asked"}, both with the number
 * of the "copy" that it happens to, or a list of steps that happen at once. What each gives back is
 * printed, one JSON object a line, at the end what was warned of and how long each step took, in
 * milliseconds.
 */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [config, ...folders] = process.argv.slice(2);
const warnings = [];

const copies = await Promise.all(
  folders.map(async (folder) => {
    const { default: plugin } = await import(pathToFileURL(`${folder}/index.js`).href);
    const copy = { handlers: new Map(), corpus: undefined };
    plugin.register({
      pluginConfig: JSON.parse(config),
      logger: { warn: (told) => warnings.push(told) },
      on: (name, handler) => copy.handlers.set(name, handler),
      registerMemoryCorpusSupplement: (given) => {
        copy.corpus = given;
      },
    });
    return copy;
  }),
);

async function play(step) {
  if (Array.isArray(step)) return Promise.all(step.map(play));
  const { handlers, corpus } = copies[step.copy ?? 0];
  if (step.corpus) return corpus[step.corpus](step.asked);
  return handlers.get(step.hook)(step.event ?? {}, step.ctx ?? {});
}

const took = [];
for (const line of (await text(process.stdin)).split("\n").filter(Boolean)) {
  const began = Date.now();
  console.log(JSON.stringify({ answer: (await play(JSON.parse(line))) ?? null }));
  took.push(Date.now() - began);
}
console.log(JSON.stringify({ warnings, took }));
