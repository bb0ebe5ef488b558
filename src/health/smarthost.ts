import { fail, pass, skip, type Verdict } from './check.ts'
import type { Installation, World } from './world.ts'

/** The smarthost answers and takes our login. */
export async function checkSmarthost({ smarthost }: Installation, world: World): Promise<Verdict> {
  if (smarthost === null || world.greetSmarthost === null) return skip('none is set; mail goes to each domain’s MX')
  if (!world.looksOutside) return skip('health.look_outside is off')
  const { isReached, problem, durationMs } = await world.greetSmarthost()
  const name = `${smarthost.host}:${smarthost.port}`
  if (problem === null) return pass(`${name} takes our login, after ${durationMs} ms`)
  if (isReached && problem.startsWith('the password was not sent')) {
    return fail(
      `${name}: ${problem}`,
      'Give it a certificate of a public authority for its name, or set delivery.smarthost_certificates to the fingerprint.',
    )
  }
  return isReached
    ? fail(`${name} answers, but: ${problem}`, 'Look at user and password (percent-encoded) of delivery.smarthost.')
    : fail(
        `${name}: ${problem}`,
        'Look at host and port of delivery.smarthost; where a port is blocked, 2525 may be open.',
      )
}
