import type { Canary } from '../../model/canary.ts'
import type { Registry } from './registry.ts'

/** The last canary mail to each mailbox, on the node that sends them; none if canaries are off. */
export function gaugeCanaries(registry: Registry, latest: () => readonly Canary[]): void {
  registry.gauges(
    'postrider_canary_ok',
    'Whether the last canary mail arrived in the inbox, in time and authenticated (1) or not (0).',
    ['mailbox'],
    () => latest().map(({ mailbox, result }) => ({ values: [mailbox], value: result === 'inbox' ? 1 : 0 })),
  )
  registry.gauges(
    'postrider_canary_seconds',
    'How long the last canary mail took to arrive; absent if it did not.',
    ['mailbox'],
    () =>
      latest().flatMap(({ mailbox, sentAt, arrivedAt }) =>
        arrivedAt === null ? [] : [{ values: [mailbox], value: (arrivedAt - sentAt) / 1000 }],
      ),
  )
}
