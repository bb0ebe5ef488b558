import { type AddressFacts, factsOf } from '../../health/sending-addresses.ts'
import type { StoredRest } from '../../model/address-rest.ts'
import { iso } from '../../model/event.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Store } from '../../storage/store.ts'
import { type Operation, operation } from '../operation.ts'

export interface SendingAddressDeps {
  store: Pick<Store, 'dedicatedAddresses' | 'addressRests'>
  addresses: readonly { address: string; hostname: string; pool: string; node: string | null }[]
  resolver: Resolver
  /** Whether blocklists may be asked. */
  looksOutside: boolean
  /** What the delivery engine of this process sent from its addresses; [] without one. */
  states: () => readonly AddressUse[]
}

export interface AddressUse {
  address: string
  /** Since the start of the process. */
  attempts: number
  delivered: number
}

/** Most rests in a response. */
const RESTS = 1_000
/** Each address takes up to five DNS lookups, so requests within this time share them. */
const FRESH_MS = 60_000

/** The operation of `/v1/sending-addresses`: the addresses that mail is sent from. For the operator only. */
export function sendingAddressOperations(deps: SendingAddressDeps): Operation[] {
  const { store, addresses, states } = deps
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
      summary: 'List the addresses that mail is sent from',
      description:
        'Configured addresses with their DNS and use. Counts are those of the node that answers, since its start. Rests are those of all nodes, the 1,000 that end last. Without configured addresses, the list is empty.',
      responses: async () => (await import('../responses/sending-addresses.ts')).sendingAddressResponses,
      async handle({ now }) {
        if (addresses.length === 0) return { status: 200, body: { data: [] } }
        const [found, owners, rests] = await Promise.all([
          factsAt(now),
          store.dedicatedAddresses.list(),
          store.addressRests.endingAfter(now, RESTS),
        ])
        const uses = new Map(states().map((each) => [each.address, each]))
        const data = addresses.map((each, at) => {
          const owner = owners.find(({ address }) => address === each.address)
          return sendingAddressRecord(each, {
            organizationId: owner?.organizationId ?? null,
            facts: found[at]!,
            use: uses.get(each.address) ?? null,
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
    use: AddressUse | null
    rests: readonly StoredRest[]
  },
) {
  const { organizationId, facts, use, rests } = known
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
  }
}
