// @ts-check
// `node tests/engine/check.js FILE`: every recorded answer of the library against the engine's.
import { differences, recorded } from "./held.js";

const answers = recorded(process.argv[2]);
let failed = 0;
answers.forEach((answer, number) => {
  const wrong = differences(answer);
  if (!wrong.length) return;
  failed += 1;
  if (failed <= 10)
    console.log(`set ${number} (${answer.set}, ${answer.order}, bias ${answer.bias}): ${wrong.join("; ")}`);
});
console.log(`${answers.length.toLocaleString("en-US")} sets, ${failed} differ`);
process.exitCode = failed ? 1 : 0;
