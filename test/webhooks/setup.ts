import type { InboundLoop } from '../../src/events/webhooks/inbound-loop.ts'
import { WebhookLoop, type WebhookLoopOptions } from '../../src/events/webhooks/loop.ts'
import { createEvent, EVENT_TYPES, type EventType } from '../../src/model/event.ts'
import type { Webhook, WebhookDelivery } from '../../src/model/webhook.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { createPost } from '../../src/net/https/requests.ts'
import { createMintId } from '../../src/os/ids.ts'
import { type Log, silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { Store, WebhookDeliveries } from '../../src/storage/store.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { type Receiver, type ScriptedAnswer, startReceiver } from '../support/receiver.ts'

export const START = Date.UTC(2026, 10, 21, 7)
export const SCHEDULE = [5, 300, 1800, 7200]
export const MINUTE = 60_000
export const DAY = 86_400_000

/** One organization on a real store in memory, real receivers, a fake clock, and webhook loops. */
export interface WebhookSetup {
  store: Store
  clock: FakeClock
  receiver(...script: ScriptedAnswer[]): Promise<Receiver>
  /** Another organization → its id. */
  organization(): Promise<string>
  /** A webhook for `url`, with its secret. */
  webhook(url: string, events?: EventType[], organizationId?: string): Promise<Webhook & { secret: string }>
  /** Writes `count` events → their ids; wakes the loops. */
  tell(count?: number, type?: EventType, organizationId?: string): Promise<string[]>
  /** A running loop; the jitter is in the middle. */
  loop(changes?: Partial<LoopChanges>): WebhookLoop
  deliveries(webhookId: string): Promise<WebhookDelivery[]>
  /** Ends loops, receivers and store. */
  end(): Promise<void>
}

interface LoopChanges extends Omit<WebhookLoopOptions, 'settings'> {
  settings: Partial<WebhookLoopOptions['settings']>
}

/** The common part of both setups: one organization on a real store in memory, real receivers, a fake clock. */
export async function startGround<Loop extends WebhookLoop | InboundLoop>() {
  const clock = createFakeClock(START)
  const store = await openMemoryStore()
  const mintId = createMintId(clock, systemRandom)
  const organization = async () => {
    const id = mintId('org')
    await store.organizations.create({ id, name: id, plan: 'enterprise', createdAt: START })
    return id
  }
  const organizationId = await organization()
  const ca = await startReceiver()
  const resolver = createResolver({ servers: ['127.0.0.1:1'], clock, random: systemRandom })
  const mayConnect = (ip: string) => ip === '127.0.0.1'
  const post = createPost({ resolver, mayConnect, ca: ca.ca, clock, userAgent: 'Postrider/test' })
  const receivers = [ca]
  const loops: Loop[] = []

  return {
    store,
    clock,
    mintId,
    organizationId,
    organization,
    loops,
    /** The options of every loop; the jitter is in the middle. */
    means: {
      store,
      post,
      clock,
      random: { ...systemRandom, fraction: () => 0.5 },
      log: silentLog,
      workerId: 'worker-1',
      userAgent: 'Postrider/test',
    },
    receiver: async (...script: ScriptedAnswer[]) => {
      const receiver = await startReceiver(...script)
      receivers.push(receiver)
      return receiver
    },
    run: (loop: Loop): Loop => {
      loops.push(loop)
      loop.start()
      return loop
    },
    end: async () => {
      await Promise.all(loops.map((loop) => loop.stop(0)))
      await Promise.all(receivers.map((receiver) => receiver.stop()))
      await until(() => loops.every((loop) => loop.inFlight() === 0))
      await store.close()
    },
  }
}

export async function startWebhookSetup(): Promise<WebhookSetup> {
  const ground = await startGround<WebhookLoop>()
  const { store, clock, mintId, loops, receiver, end } = ground

  return {
    store,
    clock,
    receiver,
    end,
    organization: ground.organization,
    webhook: async (url, events = [...EVENT_TYPES], organizationId = ground.organizationId) => {
      const id = mintId('whk')
      const secret = `whsec_${Buffer.from(systemRandom.bytes(32)).toString('base64')}`
      const webhook: Webhook = {
        id,
        organizationId,
        url,
        events,
        format: 'enveloped',
        status: 'active',
        description: null,
        disabledReason: null,
        createdAt: clock.now(),
        updatedAt: clock.now(),
        lastSuccessAt: null,
        lastFailureAt: null,
        consecutiveFailures: 0,
        failingSince: null,
        mode: 'live',
        domainId: null,
        headerNames: [],
      }
      await store.webhooks.create(webhook, secret)
      return { ...webhook, secret }
    },
    tell: async (count = 1, type = 'message.delivered', organizationId = ground.organizationId) => {
      const createdAt = clock.now()
      const events = Array.from({ length: count }, (_, at) =>
        createEvent(
          { id: mintId('evt'), type, organizationId, domainId: null, messageId: null, mode: 'live', createdAt },
          { message_id: `msg_${at}`, to: 'jürgen@example.org', subject: 'Grüße 📬' },
        ),
      )
      await store.events.append(events)
      for (const loop of loops) loop.wake()
      return events.map((event) => event.id)
    },
    loop: (changes = {}) =>
      ground.run(
        new WebhookLoop({
          ...ground.means,
          shapes: { resend: async ({ body }) => body },
          ...changes,
          settings: {
            scheduleSeconds: SCHEDULE,
            timeoutMs: 30_000,
            maxInFlight: 200,
            maxPerWebhook: 10,
            ...changes.settings,
          },
        }),
      ),
    deliveries: async (webhookId) => {
      const filter = { webhookId, status: null, type: null, createdAfter: null, createdBefore: null }
      return (await store.webhookDeliveries.list(filter, { limit: 1000, after: null })).records
    },
  }
}

/** Turns the event loop until `condition` holds; otherwise the test's own time limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** The store with some methods of its webhook deliveries replaced, for faults. */
export function withDeliveries(store: Store, front: (real: WebhookDeliveries) => Partial<WebhookDeliveries>): Store {
  return { ...store, webhookDeliveries: { ...store.webhookDeliveries, ...front(store.webhookDeliveries) } }
}

/** A log that keeps its lines. */
export function keptLog(): { log: Log; lines: { level: string; message: string; fields: unknown }[] } {
  const lines: { level: string; message: string; fields: unknown }[] = []
  const at = (level: string) => (message: string, fields?: unknown) => {
    lines.push({ level, message, fields })
  }
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
    setLevel: () => {},
  }
  return { log, lines }
}
