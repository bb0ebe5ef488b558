/** Loaded into a thread before its own code: unpacking a mail with the header X-Hostile then blocks or ends the
 *  thread. It stands for hostile inputs that are not known yet. */

const parse = JSON.parse

JSON.parse = (text: string, ...rest: []) => {
  const asked = typeof text === 'string' ? /"X-Hostile","(\w+)"/i.exec(text)?.[1] : undefined
  if (asked === 'loop') for (;;);
  // Repeatedly, because the engine aborts such a pattern after a while, unless it was compiled.
  if (asked === 'regex') for (;;) /^(a+)+$/.test(`${'a'.repeat(60)}b`)
  if (asked === 'exit') process.exit(3)
  if (asked === 'slow') Bun.sleepSync(300)
  return parse(text, ...rest)
}
