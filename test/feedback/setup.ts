import { createHash } from 'node:crypto'
import { createVerp } from '../../src/mail/verp.ts'
import { type AddressClass, USUAL_HARD } from '../../src/model/hard-bounces.ts'
import type { Message } from '../../src/model/message.ts'
import type { ComplaintScope } from '../../src/model/suppression.ts'
import { createMintId } from '../../src/os/ids.ts'
import { createLog } from '../../src/os/log.ts'
import { readReport } from '../../src/receiving/feedback/content.ts'
import { createFeedback, type ReportMail } from '../../src/receiving/feedback/feedback.ts'
import { lateBounce } from '../../src/sending/outbound/outcome.ts'
import type { NewDelivery, Store } from '../../src/storage/store.ts'
import { ALL_EVENTS, accept, claim, createRecords, found, ORGANIZATION, recordOf, START } from '../storage/records.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'
import { createTestRandom } from '../support/random.ts'

/** The arrival of every report: an hour after the mail was sent. */
export const LATER = START + 3_600_000
export const HOST = 'bounce.a.example'

/** The feedback handler over a real store in memory; `wrap` wraps the store. */
export async function openFeedback(
  wrap: (deliveries: Store['deliveries']) => Store['deliveries'] = (same) => same,
  complaintScope: ComplaintScope = 'non_transactional',
  hard: readonly AddressClass[] = USUAL_HARD,
) {
  const store = await openMemoryStore()
  const records = createRecords()
  await found(store, records)
  const verp = createVerp(new Uint8Array(32).fill(7))
  const seen = { wakes: 0, changed: [] as string[], reported: [] as unknown[], logged: [] as string[] }
  const clock = createFakeClock(LATER)
  const feedback = createFeedback({
    store: { deliveries: wrap(store.deliveries) },
    verp,
    mintId: createMintId(clock, createTestRandom()),
    judge: (reply) => lateBounce(reply, hard),
    complaintScope,
    log: createLog({ clock, level: 'info', format: 'json', write: (line) => void seen.logged.push(line) }),
    mailLog: { reported: (fact) => void seen.reported.push(fact) },
    notify: (topic) => {
      if (topic === 'webhook deliveries') seen.wakes++
      else seen.changed.push(topic.replace('message ', ''))
    },
  })

  /** An accepted message; its delivery has the same id at every run. */
  const queued = async (emails: string[], change: Partial<Message> = {}) => {
    const deliveries = emails.map((email): Partial<NewDelivery> => ({ email, destination: email.split('@')[1]! }))
    const { message, deliveries: made } = await accept(store, records.accepted({ ...change, deliveries }))
    return { message, ids: made.map(({ id }) => id) }
  }
  return {
    store,
    records,
    verp,
    seen,
    feedback,
    queued,
    /** A message that the remote server accepted. */
    delivered: async (emails: string[], change: Partial<Message> = {}) => {
      const made = await queued(emails, change)
      for (const claimed of await claim(store)) await store.deliveries.record(recordOf(claimed))
      return made
    },
    /** What the SMTP handler passes on at the end of DATA: mail to `addresses`, each of them recognised. */
    take: (
      mail: Uint8Array | string,
      addresses: string[],
      { returnPath = '', ...change }: Partial<ReportMail> & { returnPath?: string } = {},
    ) => {
      const raw = typeof mail === 'string' ? Buffer.from(mail) : mail
      return feedback.take({
        content: readReport(raw, returnPath),
        digest: createHash('sha256').update(raw).digest(),
        remoteAddress: '192.0.2.9',
        receivedAt: LATER,
        reporter: async () => null,
        recipients: addresses.map((local) => feedback.recognize(local)!),
        ...change,
      })
    },
    /** Events, oldest first: type and the fields specific to it. */
    events: async () => {
      const { records: all } = (await store.events.feed(ALL_EVENTS, null, 100))!
      return all.map(({ type, body }) => {
        const { message_id, from, to, subject, metadata, tags, mode, ...fields } = JSON.parse(body).data
        return { type, to, ...fields }
      })
    },
    delivery: async (id: string) => (await store.deliveries.get(id))!.delivery,
    suppressions: async (email: string) =>
      (await store.suppressions.find(ORGANIZATION, email)).map(({ reason, domainId }) => ({ reason, domainId })),
    reports: async (messageId: string) =>
      (await store.deliveries.reports(messageId)).map(({ email, report: { digest: _, ...report } }) => ({
        email,
        ...report,
      })),
  }
}

/** Mails that are not reports, as people and their programs write them. */
export function words(headers: Record<string, string> = {}, body = 'Hello'): string {
  const all = { From: 'ann@dest.example', Subject: 'Re: Hello', Date: 'Sat, 21 Nov 2026 13:00:00 +0000', ...headers }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${head.join('')}\r\n${body}\r\n`
}
