import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyOf, type Verdict } from './judge.ts'
import type { LoopException } from './loops.ts'
import type { FoundPattern } from './sources.ts'

/** What the pattern check allows although it is not proven linear, and why that is harmless. */

/** A part of a constructed pattern that the source alone does not determine. */
export interface Built {
  readonly file: string
  /** Its text within the pattern. */
  readonly expression: string
  /** Its values; where there are many of one kind, one of them. */
  readonly stands: readonly string[]
}

/** INVISIBLE_CLASS of src/net/visible-text.ts, in short. */
const INVISIBLE = String.raw`\u0000-\u001f\u007f-\u009f\u200b\u2028-\u202e`
const BUT_LINES = String.raw`INVISIBLE_CLASS.replace(String.raw${'`'}\u0000-\u001f${'`'}, String.raw${'`'}\u0000-\u0008\u000b-\u001f${'`'})`

export const BUILT: readonly Built[] = [
  { file: 'src/web/api/schema.ts', expression: 'INVISIBLE_CLASS', stands: [INVISIBLE] },
  { file: 'src/web/api/sessions.ts', expression: 'name', stands: ['__Host-postrider_session'] },
  { file: 'src/receiving/inbound/bounded-head.ts', expression: 'HEAD_LIMITS.blanksInRow + 1', stands: ['257'] },
  { file: 'src/receiving/inbound/bounded-head.ts', expression: 'HEAD_LIMITS.authorNameBytes + 1', stands: ['513'] },
  { file: 'src/net/visible-text.ts', expression: BUT_LINES, stands: [INVISIBLE] },
  { file: 'src/web/api/responses/fields.ts', expression: 'prefix', stands: ['msg'] },
  // Too many for recheck; test/cost/symptoms.test.ts repeats each word of the table.
  { file: 'src/mail/bounce-rules.ts', expression: 'words', stands: ['user unknown'] },
  { file: 'src/mail/bounce-rules.ts', expression: "each.join('|')", stands: [String.raw`5\d\d`] },
  { file: 'src/mail/html-scan.ts', expression: 'name', stands: ['script'] },
  { file: 'src/mail/html-text.ts', expression: 'name', stands: ['script'] },
  { file: 'src/sending/submission/mjml/liquid.ts', expression: 'unusedIn(source)', stands: ['liquid0q'] },
  { file: 'node_modules/libbase64/lib/libbase64.js', expression: 'lineLength', stands: ['76'] },
  { file: 'node_modules/libmime/lib/libmime.js', expression: 'lineLength', stands: ['76'] },
  { file: 'node_modules/libmime/lib/libmime.js', expression: 'maxLength', stands: ['50'] },
  {
    file: 'node_modules/mailauth/lib/spf/macro.js',
    expression: String.raw`delimiters.replace(/[.*+?^${'$'}{}()|[\]\\]/g, '\\${'$'}&')`,
    stands: ['-'],
  },
  {
    file: 'node_modules/smtp-server/dist/esm/smtp-connection.js',
    expression: 'sasl.CONTROL_CHARS',
    stands: [String.raw`[\x00-\x1F\x7F-\x9F]`],
  },
]

export interface Exception {
  readonly file: string
  /** As `/source/flags`. */
  readonly patterns: readonly string[]
  /** Why their texts are short, or why no text makes them slow. */
  readonly why: string
  /** The constant with the limit, and its file. */
  readonly bound: { readonly name: string; readonly file: string }
  /** The id of a test for it, in the comment `// bound: <id>` directly above the test. */
  readonly test: string
}

/** Loops that copy or shift, as loops.ts finds them. */
export const LOOPS: readonly LoopException[] = [
  {
    file: 'src/net/limiters/keyed-semaphore.ts',
    code: 'holders.waiting.shift()',
    why: 'as many wait as there are delivery slots',
  },
  {
    file: 'src/net/dns/authoritative.ts',
    code: "at = at.slice(at.indexOf('.') + 1)",
    why: 'a name has at most 127 labels (RFC 1035 §2.3.4)',
  },
  {
    file: 'src/receiving/smtp-submission/same-mail.ts',
    code: String.raw`text = text.replaceAll(boundary, ${'`'}\0${'$'}{number}\0${'`'})`,
    why: 'MAX_BOUNDARIES ends it',
  },
  {
    file: 'src/sending/suppressions/csv.ts',
    code: 'again.shift()',
    why: 'a record has at most MOST_CHARACTERS, so many lines wait',
  },
]

const ROOT = join(import.meta.dir, '../..')

/** Patterns with their verdicts → faults: patterns that are not linear and not excepted, and exceptions that are not
 *  needed, name no constant, or have no test. */
export function offencesOf(
  patterns: readonly FoundPattern[],
  verdicts: ReadonlyMap<string, Verdict>,
  exceptions: readonly Exception[],
): string[] {
  const offences: string[] = []
  const used = new Set<string>()
  for (const pattern of patterns) {
    const verdict = verdicts.get(keyOf(pattern)) ?? 'unclear'
    if (verdict === 'linear') continue
    const { file, line, source, flags } = pattern
    const written = `/${source}/${flags}`
    const exception = exceptions.find(
      (each) => each.file === file && each.patterns.some((pattern) => isMeant(pattern, written)),
    )
    if (exception === undefined) offences.push(`${file}:${line}: ${verdict}: ${written}`)
    else for (const each of exception.patterns) if (isMeant(each, written)) used.add(`${file} ${each}`)
  }
  const tests = boundIds()
  for (const exception of exceptions) {
    const { file, patterns: excepted, bound, test } = exception
    for (const pattern of excepted) {
      if (!used.has(`${file} ${pattern}`)) offences.push(`${file}: the exception for ${pattern} is not needed any more`)
    }
    const text = readFileSync(join(ROOT, bound.file), 'utf8')
    if (!new RegExp(`\\bconst ${bound.name}\\b`).test(text))
      offences.push(`${bound.file} has no constant ${bound.name}`)
    if (!tests.has(test)) offences.push(`no test has the comment "// bound: ${test}"`)
  }
  return offences
}

/** A pattern of thousands of characters is named by its beginning and `…`. */
function isMeant(pattern: string, written: string): boolean {
  return pattern === written || (pattern.endsWith('…') && written.startsWith(pattern.slice(0, -1)))
}

/** The ids in `// bound: <id>` directly above a test. */
function boundIds(): Set<string> {
  const files = [...new Bun.Glob('{src,test}/**/*.test.ts').scanSync(ROOT)]
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'))
  return new Set(texts.flatMap((text) => [...text.matchAll(BOUND)].map(([, id]) => id!)))
}

const BOUND = /^ *\/\/ bound: ([a-z0-9-]+)\n(?: *\/\/[^\n]*\n)* *(?:test|it)[.(]/gm
