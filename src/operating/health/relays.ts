import { SMARTHOST } from '../../model/relay.ts'
import { fail, pass, skip, type Verdict, worstOf } from './check.ts'
import type { CheckDeps, Greeting, Installation } from './deps.ts'

/** Checks that the smarthost answers and accepts our login. */
export async function checkSmarthost({ smarthost }: Installation, deps: CheckDeps): Promise<Verdict> {
  if (smarthost === null) return skip('none configured; mail goes to each domain’s MX')
  if (!deps.looksOutside) return skip('health.look_outside is off')
  return verdictOf(`${smarthost.host}:${smarthost.port}`, await deps.greetRelay(SMARTHOST), {
    login: 'the user and password (percent-encoded) in delivery.smarthost',
    certificates: 'delivery.smarthost_certificates',
    place: 'delivery.smarthost',
  })
}

/** Checks that each configured relay answers and accepts our login. */
export async function checkRelays({ relays }: Installation, deps: CheckDeps): Promise<Verdict> {
  if (relays.length === 0) return skip('no relays are configured')
  if (!deps.looksOutside) return skip('health.look_outside is off')
  return worstOf(await Promise.all(relays.map((relay) => checkRelay(relay, deps))))
}

/** The same for one relay. */
export async function checkRelay(
  { name, host, port }: Installation['relays'][number],
  deps: Pick<CheckDeps, 'greetRelay'>,
): Promise<Verdict> {
  return verdictOf(`${name} (${host}:${port})`, await deps.greetRelay(name), {
    login: `username and password_file of the relay "${name}"`,
    certificates: 'its certificates',
    place: `the relay "${name}"`,
  })
}

/** `settings`: names of the settings to check. */
function verdictOf(
  name: string,
  { isReached, problem, stage, tls, durationMs }: Greeting,
  settings: { login: string; certificates: string; place: string },
): Verdict {
  if (problem === null) {
    const encryption = tls === undefined ? '' : tls === null ? ', without TLS' : `, over ${tls}`
    return pass(`${name} accepts our login, after ${durationMs} ms${encryption}`)
  }
  if (isReached && problem.startsWith('password not sent')) {
    return fail(
      `${name}: ${problem}`,
      `Use a certificate from a public authority for its name, or set ${settings.certificates} to its fingerprint.`,
    )
  }
  if (stage === 'starttls') {
    return fail(`${name} answers, but: ${problem}`, `Check tls, port and certificates of ${settings.place}.`)
  }
  return isReached
    ? fail(`${name} answers, but: ${problem}`, `Check ${settings.login}.`)
    : fail(`${name}: ${problem}`, `Check host and port of ${settings.place}. If a port is blocked, try 2525.`)
}
