import { messageEvent } from '../../src/model/event.ts'
import type { Figure } from './figures.ts'
import type { Bench, Binary, Part } from './part.ts'
import { startReceiver } from './peers.ts'
import { until } from './process.ts'
import { acceptAll, dueMessage, seeding } from './seed.ts'
import { type Home, openServer } from './server.ts'

/** Waiting events, posted to one endpoint that keeps its connections; then the same with a second endpoint that
 *  accepts the connection and never answers. From the 2,000th post to the last. */
export const webhooks: Part = {
  name: 'webhooks',
  measure: async (bench, binary) => {
    const alone = await drain(bench, binary, [''])
    const beside = await drain(bench, binary, ['', 'hang'])
    bench.note(binary, POSTS, alone.perSecond)
    bench.note(binary, CPU, alone.cpuPerThousand)
    bench.note(binary, BESIDE, beside.perSecond / alone.perSecond)
  },
}

const WARM_UP = 2_000
const POSTED = 20_000
const POSTS: Figure = { what: 'webhook posts per second to one HTTPS endpoint', goal: { atLeast: 3_000 } }
const CPU: Figure = { what: 'CPU seconds for 1,000 posts' }
const BESIDE: Figure = { what: 'posts beside an endpoint that hangs, as a share of alone', goal: { atLeast: 0.95 } }

async function drain({ scratch }: Bench, binary: Binary, paths: string[]) {
  const receiver = await startReceiver(scratch)
  const urls = paths.map((path) => receiver.url + path)
  const server = await openServer(binary.file, {
    scratch,
    caFile: receiver.caFile,
    seed: (home) => seedEvents(home, urls),
  })
  await until(async () => (await receiver.posts()) >= WARM_UP)
  const before = { posts: await receiver.posts(), cpu: server.cpuSeconds(), at: performance.now() }
  await until(async () => (await receiver.posts()) === WARM_UP + POSTED)
  const seconds = (performance.now() - before.at) / 1000
  const posts = WARM_UP + POSTED - before.posts
  const cpuPerThousand = ((server.cpuSeconds() - before.cpu) / posts) * 1000
  await server.stop('SIGKILL') // otherwise it waits for the endpoint that hangs
  receiver.end()
  return { perSecond: posts / seconds, cpuPerThousand }
}

/** Delivered messages, and the webhooks that get their events. */
async function seedEvents(home: Home, urls: string[]): Promise<void> {
  const now = Date.now()
  const { organizationId } = home
  const delivered = (number: number) => {
    const accepted = dueMessage(home, number, ['ann@sink.example'], now)
    const { message } = accepted
    const id = `evt_${String(number).padStart(26, '0')}`
    const fields = { delivered_at: new Date(now).toISOString(), smtp_response: '250 2.0.0 Ok' }
    return {
      ...accepted,
      message: { ...message, status: 'delivered' as const },
      deliveries: accepted.deliveries.map((delivery) => ({
        ...delivery,
        status: 'delivered' as const,
        nextAttemptAt: null,
        deliveredAt: now,
      })),
      events: [messageEvent(id, 'message.delivered', message, 'ann@sink.example', now, fields)],
    }
  }
  await seeding(home.dataDir, now, async (store) => {
    for (const [at, url] of urls.entries()) {
      await store.webhooks.create(
        {
          id: `whk_${String(at).padStart(26, '0')}`,
          organizationId,
          url,
          events: ['message.delivered'],
          format: 'enveloped',
          status: 'active',
          description: null,
          disabledReason: null,
          createdAt: now,
          updatedAt: now,
          lastSuccessAt: null,
          lastFailureAt: null,
          consecutiveFailures: 0,
          failingSince: null,
          mode: 'live',
          domainId: null,
        },
        `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      )
    }
    const messages = Array.from({ length: WARM_UP + POSTED }, (_, at) => delivered(at))
    await acceptAll(store, organizationId, messages)
  })
}
