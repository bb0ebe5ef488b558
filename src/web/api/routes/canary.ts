import { z } from 'zod'
import type { Config } from '../../../config/load.ts'
import { type Canary, OWN_LISTENER } from '../../../model/canary.ts'
import { iso } from '../../../model/event.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'

const MOST_OF_MAILBOX = 100

/** The operations of `/v1/canary`: mails that the server sends to learn whether its mail arrives. For the operator only. */
export function canaryOperations(deps: {
  store: Pick<Store, 'canaries'>
  config: Pick<Config, 'canary'>
  /** Null if canaries are off. `run` sends one to every mailbox. */
  canaries: { run: (now: number) => Promise<Canary[]> } | null
}): Operation[] {
  const { store, canaries } = deps
  const settings = deps.config.canary
  return [
    operation({
      id: 'canary_list',
      method: 'GET',
      path: '/v1/canary',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List canary messages',
      description: `The last ${MOST_OF_MAILBOX} messages to each mailbox of [canary] in the configuration, and whether they arrived.`,
      responses: async () => (await import('../responses/canary.ts')).canaryListResponses,
      async handle() {
        const data = await Promise.all(
          (canaries === null ? [] : [{ name: OWN_LISTENER, address: null }, ...settings.mailboxes]).map(
            async ({ name, address }) => ({
              mailbox: name,
              address,
              canaries: (await store.canaries.latest(name, MOST_OF_MAILBOX)).map(canaryRecord),
            }),
          ),
        )
        return {
          status: 200,
          body: { every_minutes: settings.everyMinutes, late_after_seconds: settings.lateAfterMinutes * 60, data },
        }
      },
    }),
    operation({
      id: 'canary_run',
      method: 'POST',
      path: '/v1/canary/run',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Send canary messages now',
      description: 'Sends one to every mailbox with fewer than 20 on their way. Results follow in the list.',
      responses: async () => (await import('../responses/canary.ts')).canaryRunResponses,
      body: z.strictObject({}),
      bodyOptional: true,
      refusals: ['invalid_state'],
      async handle({ now }) {
        if (canaries === null) {
          throw new Refusal('invalid_state', 'Canary messages are off: set canary.every_minutes in the configuration.')
        }
        return { status: 200, body: { data: (await canaries.run(now)).map(canaryRecord) } }
      },
    }),
  ]
}

/** Canary → its JSON record. */
export function canaryRecord({ id, mailbox, result, sentAt, arrivedAt, detail }: Canary) {
  return {
    id,
    mailbox,
    result,
    sent_at: iso(sentAt),
    arrived_at: arrivedAt === null ? null : iso(arrivedAt),
    seconds: arrivedAt === null ? null : (arrivedAt - sentAt) / 1000,
    detail,
  }
}
