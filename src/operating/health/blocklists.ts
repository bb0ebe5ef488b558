import { isIP } from 'node:net'
import type { Lookup, Resolver } from '../../net/dns/resolver.ts'
import { reverseLabels } from '../../net/dns/reverse-name.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { type NetworkFacts, recordsOf } from './network-facts.ts'

/** Blocklists that large receivers use. RFC 5782 */
interface Blocklist {
  zone: string
  families: readonly (4 | 6)[]
  /** True if a listing affects more than a little mail. */
  isWidelyUsed: boolean
  /** Where to request removal. */
  removal: string
}

const BLOCKLISTS: readonly Blocklist[] = [
  {
    zone: 'zen.spamhaus.org',
    families: [4, 6],
    isWidelyUsed: true,
    removal: 'https://check.spamhaus.org',
  },
  { zone: 'bl.spamcop.net', families: [4], isWidelyUsed: false, removal: 'https://www.spamcop.net/bl.shtml' },
  {
    zone: 'b.barracudacentral.org',
    families: [4],
    isWidelyUsed: false,
    removal: 'https://www.barracudacentral.org/rbl/removal-request',
  },
]

type Answer = 'clean' | 'listed' | 'policy' | 'cannot ask'

/** Checks that no blocklist contains the addresses from which mail leaves. */
export async function checkBlocklists(
  { smarthost }: Installation,
  deps: CheckDeps,
  facts: NetworkFacts,
): Promise<Verdict> {
  if (smarthost !== null) return skip('mail is sent through the smarthost')
  if (!deps.looksOutside) return skip('health.look_outside is off')
  if (!(await facts.hasDns())) return skip('DNS does not respond')
  const addresses = [...(await facts.publicAddresses(4)), ...(await facts.publicAddresses(6))]
  if (addresses.length === 0) return skip('the public address is unknown')
  const asked = addresses.flatMap((address) =>
    BLOCKLISTS.filter(({ families }) => families.some((family) => family === isIP(address))).map((list) => ({
      address,
      list,
    })),
  )
  const answers = await Promise.all(
    asked.map(async (each) => ({ ...each, answer: await askList(each.address, each.list, deps.resolver) })),
  )
  const listed = answers.filter(({ answer }) => answer === 'listed' || answer === 'policy')
  if (listed.length > 0) {
    const message = listed.map(({ address, list }) => `${address} is listed on ${list.zone}`).join('; ')
    const advice = listed.map(({ list, answer }) => adviceFor(list, answer)).join('\n')
    return listed.some(({ list }) => list.isWidelyUsed) ? fail(message, advice) : warn(message, advice)
  }
  const unanswered = new Set(answers.filter(({ answer }) => answer === 'cannot ask').map(({ list }) => list.zone))
  const clean = [...new Set(answers.map(({ list }) => list.zone))].filter((zone) => !unanswered.has(zone))
  if (clean.length === 0) {
    return skip(`no answer from ${[...unanswered].join(', ')} to these name servers; use your own resolver`)
  }
  const rest = unanswered.size === 0 ? '' : ` (no answer from ${[...unanswered].join(', ')} to these name servers)`
  return pass(
    `${addresses.join(', ')} ${addresses.length === 1 ? 'is' : 'are'} not listed on ${clean.join(', ')}${rest}`,
  )
}

/** Address → the blocklists that contain it; [] also where a list does not answer. Never rejects. */
export async function listingsOf(address: string, resolver: Resolver): Promise<string[]> {
  const lists = BLOCKLISTS.filter(({ families }) => families.some((family) => family === isIP(address)))
  const answers = await Promise.all(lists.map((list) => askList(address, list, resolver)))
  return lists.flatMap(({ zone }, at) => (answers[at] === 'listed' || answers[at] === 'policy' ? [zone] : []))
}

async function askList(address: string, { zone }: Blocklist, resolver: Resolver): Promise<Answer> {
  return meaningOf(await resolver.a(`${reverseLabels(address)}.${zone}`))
}

/** Meaning of a blocklist answer. Answers outside 127.0.0.0/8 come from sellers of expired names. 127.255.255.x:
 *  Spamhaus refuses this resolver. 127.0.0.10 and .11: a network that should not send mail. */
function meaningOf(lookup: Lookup<string>): Answer {
  if (lookup.kind === 'temporary') return 'cannot ask'
  const codes = recordsOf(lookup).filter((code) => code.startsWith('127.'))
  if (codes.some((code) => code.startsWith('127.255.255.'))) return 'cannot ask'
  if (codes.length === 0) return 'clean'
  return codes.every((code) => code === '127.0.0.10' || code === '127.0.0.11') ? 'policy' : 'listed'
}

function adviceFor({ zone, removal }: Blocklist, answer: Answer): string {
  if (answer === 'policy') {
    return `${zone} lists the whole network as one that should not send mail (PBL). Request removal of the single address at ${removal}.`
  }
  return `Find and stop the cause, for example an abused form or a previous owner of the address. Then request removal at ${removal}.`
}
