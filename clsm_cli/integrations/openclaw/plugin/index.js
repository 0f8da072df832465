/** clsm as the memory of OpenClaw: what is registered, and when each part runs. */

import { Clsm, digest } from "./clsm.js";
import { corpusOf } from "./corpus.js";
import { Digests } from "./digests.js";
import { Written } from "./written.js";

/** What is put before a message at most; without a number of items all that might fit are read. */
const RECALL = ["--gate", "--format", "prompt", "-k", "8", "--budget", "500"];
const HEARTBEAT_TOKENS = "300";
/** Characters of a message that are asked whole; in a longer one most is pasted. */
const MOST = 2000;
/** A recall that takes longer comes too late; OpenClaw itself stops waiting a second after. */
const PATIENCE = 4000;
/** How a message begins that the agent sent to a sub-agent of its own; nothing else tells it. */
const OF_SUBAGENT = /^(\[[^\]\n]{1,40}\] )?\[Subagent Context\]/;

export default {
  id: "clsm",
  name: "clsm",
  description: "Memory: what was said before comes into the prompt, what is said is written down.",

  /** @param {import("./openclaw.js").Api} api */
  register(api) {
    const clsm = new Clsm(api.pluginConfig ?? {}, (text) => api.logger.warn(text));
    const digests = new Digests(clsm);
    const written = new Written(clsm);

    api.on(
      "before_prompt_build",
      async (event, ctx) => {
        if (ctx.trigger === "heartbeat") return undefined;
        const [digest, recalled] = await Promise.all([
          digests.of(ctx.sessionKey ?? ""),
          isPerson(ctx) ? recall(clsm, event.currentUserMessage ?? event.prompt) : "",
        ]);
        return { appendSystemContext: digest, prependContext: recalled };
      },
      { timeoutMs: PATIENCE + 1000 },
    );
    api.on(
      "heartbeat_prompt_contribution",
      async () => ({ appendContext: await digest(clsm, HEARTBEAT_TOKENS) }),
      { timeoutMs: PATIENCE + 1000 },
    );
    // The only place that shows a message as the transcript will hold it, with its time.
    api.on("before_message_write", (event, ctx) => {
      written.add(ctx.sessionKey ?? event.sessionKey ?? "", event.message);
    });
    api.on("agent_end", (_event, ctx) => written.flush(ctx.sessionKey ?? "", ctx.sessionId));
    // What is dropped is written down first; the next turn is told what came out of it.
    api.on("before_compaction", (_event, ctx) =>
      written.flush(ctx.sessionKey ?? "", ctx.sessionId),
    );
    api.on("after_compaction", (_event, ctx) => {
      digests.compact(ctx.sessionKey ?? "", ctx.sessionId);
    });
    api.on("session_start", (_event, ctx) => digests.compact(ctx.sessionKey ?? "", undefined));
    api.on("gateway_stop", () => written.flushed());
    api.registerMemoryCorpusSupplement?.(corpusOf(clsm, PATIENCE));
  },
};

/**
 * Whether a person wrote the message: nothing is recalled for what machines tell each other.
 *
 * @param {import("./openclaw.js").Context} ctx
 */
function isPerson(ctx) {
  const kind = ctx.inputProvenance?.kind ?? "external_user";
  return (ctx.trigger ?? "user") === "user" && kind === "external_user";
}

/**
 * What belongs to a message; "" when it needs no memory, or is none of a person's.
 *
 * @param {Clsm} clsm
 * @param {string} message
 */
async function recall(clsm, message) {
  const text = message.trim();
  if (text === "" || OF_SUBAGENT.test(text)) return "";
  const asked = text.length > MOST ? ends(text) : text;
  return clsm.run("recall", [...RECALL, "-"], { timeout: PATIENCE, input: asked });
}

/**
 * The first and the last line, or that of them which asks: who pastes something writes before or
 * behind it.
 *
 * @param {string} text
 */
function ends(text) {
  const lines = [text.slice(0, text.indexOf("\n") + 1), text.slice(text.lastIndexOf("\n") + 1)];
  const asking = lines.filter((line) => line.includes("?"));
  return (asking.length > 0 ? asking : lines).map((line) => line.slice(0, MOST / 2)).join("\n");
}
