/** Runs the command line of clsm, which does all the work; a memory that fails fails no turn. */

import { spawn } from "node:child_process";

const MAX_OUTPUT = 1 << 20;

/**
 * @typedef {object} Config
 * @property {string[]} [command] the program and what comes before its command
 * @property {string} [store] the folder of the memory
 */

export class Clsm {
  /**
   * @param {Config} config
   * @param {(text: string) => void} warn told what went wrong, in one line
   */
  constructor(config, warn) {
    const [program = "clsm", ...first] = config.command ?? [];
    this.program = program;
    this.first = first;
    this.store = config.store === undefined ? [] : ["--store", config.store];
    this.warn = warn;
  }

  /**
   * What a command prints; nothing when it fails, or has not ended after so many milliseconds.
   *
   * @param {string} name
   * @param {string[]} args options, and behind "--" words that are none
   * @param {{ timeout: number, input?: string }} how
   * @returns {Promise<string>}
   */
  run(name, args, { timeout, input = "" }) {
    return new Promise((resolve) => {
      const words = args.map((word) => word.replaceAll("\0", " ")); // of which no argument may have one
      const all = [...this.first, name, ...this.store, "--quiet", ...words];
      const child = spawn(this.program, all);
      const alarm = setTimeout(() => child.kill(), timeout);
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text) => {
        if (out.length < MAX_OUTPUT) out += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text) => {
        if (err.length < MAX_OUTPUT) err += text;
      });
      const ended = (/** @type {string | null} */ why) => {
        clearTimeout(alarm);
        if (why !== null) this.warn(`clsm ${name}: ${why}`);
        resolve(why === null ? out : "");
      };
      child.on("error", (error) => ended(error.message));
      child.on("close", (code, signal) => {
        if (code === 0) ended(null);
        else if (signal !== null) ended(`stopped by ${signal}, at most ${timeout} ms may pass`);
        else ended(err.trim().split("\n").at(-1) || `ended with ${code}`);
      });
      child.stdin.on("error", () => {}); // it ended before it had read all; its exit code tells why
      child.stdin.end(input);
    });
  }
}

/**
 * What to read at the start of a session, in at most so many tokens.
 *
 * @param {Clsm} clsm
 * @param {string} tokens
 */
export function digest(clsm, tokens) {
  return clsm.run("context", ["--format", "prompt", "--budget", tokens], { timeout: 4000 });
}
