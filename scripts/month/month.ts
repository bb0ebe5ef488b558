import { hash } from 'node:crypto'
import { packContent } from '../../src/mail/content.ts'
import { createReplyReader } from '../../src/mail/reply.ts'
import { type Attempt, UNTRIED } from '../../src/model/delivery.ts'
import { iso, messageEvent, suppressedEvent } from '../../src/model/event.ts'
import type { Message } from '../../src/model/message.ts'
import { suppressionKey, suppressionOf } from '../../src/model/suppression.ts'
import { createMintId, type MintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { outcomeOf } from '../../src/sending/outbound/outcome.ts'
import { recordOf } from '../../src/sending/outbound/record.ts'
import { nextAttempt } from '../../src/sending/outbound/schedule/retry-schedule.ts'
import { verdictOf } from '../../src/sending/outbound/schedule/verdict.ts'
import type { AcceptedMessage, ClaimedDelivery, Store } from '../../src/storage/store.ts'
import { createEngagement } from '../../src/web/tracking/engagement.ts'
import { claimDue } from '../../test/support/claim.ts'
import { Endpoints } from './endpoints.ts'
import { Incoming } from './incoming.ts'
import { Mails, numbersFrom, type PlannedMail, volumeAt } from './mails.ts'
import type { Northwind } from './organization.ts'
import { acceptance, MX_OF, replyTo } from './providers.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const RETRIES = { scheduleSeconds: [60, 300, 900, 1800, 3600, 7200, 14_400], maxAgeSeconds: 172_800 }
const WORKER = 'month'
/** Steps of time: whatever happens within one is written together, each with its own time. */
const STEP_MS = HOUR_MS / 2

/** Writes the traffic of Northwind Books into a store, step by step. */
export class Month {
  readonly #store: Store
  readonly #northwind: Northwind
  readonly #clock: { now: number }
  readonly #mintId: MintId
  readonly #random = numbersFrom(26)
  readonly #mails = new Mails(this.#random)
  readonly #engagement: ReturnType<typeof createEngagement>
  readonly #endpoints: Endpoints
  readonly #incoming: Incoming
  readonly #attempts = new Map<string, number>()
  /** Delivery → its next attempt, which a claim no longer has. */
  readonly #dueAt = new Map<string, number>()
  /** Messages with what their readers will do, and when. */
  #later: { at: number; message: Message; mail: PlannedMail }[] = []

  constructor(store: Store, northwind: Northwind, clock: { now: number }) {
    this.#store = store
    this.#northwind = northwind
    this.#clock = clock
    this.#mintId = createMintId({ now: () => clock.now, sleep: async () => {} }, systemRandom)
    this.#engagement = createEngagement({ store, mintId: this.#mintId, log: silentLog, notify: () => {} })
    this.#endpoints = new Endpoints(store, WORKER)
    this.#incoming = new Incoming(store, northwind, this.#mintId)
  }

  /** Until `end` → the number of messages. */
  async run(end: number): Promise<number> {
    const start = this.#clock.now
    let count = 0
    for (let from = start; from < end; from += STEP_MS) {
      const before = Math.min(end, from + STEP_MS)
      const time = new Date(from)
      const day = Math.floor((from - start) / DAY_MS)
      const perHour = volumeAt(day, time.getUTCHours(), time.getUTCDay(), this.#random)
      const times = Array.from({ length: Math.round((perHour * (before - from)) / HOUR_MS) }, () =>
        this.#timeIn(from, before),
      )
      await this.#accept(
        day,
        times.sort((one, other) => one - other),
      )
      count += times.length
      this.#clock.now = before
      await this.#deliver(before)
      await this.#react(before)
      await this.#endpoints.post(before)
      if (before % DAY_MS >= 6 * HOUR_MS && from % DAY_MS < 6 * HOUR_MS) await this.#incoming.receive(day, before)
    }
    return count
  }

  #timeIn = (from: number, before: number) => Math.floor(from + this.#random() * (before - from))

  async #accept(day: number, times: readonly number[]): Promise<void> {
    const { organizationId } = this.#northwind
    const accepted: AcceptedMessage[] = []
    for (const at of times) {
      this.#clock.now = at
      const mail = this.#mails.next(day)
      const one = await this.#accepted(mail, at)
      accepted.push(one)
      const readAt = Math.round(at + MINUTE_MS + this.#random() ** 3 * 20 * HOUR_MS)
      this.#later.push({ at: readAt, message: one.message, mail })
    }
    if (accepted.length === 0) return
    const month = iso(times[0] ?? 0).slice(0, 7)
    await this.#store.messages.accept(accepted, { organizationId, month, count: accepted.length, limit: -1 })
  }

  async #accepted(mail: PlannedMail, at: number): Promise<AcceptedMessage> {
    const { organizationId, domains, keyIds } = this.#northwind
    const { from, to, subject, html, tags, metadata, stream, template } = mail
    const id = this.#mintId('msg')
    const messageIdHeader = `<${id}@${mail.domain}>`
    const message: Message = {
      ...{ id, organizationId, domainId: domains.get(mail.domain) ?? '', keyId: keyIds.get(mail.domain) ?? null },
      ...{ mode: 'live', source: 'api', stream, status: 'queued', from, to: [to], cc: null, bcc: null, replyTo: null },
      ...{
        subject,
        tags,
        metadata,
        templateId: template === null ? null : (this.#northwind.templates.get(template) ?? null),
      },
      ...{ sizeBytes: 900 + html.length, messageIdHeader, createdAt: at, scheduledAt: null, expiresAt: null },
      ...{
        replies: null,
        requireTls: false,
        unsubscribe: stream !== 'transactional',
        trackOpens: true,
        trackClicks: true,
      },
    }
    const email = addressOf(to)
    const key = suppressionKey(email)
    const suppressed = (await this.#store.suppressions.among(message, [key])).get(key)
    const event = suppressed && suppressedEvent(at, suppressed)
    const [local = '', domain = ''] = email.split('@')
    return {
      message,
      content: packContent({
        ...{ from: mailbox(from), to: [{ name: null, address: email, local, domain }], cc: [], replyTo: [], subject },
        ...{ dateAt: at, messageId: messageIdHeader, html, text: null, headers: [], attachments: [], boundarySeed: id },
      }),
      deliveries: [
        {
          ...UNTRIED,
          ...{ id: this.#mintId('dlv'), position: 0, email, type: 'to', destination: domain },
          ...(event ? { status: 'suppressed', nextAttemptAt: null } : { status: 'queued', nextAttemptAt: at }),
        },
      ],
      attempts: [],
      events: event ? [messageEvent(this.#mintId('evt'), event.type, message, email, at, event.fields)] : [],
      suppressions: [],
    }
  }

  /** Every attempt that is due, and those that follow from them. */
  async #deliver(now: number): Promise<void> {
    for (;;) {
      const claims = await claimDue(this.#store.deliveries, { now, limit: 500, worker: WORKER })
      if (claims.length === 0) return
      await Promise.all(claims.map((claim) => this.#attempt(claim)))
    }
  }

  async #attempt(claim: ClaimedDelivery): Promise<void> {
    const { delivery, message } = claim
    const before = this.#attempts.get(delivery.email) ?? 0
    this.#attempts.set(delivery.email, before + 1)
    const startedAt = (this.#dueAt.get(delivery.id) ?? message.createdAt) + 40
    const refusal = replyTo(delivery.email, before)
    const [reply] = createReplyReader().push(`${refusal ?? acceptance(delivery.email)}\r\n`)
    if (reply === undefined) throw new Error(`no reply for ${delivery.email}`)
    const mx = MX_OF.get(delivery.email.slice(delivery.email.indexOf('@') + 1)) ?? 'mx.hosting.example'
    const outcome = outcomeOf(
      { kind: 'reply', stage: refusal === null ? 'content' : 'rcpt', reply },
      `${mx} [192.0.2.25]:25`,
    )
    const durationMs = Math.round(180 + this.#random() ** 4 * 5_000)
    const now = startedAt + durationMs
    const next = nextAttempt({
      ...{ attempt: delivery.attempts, firstAttemptAt: message.createdAt, now, expiresAt: null, random: systemRandom },
      ...RETRIES,
    })
    const attempt: Attempt = {
      ...{
        number: delivery.attempts,
        startedAt,
        durationMs,
        outcome: outcome.kind,
        mxHost: mx,
        mxAddress: '192.0.2.25',
      },
      ...{
        sourceAddress: message.stream === 'bulk' ? '127.0.0.3' : '127.0.0.2',
        tlsVersion: 'TLSv1.3',
        tlsVerified: true,
      },
      ...{
        tlsCipher: 'TLS_AES_256_GCM_SHA384',
        tlsPolicy: 'none',
        reply: (refusal ?? acceptance(delivery.email)).replaceAll('\r', ''),
      },
      ...{ enhancedCode: reply.enhanced, cause: 'cause' in outcome ? outcome.cause : null },
      transcript: transcriptOf(mx, delivery.email, refusal, durationMs),
    }
    const verdict = verdictOf(outcome, delivery.isSoftBounceReported, next)
    const record = recordOf(claim, { outcome, attempt, reactions: [] }, verdict, {
      worker: WORKER,
      now,
      mintId: this.#mintId,
    })
    if (record.nextAttemptAt !== null) this.#dueAt.set(delivery.id, record.nextAttemptAt)
    await this.#store.deliveries.record(record)
  }

  /** Opens, clicks, complaints and unsubscriptions whose time has come. */
  async #react(now: number): Promise<void> {
    const due = this.#later.filter(({ at }) => at <= now)
    this.#later = this.#later.filter(({ at }) => at > now)
    await Promise.all(due.map((each) => this.#read(each)))
  }

  async #read({ at, message, mail }: { at: number; message: Message; mail: PlannedMail }): Promise<void> {
    const lots = [1, 2, 3, 4].map(() => this.#random())
    const [opens = 1, clicks = 1, unsubscribes = 1, complains = 1] = lots
    if (opens > mail.opens) return
    const [delivery] = await this.#store.messages.deliveries(message.id)
    if (delivery?.status !== 'delivered') return
    const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)'
    const visit = { at, userAgent, ipAddress: '192.0.2.44', machine: opens < 0.08 }
    await this.#engagement.opened(delivery.id, visit)
    if (clicks < 0.2) await this.#engagement.clicked(delivery.id, `https://${mail.domain}/orders`, visit)
    if (mail.stream !== 'bulk') return
    if (unsubscribes < 0.04) await this.#engagement.unsubscribed(delivery.id, 'one_click', visit)
    if (complains < 0.03) await this.#complain(delivery.id, message, delivery.email, at)
  }

  async #complain(deliveryId: string, message: Message, email: string, at: number): Promise<void> {
    const fields = { complained_at: iso(at), feedback_type: 'abuse' }
    await this.#store.deliveries.recordLate({
      deliveryId,
      report: {
        ...{ kind: 'complaint', receivedAt: at, digest: hash('sha256', message.id, 'buffer'), feedbackType: 'abuse' },
        ...{ reporter: 'Yahoo!-Mail-Feedback/2.0', status: null, diagnostic: null, cause: null },
      },
      ...{ expected: 'delivered', change: null, now: at },
      events: [messageEvent(this.#mintId('evt'), 'message.complained', message, email, at, fields)],
      suppression: suppressionOf(this.#mintId('sup'), 'complaint', message, email, at),
    })
  }
}

const addressOf = (mailbox: string) => /<(.*)>/.exec(mailbox)?.[1] ?? mailbox

function mailbox(text: string) {
  const address = addressOf(text)
  const [local = '', domain = ''] = address.split('@')
  return { name: /^(.*) </.exec(text)?.[1] ?? null, address, local, domain }
}

function transcriptOf(mx: string, email: string, refusal: string | null, durationMs: number): string {
  const step = Math.floor(durationMs / 8)
  const lines = [
    `S: 220 ${mx} ESMTP`,
    'C: EHLO mail.northwind.example',
    'S: 250-STARTTLS',
    'S: 250 PIPELINING',
    'C: STARTTLS',
    'S: 220 2.0.0 Ready to start TLS',
    `C: RCPT TO:<${email}>`,
    ...(refusal ?? `250 2.1.5 OK\n${acceptance(email)}`).split(/\r?\n/).map((line) => `S: ${line}`),
  ]
  return lines.map((line, at) => `${at * step} ${line}`).join('\n')
}
