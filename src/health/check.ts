/** What a look at one thing came to. `advice` says what to do, a line or several; null where nothing is to be done. */
export interface Verdict {
  status: CheckStatus
  message: string
  advice: string | null
}

/** `skip`: there was nothing to look at, or no way to. */
export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip'

export interface CheckResult extends Verdict {
  name: string
}

/** One thing that is looked at. Names are few and fixed: they label a metric. */
export interface Check {
  name: string
  look: () => Verdict | Promise<Verdict>
}

export const pass = (message: string): Verdict => ({ status: 'pass', message, advice: null })
export const warn = (message: string, advice: string): Verdict => ({ status: 'warn', message, advice })
export const fail = (message: string, advice: string): Verdict => ({ status: 'fail', message, advice })
export const skip = (message: string): Verdict => ({ status: 'skip', message, advice: null })

/** Several verdicts of one thing, at least one → the worst of them, the first of its kind; where all are well, all they
 *  say. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const first = (status: CheckStatus) => verdicts.find((verdict) => verdict.status === status)
  return first('fail') ?? first('warn') ?? first('skip') ?? pass(verdicts.map(({ message }) => message).join('; '))
}

/** Checks → their results in the same order, all looked at at once. One that takes longer than `patienceMs` is skipped,
 *  on the machine's own timer; one that throws has found something that nobody foresaw. Never rejects. */
export async function runChecks(checks: readonly Check[], timeoutMs = TIMEOUT_MS): Promise<CheckResult[]> {
  return Promise.all(checks.map(async ({ name, look }) => ({ name, ...(await bounded(look, timeoutMs)) })))
}

/** Nothing failed. */
export const hasNoFailure = (results: readonly CheckResult[]) => results.every(({ status }) => status !== 'fail')

/** Every single step inside a check ends sooner, with a DNS that answers. */
const TIMEOUT_MS = 6_000

async function bounded(look: Check['look'], timeoutMs: number): Promise<Verdict> {
  const late = Promise.withResolvers<Verdict>()
  const timer = setTimeout(() => late.resolve(skip(`timed out after ${timeoutMs / 1000} s`)), timeoutMs)
  try {
    return await Promise.race([(async () => look())(), late.promise])
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return warn(`check failed: ${message}`, 'Try again as root. If it still fails, report it as a bug.')
  } finally {
    clearTimeout(timer)
  }
}
