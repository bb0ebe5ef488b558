/** Result of a check. `advice` says how to fix it, one or more lines; null if there is nothing to do. */
export interface Verdict {
  status: CheckStatus
  message: string
  advice: string | null
  /** The domain or address that has the problem; absent if there are several, or none. */
  subject?: string
}

/** `skip`: the check does not apply or could not run. */
export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip'

export interface CheckResult extends Verdict {
  name: string
}

/** Result of a check → its JSON record, of the API and of `doctor --json`. */
export const checkRecord = ({ name, status, message, advice, subject }: CheckResult) => ({
  name,
  status,
  subject: subject ?? null,
  message,
  advice,
})

/** One check. Names are few and fixed: they are metric labels. */
export interface Check {
  name: string
  look: () => Verdict | Promise<Verdict>
}

export const pass = (message: string): Verdict => ({ status: 'pass', message, advice: null })
export const warn = (message: string, advice: string): Verdict => ({ status: 'warn', message, advice })
export const fail = (message: string, advice: string): Verdict => ({ status: 'fail', message, advice })
export const skip = (message: string): Verdict => ({ status: 'skip', message, advice: null })

/** Several verdicts of one check, at least one → the worst, the first of its kind; if all pass, their messages
 *  combined. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const first = (status: CheckStatus) => verdicts.find((verdict) => verdict.status === status)
  return first('fail') ?? first('warn') ?? first('skip') ?? pass(verdicts.map(({ message }) => message).join('; '))
}

/** Checks → results in the same order, run in parallel. A check that exceeds `timeoutMs` is skipped; one that throws
 *  becomes a warning. Never rejects. */
export async function runChecks(checks: readonly Check[], timeoutMs = TIMEOUT_MS): Promise<CheckResult[]> {
  return Promise.all(checks.map(async ({ name, look }) => ({ name, ...(await bounded(look, timeoutMs)) })))
}

/** True if no check failed. */
export const hasNoFailure = (results: readonly CheckResult[]) => results.every(({ status }) => status !== 'fail')

/** True if the check took too long, so that its result is unknown. */
export const isTimedOut = ({ status, message }: Verdict) => status === 'skip' && message.startsWith(TIMED_OUT)

const TIMED_OUT = 'timed out after '

/** With a DNS that responds, every step of a check is faster. */
const TIMEOUT_MS = 6_000

async function bounded(look: Check['look'], timeoutMs: number): Promise<Verdict> {
  const late = Promise.withResolvers<Verdict>()
  const timer = setTimeout(() => late.resolve(skip(`${TIMED_OUT}${timeoutMs / 1000} s`)), timeoutMs)
  try {
    return await Promise.race([(async () => look())(), late.promise])
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return warn(`check failed: ${message}`, 'Try again as root. If it still fails, report it as a bug.')
  } finally {
    clearTimeout(timer)
  }
}
