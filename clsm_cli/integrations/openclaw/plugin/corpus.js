/** The memory as one more corpus of OpenClaw's own memory_search and memory_get. */

const MOST = 450;
const PREFIX = "clsm/";
/** Characters of a query: a model may ask with a whole page. */
const LONGEST = 2000;

/**
 * @param {import("./clsm.js").Clsm} clsm
 * @param {number} timeout milliseconds
 * @returns {import("./openclaw.js").Corpus}
 */
export function corpusOf(clsm, timeout) {
  return {
    async search({ query, maxResults = 6 }) {
      const options = ["--json", "-k", String(maxResults), "-"];
      const input = query.slice(0, LONGEST);
      const found = parsed(await clsm.run("recall", options, { timeout, input }));
      return (found?.memories ?? []).map(result);
    },

    async get({ lookup, fromLine = 1, lineCount }) {
      if (!lookup.startsWith(PREFIX)) return null;
      const id = lookup.slice(PREFIX.length);
      const found = parsed(await clsm.run("show", ["--json", "--", id], { timeout }));
      if (typeof found?.text !== "string") return null;
      const first = Math.max(fromLine, 1);
      const lines = found.text.split("\n").slice(first - 1);
      const content = lines.slice(0, lineCount).join("\n");
      return {
        corpus: "clsm",
        path: lookup,
        content,
        fromLine: first,
        lineCount: content.split("\n").length,
      };
    },
  };
}

/** @param {import("./openclaw.js").Memory} memory */
function result({ id, text, confidence, sources }) {
  return {
    corpus: "clsm",
    path: PREFIX + id,
    score: confidence,
    snippet: text.slice(0, MOST),
    updatedAt: sources[0]?.timestamp ?? undefined,
  };
}

/**
 * The object that clsm printed; null where it failed, or printed more than is read.
 *
 * @param {string} text
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
