import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UNTRIED } from '../../../src/model/delivery.ts'
import { messageEvent } from '../../../src/model/event.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { AcceptedMessage } from '../../../src/storage/store.ts'
import { run } from '../process.ts'
import { acceptAll, dueMessage, seeding } from '../seed.ts'
import { acceptedAt, DAY_MS, type Extent, idAt, messageFields, noise, recipient, type Sender } from './dataset.ts'

/** Messages that are in memory at once. */
const CHUNK = 20_000
/** Shares of the mail in thousandths; a third organization has the rest. */
const BIG = 700
const SMALL = 10

export interface Seeded {
  extent: Extent
  seededAt: number
  big: Owner
  small: Owner
}

/** An organization with a key of its first domain. */
export interface Owner {
  key: string
  senders: Sender[]
}

/** Creates `folder`/data as after a busy month, through the code of this checkout, and describes it in `folder`/seeded.json. */
export async function seed(binary: string, folder: string, extent: Extent): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const now = Date.now()
  const big = await addOwner(binary, folder, ['bench.example', 'big1.example', 'big2.example', 'big3.example'])
  const small = await addOwner(binary, folder, ['small.example'])
  const rest = await addOwner(binary, folder, ['rest.example'])
  const senderOf = (n: number): Sender => {
    const pick = noise(n * 3 + 2) % 1000
    // The fourth domain of the big organization sends one mail of a thousand.
    if (pick < BIG) return big.senders[noise(n) % 1000 === 0 ? 3 : noise(n) % 3]!
    return (pick < BIG + SMALL ? small : rest).senders[0]!
  }
  const total = extent.past + extent.queued
  await seeding(join(folder, 'data'), now, async (store) => {
    for (let from = 0; from < total; from += CHUNK) {
      const numbers = Array.from({ length: Math.min(CHUNK, total - from) }, (_, at) => from + at)
      for (const [id, mine] of Map.groupBy(numbers, (n) => senderOf(n).organizationId)) {
        await acceptAll(
          store,
          id,
          mine.map((n) => messageOf(n, senderOf(n), extent, now)),
        )
      }
      console.error(`message ${from} of ${total}`)
    }
    console.error('search index')
    while (await store.maintain('recent', () => true));
  })
  const seeded: Seeded = { extent, seededAt: now, big, small }
  writeFileSync(join(folder, 'seeded.json'), JSON.stringify(seeded))
}

/** Creates an organization with these domains, by the program. */
async function addOwner(binary: string, folder: string, domains: string[]): Promise<Owner> {
  const config = join(folder, 'seed.toml')
  writeFileSync(config, `hostname = "mail.bench.example"\ndata_dir = "${join(folder, 'data')}"\n`)
  const ask = async (...args: string[]) => JSON.parse(await run(binary, [...args, '--config', config, '--json']))
  const { id: organizationId } = await ask('org', 'create', domains[0]!, '--plan', 'enterprise')
  const keys: string[] = []
  const senders: Sender[] = []
  for (const domain of domains) {
    const { id: domainId } = await ask('domain', 'add', domain, '--org', organizationId)
    const { id: keyId, key } = await ask('key', 'create', '--domain', domain, '--permission', 'admin')
    keys.push(key)
    senders.push({ organizationId, domainId, domain, keyId })
  }
  return { key: keys[0]!, senders }
}

/** Message `n` with its delivery; past ones with their attempt and events. */
function messageOf(n: number, sender: Sender, extent: Extent, now: number): AcceptedMessage {
  const at = acceptedAt(n, extent, now)
  const [email] = recipient(n, extent)
  const { sender: local, template, ...fields } = messageFields(n)
  const base = dueMessage(sender, n, [email], at)
  const id = idAt('msg', at, n)
  const message = {
    ...base.message,
    ...fields,
    id,
    keyId: sender.keyId,
    from: `${local}@${sender.domain}`,
    templateId: template === null ? null : idAt('tpl', 0, template),
    messageIdHeader: `<${id}@${sender.domain}>`,
  }
  const delivery = { ...base.deliveries[0]!, id: idAt('dlv', at, n) }
  if (n >= extent.past) {
    // From in an hour to in two weeks: nothing of it is due during other measurements.
    const dueAt = now + 3_600_000 + (noise(n * 17) % (14 * DAY_MS))
    const status = (['queued', 'scheduled', 'deferred'] as const)[n % 3]!
    const scheduledAt = status === 'scheduled' ? dueAt : null
    const attempts = status === 'deferred' ? 1 : 0
    const deliveries = [{ ...delivery, status, attempts, nextAttemptAt: dueAt }]
    return { ...base, message: { ...message, status, scheduledAt }, deliveries }
  }
  const sent = { ...message, status: 'delivered' as const }
  return {
    ...base,
    message: sent,
    deliveries: [
      { ...delivery, ...UNTRIED, ...DELIVERED, attempts: 1, lastAttemptAt: at + 500, deliveredAt: at + 600 },
    ],
    attempts: [{ deliveryId: delivery.id, attempt: { ...ATTEMPT, startedAt: at + 500 } }],
    events: eventsOf(n, extent).map((type, nth) => {
      const number = firstEvent(n, extent) + nth
      return messageEvent(idAt('evt', at + 600, number), type, sent, email, at + 600, {})
    }),
  }
}

const DELIVERED = { status: 'delivered' as const, nextAttemptAt: null, smtpResponse: '250 2.0.0 Ok' }
const ATTEMPT: AcceptedMessage['attempts'][number]['attempt'] = {
  number: 1,
  startedAt: 0,
  durationMs: 90,
  outcome: 'delivered',
  mxHost: 'mx.example',
  mxAddress: '192.0.2.1',
  sourceAddress: null,
  tlsVersion: 'TLSv1.3',
  tlsCipher: 'TLS_AES_256_GCM_SHA384',
  tlsVerified: true,
  tlsPolicy: 'none',
  reply: '250 2.0.0 Ok',
  enhancedCode: '2.0.0',
  cause: null,
  transcript: '',
}

/** The number of a past message's first event. */
function firstEvent(n: number, { events, past }: Extent): number {
  return Math.ceil((n * events) / past)
}

/** Delivered, then mostly opened and clicked; rarely complained or unsubscribed. */
function eventsOf(n: number, extent: Extent): EventType[] {
  const first = firstEvent(n, extent)
  return Array.from({ length: firstEvent(n + 1, extent) - first }, (_, nth) => {
    if (nth === 0) return 'message.delivered'
    const pick = noise((first + nth) * 11)
    if (pick % 50_000 === 0) return 'message.complained'
    if (pick % 5_000 === 0) return 'message.unsubscribed'
    return nth % 3 === 1 ? 'message.clicked' : 'message.opened'
  })
}
