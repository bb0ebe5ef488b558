import { packContent } from '../../src/mail/content.ts'
import { UNTRIED } from '../../src/model/delivery.ts'
import { NO_SENDER_FIELDS } from '../../src/model/message.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { AcceptedMessage, Store } from '../../src/storage/store.ts'

/** Writes into a data directory through the store's own code what would take long to send. */
export async function seeding(dataDir: string, now: number, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore({ dataDir, now })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

/** Messages in transactions of about 2,000 deliveries. */
export async function acceptAll(store: Store, organizationId: string, messages: AcceptedMessage[]): Promise<void> {
  const perTransaction = Math.max(1, Math.floor(2_000 / (messages[0]?.deliveries.length || 1)))
  for (let at = 0; at < messages.length; at += perTransaction) {
    const some = messages.slice(at, at + perTransaction)
    await store.messages.accept(some, { organizationId, month: '2026-11', count: 0, limit: -1 })
  }
}

/** A message of 1 KB to at most fifty addresses, all due; `number` gives its ids and those of its deliveries. */
export function dueMessage(
  { organizationId, domainId }: { organizationId: string; domainId: string },
  number: number,
  addresses: string[],
  now: number,
): AcceptedMessage {
  const id = `msg_${String(number).padStart(26, '0')}`
  return {
    message: {
      ...NO_SENDER_FIELDS,
      id,
      organizationId,
      domainId,
      keyId: null,
      mode: 'live',
      source: 'api',
      status: 'queued',
      from: 'us@bench.example',
      to: addresses,
      cc: null,
      bcc: null,
      replyTo: null,
      subject: 'A receipt',
      templateId: null,
      sizeBytes: 1_000,
      messageIdHeader: `<${id}@bench.example>`,
      createdAt: now,
      scheduledAt: null,
      expiresAt: null,
      unsubscribe: false,
      replies: null,
      trackOpens: false,
      trackClicks: false,
    },
    content: CONTENT,
    deliveries: addresses.map((email, position) => ({
      id: `dlv_${String(number * 50 + position).padStart(26, '0')}`,
      position,
      email,
      type: 'to',
      destination: email.slice(email.indexOf('@') + 1),
      status: 'queued',
      nextAttemptAt: now,
      ...UNTRIED,
    })),
    attempts: [],
    events: [],
    suppressions: [],
  }
}

const CONTENT = packContent({
  from: { name: null, address: 'us@bench.example', local: 'us', domain: 'bench.example' },
  to: [],
  cc: [],
  replyTo: [],
  subject: 'A receipt',
  dateAt: Date.UTC(2026, 10, 21),
  messageId: '<1@bench.example>',
  html: `<p>${'All is well. '.repeat(80)}</p>`,
  text: null,
  headers: [],
  attachments: [],
  boundarySeed: 'bench',
})
