/** Loaded into a thread before its own code: a mail with the header X-Hostile then keeps the thread, or ends it, when it is
 *  unpacked. Stands for the inputs that are not known yet. */

const parse = JSON.parse

JSON.parse = (text: string, ...rest: []) => {
  const asked = typeof text === 'string' ? /"X-Hostile","(\w+)"/.exec(text)?.[1] : undefined
  if (asked === 'loop') for (;;);
  // Again and again: the engine gives up such a pattern after a while, unless it was compiled.
  if (asked === 'regex') for (;;) /^(a+)+$/.test(`${'a'.repeat(60)}b`)
  if (asked === 'exit') process.exit(3)
  if (asked === 'slow') Bun.sleepSync(300)
  return parse(text, ...rest)
}
