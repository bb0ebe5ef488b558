import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps } from './deps.ts'
import { type NetworkFacts, recordsOf } from './network-facts.ts'

/** Public time servers. */
const TIME_SERVERS = ['time.cloudflare.com', 'time.google.com'] as const
/** Some receivers reject a signature from the future; receivers of webhooks allow five minutes. */
const NOTABLE_MS = 5_000
const HARMFUL_MS = 60_000

/** Checks the clock. Signatures, schedules, and the expiry of keys and certificates depend on it. */
export async function checkClock(deps: CheckDeps, facts: NetworkFacts): Promise<Verdict> {
  if (!deps.looksOutside) return skip('health.look_outside is off')
  if (!(await facts.hasDns())) return skip('DNS does not respond')
  const lookups = await Promise.all(TIME_SERVERS.map((name) => deps.resolver.a(name)))
  const addresses = lookups.flatMap((lookup) => recordsOf(lookup).filter(deps.mayConnect).slice(0, 1))
  const answers = (await Promise.all(addresses.map(deps.askTime))).filter((aheadMs) => aheadMs !== null)
  // Uses the smallest difference, so that a single wrong server cannot raise an alarm.
  const [aheadMs] = answers.toSorted((a, b) => Math.abs(a) - Math.abs(b))
  if (aheadMs === undefined) return skip('no time server responds')
  const offMs = Math.abs(aheadMs)
  if (offMs < NOTABLE_MS) return pass(`accurate to ${(Math.max(offMs, 1) / 1000).toFixed(offMs < 100 ? 2 : 1)} s`)
  const message = `${spoken(offMs)} ${aheadMs > 0 ? 'ahead' : 'behind'}`
  const advice = 'Enable time synchronization: timedatectl set-ntp true (or apt install chrony).'
  return offMs < HARMFUL_MS ? warn(message, advice) : fail(message, advice)
}

function spoken(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} seconds`
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`
  return `${Math.round(seconds / 3600)} hours`
}
