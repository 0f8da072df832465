/** Runs the command line of clsm, which does all the work; a memory that fails fails no turn. */

import { spawn } from "node:child_process";

const MAX_OUTPUT = 8 << 20;

/**
 * @typedef {object} Config
 * @property {string[]} [command] the program and what comes before its command
 * @property {string} [store] the folder of the memory
 */

/**
 * @typedef {object} How
 * @property {number} timeout milliseconds
 * @property {string} [input] what it reads; no other user of the machine sees that, as they see args
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
   * @param {How} how
   * @returns {Promise<string>} never rejected
   */
  async run(name, args, how) {
    const words = args.map((word) => word.replaceAll("\0", " ")); // of which no argument may have one
    try {
      const all = [...this.first, name, ...this.store, "--quiet", ...words];
      return await output(this.program, all, how);
    } catch (error) {
      this.warn(`clsm ${name}: ${error instanceof Error ? error.message : error}`);
      return "";
    }
  }
}

/**
 * What a program prints.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {How} how
 * @returns {Promise<string>} rejected when it cannot be started, fails or takes too long
 */
function output(program, args, { timeout, input = "" }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args); // throws when there is no memory left for one more process
    const alarm = setTimeout(() => {
      child.kill("SIGKILL"); // clsm may be stopped anywhere
      // Nobody waits for it to go: neither for a disk that holds it, nor for what it started.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      reject(new Error(`stopped, at most ${timeout} ms may pass`));
    }, timeout);
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      if (out.length < MAX_OUTPUT) out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      if (err.length < MAX_OUTPUT) err += text;
    });
    child.on("error", (error) => {
      clearTimeout(alarm);
      reject(error);
    });
    child.on("close", (code, signal) => {
      clearTimeout(alarm);
      if (code === 0) resolve(out);
      else reject(new Error(err.trim().split("\n").at(-1) || `ended with ${code ?? signal}`));
    });
    child.stdin.on("error", () => {}); // it ended before it had read all; its exit code tells why
    child.stdin.end(input);
  });
}

/**
 * What to read at the start of a session, in at most so many tokens.
 *
 * @param {Clsm} clsm
 * @param {string} tokens
 * @param {string} [session] id of one that goes on, of which most was dropped
 */
export function digest(clsm, tokens, session) {
  const of = session === undefined ? [] : ["--session", session];
  return clsm.run("context", ["--format", "prompt", "--budget", tokens, ...of], { timeout: 4000 });
}
