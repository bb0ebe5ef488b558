import TABLE from './bounce-rules.txt' with { type: 'text' }
import type { Reply } from './reply.ts'

/** Why a mail was refused, as far as the reply says. `system` is a fault inside the receiving system; `network`, `tls`
 *  and `protocol` also cover faults without a reply. */
export type BounceClass = (typeof CLASSES)[number]

const CLASSES = [
  'no_mailbox',
  'no_domain',
  'mailbox_full',
  'mailbox_disabled',
  'policy',
  'reputation',
  'content',
  'authentication',
  'rate',
  'greylist',
  'size',
  'network',
  'system',
  'tls',
  'protocol',
  'unknown',
] as const

/** One row of the table. */
export interface BounceRule {
  name: string
  class: BounceClass
  /** Reply code or enhanced status code; null: any. */
  code: RegExp | null
  /** One is sufficient; none: any text. */
  phrases: Phrase[]
  source: string
  samples: string[]
}

/** Words, or two with at most 60 characters of one sentence between them. */
interface Phrase {
  words: RegExp
  near: RegExp | null
}

/** Whether the rule takes a reply with this readable text (see `readable`). */
export function takes({ code, phrases }: BounceRule, reply: Reply, text: string): boolean {
  if (code !== null && !code.test(String(reply.code)) && !code.test(reply.enhanced ?? '')) return false
  return phrases.length === 0 || phrases.some((phrase) => isSaid(phrase, text))
}

function isSaid({ words, near }: Phrase, text: string): boolean {
  if (near === null) return text.search(words) >= 0
  if (text.search(near) < 0) return false
  let times = 0
  for (const { 0: said, index } of text.matchAll(words)) {
    if (++times > MAX_TIMES) break
    const after = index + said.length
    const rest = text.slice(after, after + 2 * GAP)
    const at = rest.slice(0, SENTENCE_END.exec(rest)?.index).search(near)
    if (at >= 0 && at <= GAP) return true
  }
  return false
}

const GAP = 60
/** More repetitions of a word add nothing. */
const MAX_TIMES = 20
const SENTENCE_END = /[.;!?](?: |$)|。/

/** Text of a reply → its first 2,000 characters in lower case, with single blanks, with `<address>` for each address
 *  (bare, quoted, or in brackets of any kind), and without the paths of links: their words mean nothing. Linear. */
export function readable(text: string): string {
  return text
    .slice(0, LONGEST_TEXT)
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(ADDRESS, '<address>')
    .replace(LINK, '$1/')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_TEXT)
}

/** The reader bounds replies, but patterns only need the first lines. */
const LONGEST_TEXT = 2_000
const ADDRESS =
  /[<[({"'`]{0,2}(?:mailto:)?(?:"[^"@\n]{1,64}"|[^\s<>()[\]{}"'`,;:@]{1,64})@(?:\[[^\s\]]{1,64}\]|[^\s<>()[\]{}"'`,;:@]{0,254}[^\s<>()[\]{}"'`,;:@.!?])[>\])}"'`]{0,2}/g

/** Host, then the path up to a fragment, which may be a provider's code. */
const LINK = /(https?:\/\/[^\s/]{1,255})\/[^\s#]*/g

/** The table in bounce-rules.txt → its rules in order. Throws for a line that it does not understand: the table is
 *  part of the program. */
function readTable(table: string): BounceRule[] {
  const rules: BounceRule[] = []
  const sets = new Map<string, string>()
  for (const line of table.split('\n')) {
    const [, set, members] = SET.exec(line) ?? []
    const [, name, said, codes, source] = HEAD.exec(line) ?? []
    const rule = rules.at(-1)
    if (/^(?:#|==|$)/.test(line)) continue
    if (set !== undefined && members !== undefined) {
      sets.set(set, sets.has(set) ? `${sets.get(set)}|${members}` : members)
    } else if (name !== undefined) {
      const known = CLASSES.find((each) => each === said)
      if (known === undefined) throw new Error(`bounce-rules.txt: no such class: ${line}`)
      rules.push({ name, class: known, code: codeOf(codes), phrases: [], source: source ?? '', samples: [] })
    } else if (line.startsWith('  ~ ') && rule !== undefined) rule.phrases.push(phraseOf(line.slice(4), sets))
    else if (line.startsWith('  > ') && rule !== undefined) rule.samples.push(line.slice(4))
    else throw new Error(`bounce-rules.txt: ${line}`)
  }
  return rules
}

const SET = /^@([a-z]+) = (.+)$/
const HEAD = /^([\w-]+) = (\w+)(?:, ([\dx. ]*[\dx]))?(?: \((.+)\))?$/

/** `5xx 5.7.1` → a pattern of the whole code. */
function codeOf(codes: string | undefined): RegExp | null {
  if (codes === undefined) return null
  const each = codes.split(' ').map((code) => code.replaceAll('.', '\\.').replaceAll('x', '\\d'))
  return new RegExp(`^(?:${each.join('|')})$`)
}

function phraseOf(line: string, sets: ReadonlyMap<string, string>): Phrase {
  const full = line.replace(/\{([a-z]+)\}/g, (_, set: string) => {
    const members = sets.get(set)
    if (members === undefined) throw new Error(`bounce-rules.txt: no set ${set}`)
    return `(?:${members})`
  })
  const [words = '', near] = full.split(' .. ')
  return { words: patternOf(words), near: near === undefined ? null : patternOf(near) }
}

const patternOf = (words: string) => new RegExp(`(?<![a-z0-9])(?:${words})`, 'g')

export const BOUNCE_RULES: readonly BounceRule[] = readTable(TABLE)
