import { isIP } from 'node:net'
import type { Resolver } from '../../net/dns/resolver.ts'
import { listingsOf } from './blocklists.ts'
import { fail, pass, skip, type Verdict, warn, worstOf } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'
import { type NetworkFacts, recordsOf } from './network-facts.ts'

/** What DNS says about an address that mail is sent from. */
export interface AddressFacts {
  /** Its PTR name; null: none, or DNS did not respond. */
  ptr: string | null
  /** False if DNS did not respond for the PTR record or the name. */
  hasAnswered: boolean
  /** True if one of its PTR names is the name in EHLO and resolves back to it. */
  isForwardConfirmed: boolean
  /** Blocklists that contain it; null: not asked. */
  blocklists: string[] | null
}

/** Address and its name in EHLO → the facts. Never rejects. */
export async function factsOf(
  { address, hostname }: { address: string; hostname: string },
  { resolver, looksOutside }: { resolver: Resolver; looksOutside: boolean },
): Promise<AddressFacts> {
  const [names, back, blocklists] = await Promise.all([
    resolver.ptr(address),
    isIP(address) === 4 ? resolver.a(hostname) : resolver.aaaa(hostname),
    looksOutside ? listingsOf(address, resolver) : null,
  ])
  const found = recordsOf(names).map((name) => name.replace(/\.$/, '').toLowerCase())
  const isForwardConfirmed = found.includes(hostname) && recordsOf(back).includes(address)
  const hasAnswered = names.kind !== 'temporary' && back.kind !== 'temporary'
  return { ptr: found.includes(hostname) ? hostname : (found[0] ?? null), hasAnswered, isForwardConfirmed, blocklists }
}

/** Checks each configured address of this node: this machine has it, and its PTR is its name in EHLO, which resolves back
 *  to it. */
export async function checkSendingAddresses(
  { sendingAddresses }: Installation,
  deps: CheckDeps,
  facts: NetworkFacts,
): Promise<Verdict> {
  if (sendingAddresses.length === 0) return skip('no sending addresses are configured')
  const own = new Set(deps.ownAddresses())
  const missing = sendingAddresses.filter(({ address }) => !own.has(address) && !address.startsWith('127.'))
  if (missing.length > 0) {
    const names = missing.map(({ address }) => address).join(', ')
    return fail(
      `this machine does not have ${names}`,
      'Add the address to a network interface, or remove it from [[sending.addresses]]. With several nodes, set its node.',
    )
  }
  if (!(await facts.hasDns())) return skip('DNS does not respond')
  const verdicts = await Promise.all(
    sendingAddresses.map(async ({ address, hostname }): Promise<Verdict> => {
      const { ptr, hasAnswered, isForwardConfirmed } = await factsOf(
        { address, hostname },
        { ...deps, looksOutside: false },
      )
      if (isForwardConfirmed) return pass(`${address} resolves to ${hostname} and back`)
      if (!hasAnswered) return skip(`DNS did not respond for ${address} or ${hostname}`)
      const advice = `Set the reverse DNS (PTR) of ${address} to ${hostname}, and its A or AAAA record to the address.`
      if (ptr === null) return { ...fail(`${address} has no reverse DNS (PTR)`, advice), subject: address }
      return {
        ...warn(`${address} resolves to ${ptr}, and ${hostname} is not confirmed for it`, advice),
        subject: address,
      }
    }),
  )
  const troubled = verdicts.filter(({ status }) => status === 'fail' || status === 'warn')
  if (troubled.length > 1) return together(troubled)
  const worst = worstOf(verdicts)
  const count = sendingAddresses.length
  return worst.status === 'pass' && count > 1 ? pass(`all ${count} addresses resolve to their names and back`) : worst
}

const MOST_NAMED = 10

/** Several warnings and failures → one verdict with the text of the first ten, failures first. */
function together(verdicts: readonly Verdict[]): Verdict {
  const fails = verdicts.filter(({ status }) => status === 'fail')
  const named = [...fails, ...verdicts.filter(({ status }) => status !== 'fail')].slice(0, MOST_NAMED)
  const more = verdicts.length - named.length
  const message = [...named.map((each) => each.message), ...(more > 0 ? [`${more} more`] : [])].join('; ')
  const advice = named.map((each) => each.advice).join('\n')
  return fails.length > 0 ? fail(message, advice) : warn(message, advice)
}
