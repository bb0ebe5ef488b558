import { pass, skip, type Verdict, warn } from './check.ts'

/** A DNS server that does not show a new DKIM key (domains/publication.ts). */
interface NotShown {
  server: string
  name: string
  reason: 'missing' | 'other' | 'silent'
}

/** A domain whose new keys have waited too long to sign. */
export interface WaitingRotation {
  domain: string
  /** When the keys were made (ms UTC). */
  since: number
  /** [] if every server shows them. */
  notShown: readonly NotShown[]
}

/** New keys sign an hour after all servers show them. After this time, a server hinders them. */
export const ROTATION_WAITS_MS = 6 * 3_600_000

/** Says what hinders rotations of DKIM keys: the provider (`refused`), or servers that do not show them. `waiting`: rotations
 *  older than ROTATION_WAITS_MS, oldest first; null if this server publishes no keys. */
export async function checkRotations(
  waiting: (() => Promise<readonly WaitingRotation[]>) | null,
  refused: () => Promise<readonly { domain: string; fault: string }[]> = async () => [],
): Promise<Verdict> {
  if (waiting === null) return skip('no dns.zone and no dns.provider_zones')
  const [one, ...more] = await refused()
  if (one !== undefined) {
    const others = more.length > 0 ? ` (and those of ${more.length} more domains)` : ''
    return warn(
      `the DNS provider did not change the DKIM keys of ${one.domain}${others}: ${one.fault}`,
      `Postrider tries again by itself, at least daily for 30 days. Or run \`postrider dns apply ${one.domain}\`. The old keys sign meanwhile.`,
    )
  }
  const all = await waiting()
  const held = all.filter(({ notShown }) => notShown.length > 0)
  const [first] = held
  if (first === undefined) {
    return pass(
      all.length === 0
        ? 'no new DKIM keys have waited for six hours'
        : `all servers show the new DKIM keys of ${all[0]?.domain}`,
    )
  }
  const faults = new Set(first.notShown.map(({ server, name, reason }) => `${server} ${REASONS[reason]} ${name}`))
  const named = [...faults].slice(0, MOST_NAMED).join('; ')
  const rest = faults.size > MOST_NAMED ? `; and ${faults.size - MOST_NAMED} more` : ''
  const others = held.length > 1 ? `. So do those of ${held.length - 1} more domains` : ''
  return warn(
    `new DKIM keys of ${first.domain} wait since ${new Date(first.since).toISOString()}: ${named}${rest}${others}`,
    'Correct the server, or remove it from the NS records or from dkim.resolvers. The old keys sign meanwhile.',
  )
}

const REASONS = {
  missing: 'does not have',
  other: 'has another value at',
  silent: 'does not answer for',
}
const MOST_NAMED = 3
