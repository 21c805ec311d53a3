// A small runner: tests in their order, each with a limit, and an honest last line.
const tests = [];
let passed = 0;
let failed = 0;

export const test = (name, run, limit = 45_000) => tests.push({ name, run, limit });

/** Runs what was declared, or only the tests whose name holds one of the words. */
export async function runAll(context, words) {
  for (const { name, run, limit } of tests) {
    if (words.length && !words.some((word) => name.includes(word))) continue;
    const began = Date.now();
    let timer;
    const tooLong = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`took longer than ${limit / 1000} s`)), limit); });
    try {
      await Promise.race([run(context), tooLong]);
      passed += 1;
      console.log(`ok      ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)\n${indent(error?.stack ?? String(error))}`);
      await context.onFailure?.(name);
    } finally {
      clearTimeout(timer);
    }
    const complaints = context.takeComplaints();
    if (complaints.length) {
      failed += 1;
      console.log(`FAILED  ${name}: the browser complained\n${indent(complaints.join('\n'))}`);
    }
  }
  return { passed, failed };
}

const indent = (text) => text.split('\n').slice(0, 30).map((line) => `        ${line}`).join('\n');
