import { InboundLoop, type InboundLoopOptions } from '../../src/events/webhooks/inbound-loop.ts'
import { inboundBody } from '../../src/events/webhooks/inbound-payload.ts'
import { type ParsedMail, unpackParsed } from '../../src/mail/inbound-content.ts'
import type { InboundDelivery, InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundRoute, RouteAction } from '../../src/model/inbound-route.ts'
import type { MintId } from '../../src/os/ids.ts'
import type { Store } from '../../src/storage/store.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { CONTENTS, inboundMessage, storedMail } from '../support/inbound.ts'
import type { Receiver, ScriptedAnswer } from '../support/receiver.ts'
import { startGround } from './setup.ts'

export const INBOUND_LADDER = [60, 600, 3600, 21_600]
export const SECRET = 'whsec_cm91dGUgc2VjcmV0'

/** One organization on a real store in memory, real receivers, a fake clock, and inbound loops. */
export interface InboundWebhookSetup {
  store: Store
  clock: FakeClock
  mintId: MintId
  receiver(...script: ScriptedAnswer[]): Promise<Receiver>
  /** Another organization → its id. */
  organization(): Promise<string>
  /** A webhook route for `url`; every route has the same secret. */
  route(url: string, includeAttachments?: boolean, organizationId?: string): Promise<InboundRoute>
  /** A mail that the route accepted, due at once; wakes the loops. */
  mail(route: InboundRoute, change?: Partial<InboundMessage>, parsed?: ParsedMail): Promise<InboundMessage>
  /** A running loop; the jitter is in the middle. */
  loop(changes?: LoopChanges): InboundLoop
  /** The newest one of the message. */
  delivery(message: InboundMessage): Promise<InboundDelivery>
  /** Ends loops, receivers and store. */
  end(): Promise<void>
}

type LoopChanges = Partial<Omit<InboundLoopOptions, 'settings'>> & {
  settings?: Partial<InboundLoopOptions['settings']>
}

export async function startInboundWebhookSetup(): Promise<InboundWebhookSetup> {
  const ground = await startGround<InboundLoop>()
  const { store, clock, mintId, loops, receiver, end } = ground

  return {
    store,
    clock,
    mintId,
    receiver,
    end,
    organization: ground.organization,
    route: async (url, includeAttachments = false, organizationId = ground.organizationId) => {
      const route: InboundRoute = {
        id: mintId('rte'),
        organizationId,
        name: 'support',
        match: { type: 'catch_all', value: null },
        action: webhookAction(url, includeAttachments),
        authentication: 'none',
        enabled: true,
        priority: 0,
        createdAt: clock.now(),
      }
      await store.inboundRoutes.create(route, SECRET)
      return route
    },
    mail: async (route, change = {}, parsed) => {
      const message = inboundMessage({
        id: mintId('inb'),
        organizationId: route.organizationId,
        domainId: 'dom_none',
        routeId: route.id,
        receivedAt: clock.now(),
        ...change,
      })
      const taken = [{ message, deliveryId: mintId('whd'), forward: null }]
      await store.inbound.accept({ ...storedMail(parsed), taken })
      for (const loop of loops) loop.wake()
      return message
    },
    loop: (changes = {}) =>
      ground.run(
        new InboundLoop({
          ...ground.means,
          makeBody: async ({ message, parsed, raw, replies }) =>
            inboundBody(
              message,
              unpackParsed(parsed),
              raw === 'absent' ? null : raw === 'unreadable' ? [] : CONTENTS,
              replies,
            ),
          ...changes,
          settings: {
            scheduleSeconds: INBOUND_LADDER,
            timeoutMs: 30_000,
            maxInFlight: 200,
            maxPerRoute: 10,
            largeBodyBytes: 64 * 1024 * 1024,
            ...changes.settings,
          },
        }),
      ),
    delivery: async (message) => (await store.inboundDeliveries.ofMessage(message.id))[0]!,
  }
}

export function webhookAction(url: string, includeAttachments = false): RouteAction {
  return { type: 'webhook', config: { url, includeAttachments, headerNames: [] } }
}
