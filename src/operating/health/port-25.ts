import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { hostingOf } from './hosting.ts'
import { type Call, MAILBOX_PROVIDERS, type NetworkFacts, recordsOf } from './network-facts.ts'

/** Checks that mail servers on the Internet can be reached. Many providers block port 25; then a smarthost is
 *  needed. */
export async function checkPort25({ smarthost }: Installation, deps: CheckDeps, facts: NetworkFacts): Promise<Verdict> {
  if (smarthost !== null) return skip('mail is sent through the smarthost')
  if (!deps.looksOutside) return skip('health.look_outside is off')
  if (!(await facts.hasDns())) return skip('DNS does not respond')
  const all = await facts.calls()
  // Many mail servers have only IPv4, and it is tried first.
  const overIpv4 = all.filter(({ family }) => family === 4)
  const calls = overIpv4.length > 0 ? overIpv4 : all
  if (calls.length === 0) return skip(`no public mail server found in DNS for ${MAILBOX_PROVIDERS.join(', ')}`)
  const reached = calls.filter(({ isReached }) => isReached)
  const welcome = reached.filter(({ problem }) => problem === null)
  const [first] = [...welcome, ...reached]
  if (first === undefined) return fail(unreached(calls), await blockedAdvice(deps, facts))

  const { host, durationMs, problem } = first
  if (welcome.length > 0) return pass(`${host} responded after ${durationMs} ms`)
  return warn(
    `${host} is reachable but rejects the connection: ${problem}`,
    'The reply concerns the address of this machine: its reverse DNS, a blocklist or its reputation.',
  )
}

/** Advice if port 25 is closed: what is known about the provider, and the lines for the config. */
const SMARTHOST_ADVICE = `Or send through a smarthost: the provider's relay, or any account that may send for your domains. Put its URL, with user
and password percent-encoded, into a file that only the server can read, and set the file in the config:
  printf '%s\\n' 'smtp://user:password@smtp.example.com:587' > /etc/postrider/smarthost
  chmod 600 /etc/postrider/smarthost && chown postrider: /etc/postrider/smarthost
  [delivery]
  smarthost_file = "smarthost"
If ports 587 and 465 are blocked too, use port 2525. \`postrider init --smarthost …\` does all of this.`

async function blockedAdvice(deps: CheckDeps, facts: NetworkFacts): Promise<string> {
  const addresses = await facts.publicAddresses(4)
  const names = (await Promise.all(addresses.map((ip) => deps.resolver.ptr(ip)))).flatMap(recordsOf)
  const hosting = hostingOf(deps.sys, names)
  const ask =
    hosting === null
      ? 'Ask your provider to open outbound port 25; many do so on request.'
      : `This machine is hosted by ${hosting.name}. ${hosting.aboutPort25}`
  return `${ask}\n${SMARTHOST_ADVICE}`
}

function unreached(calls: readonly Call[]): string {
  const hosts = [...new Set(calls.map(({ host }) => host))]
  const reasons = [...new Set(calls.map(({ problem }) => problem))]
  return `outbound port 25 is blocked: none of ${hosts.join(', ')} responds (${reasons.join('; ')})`
}
