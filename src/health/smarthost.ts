import { fail, pass, skip, type Verdict } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'

/** Checks that the smarthost answers and accepts our login. */
export async function checkSmarthost({ smarthost }: Installation, deps: CheckDeps): Promise<Verdict> {
  if (smarthost === null || deps.greetSmarthost === null) return skip('none configured; mail goes to each domain’s MX')
  if (!deps.looksOutside) return skip('health.look_outside is off')
  const { isReached, problem, durationMs } = await deps.greetSmarthost()
  const name = `${smarthost.host}:${smarthost.port}`
  if (problem === null) return pass(`${name} accepts our login, after ${durationMs} ms`)
  if (isReached && problem.startsWith('password not sent')) {
    return fail(
      `${name}: ${problem}`,
      'Use a certificate from a public authority for its name, or set delivery.smarthost_certificates to its fingerprint.',
    )
  }
  return isReached
    ? fail(`${name} answers, but: ${problem}`, 'Check the user and password (percent-encoded) in delivery.smarthost.')
    : fail(`${name}: ${problem}`, 'Check host and port of delivery.smarthost. If a port is blocked, try 2525.')
}
