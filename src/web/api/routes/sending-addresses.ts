import type { StoredRest } from '../../../model/address-rest.ts'
import { DESTINATION_GROUPS } from '../../../model/destination-group.ts'
import { iso } from '../../../model/event.ts'
import { dayOf, firstDayOf, standingOf, startOfDay, type Warmup, type WarmupDay } from '../../../model/warmup.ts'
import { WARMUP_DAYS } from '../../../model/warmup-plan.ts'
import type { Resolver } from '../../../net/dns/resolver.ts'
import { type AddressFacts, factsOf } from '../../../operating/health/sending-addresses.ts'
import { type AddressCounters, hourOf } from '../../../sending/outbound/senders/address-counters.ts'
import type { AddressCount, Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'

export interface SendingAddressDeps {
  store: Pick<Store, 'dedicatedAddresses' | 'addressRests' | 'addressUses' | 'warmups'>
  addresses: readonly {
    address: string
    hostname: string
    pool: string
    node: string | null
    warmup: Warmup | null
  }[]
  resolver: Resolver
  /** Whether blocklists may be asked. */
  looksOutside: boolean
  /** What the delivery engine of this process sent from its addresses. */
  counters: AddressCounters
}

/** Most rests in a response. */
const RESTS = 1_000
/** Each address takes up to five DNS lookups, so requests within this time share them. */
const FRESH_MS = 60_000

/** The operation of `/v1/sending-addresses`: the addresses that mail is sent from. For the operator only. */
export function sendingAddressOperations(deps: SendingAddressDeps): Operation[] {
  const { store, addresses, counters } = deps
  const warming = addresses.flatMap(({ address, warmup }) => (warmup === null ? [] : [address]))
  let facts: { at: number; found: ReturnType<typeof factsOf>[] } | undefined
  const factsAt = (now: number) => {
    if (facts === undefined || Math.abs(now - facts.at) >= FRESH_MS) {
      facts = { at: now, found: addresses.map((each) => factsOf(each, deps)) }
    }
    return Promise.all(facts.found)
  }
  return [
    operation({
      id: 'sending_addresses_list',
      method: 'GET',
      path: '/v1/sending-addresses',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List the addresses that mail is sent from',
      description:
        'Configured addresses with their DNS, use and warm-up. Counts are those of the last 24 hours, of all nodes; those of other nodes are up to a minute old. Rests are those of all nodes, the 1,000 that end last. Without configured addresses, the list is empty.',
      responses: async () => (await import('../responses/sending-addresses.ts')).sendingAddressResponses,
      async handle({ now }) {
        if (addresses.length === 0) return { status: 200, body: { data: [] } }
        await counters.flush()
        const [found, owners, rests, days, used] = await Promise.all([
          factsAt(now),
          store.dedicatedAddresses.list(),
          store.addressRests.endingAfter(now, RESTS),
          warming.length === 0 ? [] : store.warmups.days(warming),
          store.addressUses.since(hourOf(now) - 23),
        ])
        const uses = new Map(used.map((each) => [each.address, each]))
        const data = addresses.map((each, at) => {
          const owner = owners.find(({ address }) => address === each.address)
          return sendingAddressRecord(each, {
            organizationId: owner?.organizationId ?? null,
            facts: found[at]!,
            use: uses.get(each.address) ?? null,
            warmup: each.warmup && warmupRecord(each.warmup, ofAddress(days, each.address), now),
            rests: rests.filter(({ address }) => address === each.address),
          })
        })
        return { status: 200, body: { data } }
      },
    }),
  ]
}

/** Configured address and what is known of it → its JSON record. */
export function sendingAddressRecord(
  { address, hostname, pool, node }: SendingAddressDeps['addresses'][number],
  known: {
    organizationId: string | null
    facts: AddressFacts
    use: AddressCount | null
    rests: readonly StoredRest[]
    warmup: ReturnType<typeof warmupRecord> | null
  },
) {
  const { organizationId, facts, use, rests, warmup } = known
  return {
    address,
    hostname,
    pool,
    node,
    organization_id: organizationId,
    ptr: facts.ptr,
    forward_confirmed: facts.isForwardConfirmed,
    blocklists: facts.blocklists,
    attempts: use?.attempts ?? 0,
    delivered: use?.delivered ?? 0,
    resting: rests.map(({ destination, rule, until }) => ({
      site: destination,
      because: rule,
      until: iso(until),
    })),
    warmup,
  }
}

const ofAddress = (days: readonly WarmupDay[], address: string) => days.filter((each) => each.address === address)

/** The warm-up of an address and its recorded days → its JSON at `now` (ms UTC). */
function warmupRecord(warmup: Warmup, recorded: readonly WarmupDay[], now: number) {
  const planDays = WARMUP_DAYS[warmup.plan].length
  const day = Math.min(Math.max(0, dayOf(now) - firstDayOf(warmup) + 1), planDays)
  return {
    plan: warmup.plan,
    started_on: warmup.startedOn,
    day,
    plan_days: planDays,
    groups: DESTINATION_GROUPS.map((group) => {
      const own = recorded.filter((each) => each.group === group)
      const { state, day, allowance, heldUntil, today, days } = standingOf(warmup, own, dayOf(now))
      return {
        group,
        state,
        day,
        allowance,
        ...today,
        held_until: heldUntil === null ? null : iso(heldUntil),
        days: days.map((each) => ({ ...each, day: iso(startOfDay(each.day)).slice(0, 10) })),
      }
    }),
  }
}
