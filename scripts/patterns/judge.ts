/** How a regular expression may behave on the worst text, judged by recheck (https://makenowjust-labs.github.io/recheck). */
import { check, type Diagnostics } from 'recheck'
import type { Pattern } from './extract.ts'

/** `linear`; what the worst text costs otherwise (`polynomial 2` is quadratic); `unclear` when recheck cannot say. */
export type Verdict = 'linear' | 'unclear' | 'exponential' | `polynomial ${number}`

/** The key of a pattern in the file of verdicts. */
export const keyOf = ({ source, flags }: Pick<Pattern, 'source' | 'flags'>) => `/${source}/${judgedFlags(flags)}`

/** Pattern → its verdict, where possible by proof: recheck's automata say for sure. For patterns that are too large for them it
 *  falls back to trying texts, which misses some and finds others that are none. Then
 *
 *  - a wider pattern is judged by automata, in which long repetitions with a limit have none;
 *  - of look-around and backward references, which automata cannot have, what must match is put in their place, and what must
 *    not match is left out; recheck must find no text for the pattern itself, either. */
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

/** What must not match stands in at most one level of groups. */
function withoutNegative(source: string): string {
  return source.replace(
    /\(\?<?!(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\\]|\((?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\\])*\))*\)/g,
    '',
  )
}

/** Source of a pattern → the same with every limit of repetition above 8 left away, `{3,}` staying as it is. What takes
 *  linear time without the limits takes it with them as well. A count that is exact stays. */
export function widened(source: string): string {
  return source.replace(REPETITION, (all, least: string | undefined, most: string | undefined) => {
    if (least === undefined || Number(most) <= SHORT) return all
    if (least === '0') return '*'
    return Number(least) <= SHORT ? `{${least},}` : '+'
  })
}

/** The characters in front keep escapes and classes whole. */
const REPETITION = /\\.|\[(?:\\.|[^\]\\])*\]|\{(\d{1,9}),(\d{1,9})\}/gs
const SHORT = 8
const TRIAL_MS = 15_000
const PROOF_MS = 30_000

/** Which flags matter to the time that one match takes. A sticky pattern is tried at one place alone. */
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
