/** The behaviour of a regular expression on the worst text, judged by recheck
 *  (https://makenowjust-labs.github.io/recheck). */
import { check, type Diagnostics } from 'recheck'
import type { Pattern } from './extract.ts'

/** `linear`; otherwise the cost for the worst text (`polynomial 2` is quadratic); `unclear` when recheck cannot say. */
export type Verdict = 'linear' | 'unclear' | 'exponential' | `polynomial ${number}`

/** The key of a pattern in the file of verdicts. */
export const keyOf = ({ source, flags }: Pick<Pattern, 'source' | 'flags'>) => `/${source}/${judgedFlags(flags)}`

/** Pattern → its verdict, by proof where possible: recheck's automata are exact. For patterns that are too large for
 *  them it falls back to trying texts, which has misses and false alarms. Then
 *
 *  - the automata judge a wider pattern, in which long repetitions have no limit;
 *  - look-around and backward references, which automata cannot express, are replaced by what must match, and what
 *  must not match is left out; recheck must also find no text for the pattern itself. */
export async function judge(pattern: Pick<Pattern, 'source' | 'flags'>): Promise<Verdict> {
  const flags = judgedFlags(pattern.flags)
  const first = await check(pattern.source, flags, { timeout: TRIAL_MS })
  if (first.checker === 'automaton') return verdictOf(first)
  const byProof = await check(widened(withoutLooks(pattern.source)), flags, { timeout: PROOF_MS, checker: 'automaton' })
  const verdict = verdictOf(byProof)
  const isWhole = withoutLooks(pattern.source) === pattern.source
  return isWhole || verdict !== 'linear' ? verdict : verdictOf(first)
}

/** Source of a pattern → the same without look-around and backward references. */
function withoutLooks(source: string): string {
  return withoutNegative(source)
    .replace(/\(\?<?=/g, '(?:')
    .replace(/\\[1-9]|\\k<\w+>/g, '')
}

/** Negative groups have at most one level of nested groups. */
function withoutNegative(source: string): string {
  return source.replace(
    /\(\?<?!(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\\]|\((?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\\])*\))*\)/g,
    '',
  )
}

/** Source of a pattern → the same without limits of repetition above 8; `{3,}` stays. A pattern that takes linear
 *  time without the limits does so with them. Exact counts stay. */
export function widened(source: string): string {
  return source.replace(REPETITION, (all, least: string | undefined, most: string | undefined) => {
    if (least === undefined || Number(most) <= SHORT) return all
    if (least === '0') return '*'
    return Number(least) <= SHORT ? `{${least},}` : '+'
  })
}

/** The leading characters keep escapes and classes together. */
const REPETITION = /\\.|\[(?:\\.|[^\]\\])*\]|\{(\d{1,9}),(\d{1,9})\}/gs
const SHORT = 8
const TRIAL_MS = 15_000
const PROOF_MS = 30_000

/** The flags that affect the time of one match. A sticky pattern is tried at one position only. */
function judgedFlags(flags: string): string {
  return [...flags]
    .filter((flag) => 'imsuvy'.includes(flag))
    .toSorted()
    .join('')
}

function verdictOf(diagnostics: Diagnostics): Verdict {
  if (diagnostics.status === 'safe') return 'linear'
  if (diagnostics.status !== 'vulnerable') return 'unclear'
  const { complexity } = diagnostics
  return complexity.type === 'polynomial' ? `polynomial ${complexity.degree}` : 'exponential'
}
