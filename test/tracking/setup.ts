import { createTrackingLinks } from '../../src/mail/tracking-link.ts'
import type { Message } from '../../src/model/message.ts'
import { createClientAddress } from '../../src/net/client-address.ts'
import { createNetworks } from '../../src/net/ip.ts'
import { createRequestHost } from '../../src/net/request-host.ts'
import { createMintId } from '../../src/os/ids.ts'
import { createLog } from '../../src/os/log.ts'
import { ampleMemory } from '../../src/os/memory.ts'
import type { Store } from '../../src/storage/store.ts'
import { createIncomingBodies } from '../../src/web/api/incoming-body.ts'
import { trackingPages } from '../../src/web/tracking/pages.ts'
import { ALL_EVENTS, accept, createRecords, found, ORGANIZATION, START } from '../storage/records.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { createTestRandom } from '../support/random.ts'

/** When all recipients read their mail. */
export const LATER = START + 3_600_000
export const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36'

/** The server's public URL, with which these links start. */
const HOST = 'mail.server.example'
const PUBLIC_URL = `https://${HOST}`

/** The public pages over a real store in memory, with a message to Bob; `wrap` wraps the store. */
export async function openTracking(
  options: { message?: Partial<Message>; wrap?: (deliveries: Store['deliveries']) => Store['deliveries'] } = {},
) {
  const { message: change = {}, wrap = (same) => same } = options
  const store = await openMemoryStore()
  const records = createRecords()
  await found(store, records)
  const { message, deliveries } = await accept(
    store,
    records.accepted({ deliveries: [{ email: 'Bob@dest.example' }], ...change }),
  )
  const secret = new Uint8Array(32).fill(9)
  const clock = createFakeClock(LATER)
  const isTrusted = createNetworks(['127.0.0.1/32'])
  const seen = { wakes: 0, logged: [] as string[] }
  const pages = trackingPages({
    store: { ...store, deliveries: wrap(store.deliveries) },
    secret,
    publicUrl: () => PUBLIC_URL,
    serverNames: [new URL(PUBLIC_URL).hostname],
    hostOf: createRequestHost(isTrusted),
    clock,
    mintId: createMintId(clock, createTestRandom()),
    log: createLog({ clock, level: 'info', format: 'json', write: (line) => void seen.logged.push(line) }),
    notify: () => void seen.wakes++,
    clientAddress: createClientAddress(isTrusted),
  })
  const incoming = createIncomingBodies({ clock, memory: ampleMemory, networkOf: () => null })
  /** As a browser at 198.51.100.7 behind our proxy; `headers` replace its own. */
  const ask = (
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: string | FormData } = {},
  ) => {
    const page = pages.find((each) => each.method === (method === 'HEAD' ? 'GET' : method))!
    const headers = { host: HOST, 'user-agent': BROWSER, 'x-forwarded-for': '198.51.100.7', ...init.headers }
    const request = new Request(`https://${HOST}${path}`, { method, headers, body: init.body ?? null })
    return page.handle(
      request,
      {},
      () => '127.0.0.1',
      (limit) => incoming.readOnce(request, limit, null),
    )
  }
  return {
    store,
    message,
    deliveryId: deliveries[0]!.id,
    secret,
    links: createTrackingLinks(secret, { host: HOST, organizationId: '' }),
    seen,
    ask,
    delivery: async () => (await store.deliveries.get(deliveries[0]!.id))!.delivery,
    /** Envelopes, oldest first. */
    events: async () => {
      const { records: all } = await store.events.list(ALL_EVENTS, { limit: 1_000, after: null })
      return all.reverse().map(({ body }) => JSON.parse(body))
    },
    suppressed: async () =>
      (await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).map(({ reason, domainId, messageId }) => ({
        ...{ reason, domainId, messageId },
      })),
    close: () => store.close(),
  }
}
