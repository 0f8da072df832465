/**
 * What all copies of the plugin have in common.
 *
 * OpenClaw loads a plugin more than once into its process, each time as modules of their own: what a
 * person says is seen by one of them, what the agent answers by another.
 */

/**
 * The one Map of that name in this process.
 *
 * @template Value
 * @param {string} name
 * @returns {Map<string, Value>}
 */
export function shared(name) {
  const all = /** @type {Record<symbol, Map<string, Value>>} */ (
    /** @type {unknown} */ (globalThis)
  );
  const key = Symbol.for(`clsm.${name}`);
  const found = all[key] ?? new Map();
  all[key] = found;
  return found;
}
