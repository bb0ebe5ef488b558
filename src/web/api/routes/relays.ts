import { iso } from '../../../model/event.ts'
import { monthOf } from '../../../model/limits.ts'
import type { RelayCount } from '../../../model/relay.ts'
import type { RelayCounters } from '../../../sending/outbound/relays/relay-counters.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'

export interface RelayDeps {
  store: Pick<Store, 'relays'>
  config: { relays: readonly ConfiguredRelay[] }
  delivery: { relayCounters: Pick<RelayCounters, 'flush'> }
}

/** A configured relay, without its login. */
interface ConfiguredRelay {
  name: string
  host: string
  port: number
  /** 0: none is configured. */
  pricePerThousand: number
}

/** The operation of `/v1/relays`: the relays that mail is sent through. For the operator only. */
export function relayOperations({ store, config: { relays }, delivery }: RelayDeps): Operation[] {
  return [
    operation({
      id: 'relays_list',
      method: 'GET',
      path: '/v1/relays',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List the relays that mail is sent through',
      description:
        'Configured relays with their use in the current calendar month (UTC). With several nodes, the counts of the other nodes are up to a minute old. Without configured relays, the list is empty.',
      responses: async () => (await import('../responses/relays.ts')).relayResponses,
      async handle({ now }) {
        await delivery.relayCounters.flush()
        const month = monthOf(now)
        const counts = new Map((await store.relays.counts(month)).map((count) => [count.relay, count]))
        return { status: 200, body: { data: relays.map((each) => relayRecord(each, month, counts.get(each.name))) } }
      },
    }),
  ]
}

/** Configured relay and its counts in a month, such as `2026-11` → its JSON record. */
export function relayRecord(
  { name, host, port, pricePerThousand }: ConfiguredRelay,
  month: string,
  count: RelayCount | undefined,
) {
  const { sent = 0, failed = 0, lastError = null } = count ?? {}
  return {
    name,
    host,
    port,
    month,
    sent,
    failed,
    cost: pricePerThousand === 0 ? null : Math.round(sent * pricePerThousand * 10) / 10_000,
    last_error: lastError === null ? null : { at: iso(lastError.at), message: lastError.message },
  }
}
