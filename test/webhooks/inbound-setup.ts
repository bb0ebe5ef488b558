import type { ParsedMail } from '../../src/mail/inbound-content.ts'
import type { InboundDelivery, InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundRoute, RouteAction } from '../../src/model/inbound-route.ts'
import { createPost } from '../../src/platform/fetch-public.ts'
import { createMintId, type MintId } from '../../src/platform/ids.ts'
import { silentLog } from '../../src/platform/log.ts'
import { systemRandom } from '../../src/platform/random.ts'
import { createResolver } from '../../src/platform/resolver.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import type { DeliveryLoop } from '../../src/webhooks/delivery-loop.ts'
import { createInboundLoop, type InboundLoopOptions } from '../../src/webhooks/inbound-loop.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { CONTENTS, inboundMessage, storedMail } from '../support/inbound.ts'
import { type Receiver, type ScriptedAnswer, startReceiver } from '../support/receiver.ts'
import { START, until } from './setup.ts'

export const INBOUND_LADDER = [60, 600, 3600, 21_600]
export const SECRET = 'whsec_cm91dGUgc2VjcmV0'

/** One organization on a real store in memory, real receivers, a clock that stands still, and inbound loops. */
export interface InboundBench {
  store: Store
  clock: FakeClock
  mintId: MintId
  receiver(...script: ScriptedAnswer[]): Promise<Receiver>
  /** A webhook route for `url`; every route has the same secret. */
  route(url: string, includeAttachments?: boolean): Promise<InboundRoute>
  /** A mail that the route took, due at once; wakes the loops. */
  mail(route: InboundRoute, change?: Partial<InboundMessage>, parsed?: ParsedMail): Promise<InboundMessage>
  /** A loop that runs; the jitter stands in the middle. */
  loop(changes?: LoopChanges): DeliveryLoop
  /** The newest one of the message. */
  delivery(message: InboundMessage): Promise<InboundDelivery>
  /** Ends loops, receivers and store. */
  end(): Promise<void>
}

type LoopChanges = Partial<Omit<InboundLoopOptions, 'settings'>> & {
  settings?: Partial<InboundLoopOptions['settings']>
}

export async function startInboundBench(): Promise<InboundBench> {
  const clock = createFakeClock(START)
  const store = await openStore({ dataDir: ':memory:', now: START })
  const mintId = createMintId(clock, systemRandom)
  const organizationId = mintId('org')
  await store.organizations.create({ id: organizationId, name: 'Bench', plan: 'enterprise', createdAt: START })
  const ca = await startReceiver()
  const resolver = createResolver({ servers: ['127.0.0.1:1'], clock, random: systemRandom })
  const mayConnect = (ip: string) => ip === '127.0.0.1'
  const post = createPost({ resolver, mayConnect, ca: ca.ca, clock, userAgent: 'Postrider/test' })
  const receivers = [ca]
  const loops: DeliveryLoop[] = []

  return {
    store,
    clock,
    mintId,
    receiver: async (...script) => {
      const receiver = await startReceiver(...script)
      receivers.push(receiver)
      return receiver
    },
    route: async (url, includeAttachments = false) => {
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
        organizationId,
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
    loop: (changes = {}) => {
      const loop = createInboundLoop({
        store,
        post,
        attachments: async () => [...CONTENTS],
        clock,
        random: { ...systemRandom, fraction: () => 0.5 },
        log: silentLog,
        workerId: 'worker-1',
        userAgent: 'Postrider/test',
        ...changes,
        settings: {
          ladderSeconds: INBOUND_LADDER,
          timeoutMs: 30_000,
          maxInFlight: 200,
          maxPerRoute: 10,
          bodyRoomBytes: 64 * 1024 * 1024,
          ...changes.settings,
        },
      })
      loops.push(loop)
      loop.start()
      return loop
    },
    delivery: async (message) => (await store.inboundDeliveries.ofMessage(message.id))[0]!,
    end: async () => {
      await Promise.all(loops.map((loop) => loop.stop(0)))
      await Promise.all(receivers.map((receiver) => receiver.stop()))
      await until(() => loops.every((loop) => loop.inFlight() === 0))
      await store.close()
    },
  }
}

export function webhookAction(url: string, includeAttachments = false): RouteAction {
  return { type: 'webhook', config: { url, includeAttachments } }
}
