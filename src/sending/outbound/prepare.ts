import { createPrivateKey, type KeyObject } from 'node:crypto'
import { compose } from '../../mail/compose.ts'
import { type MailContent, unpackContent } from '../../mail/content.ts'
import { type DkimKey, signDkim } from '../../mail/dkim.ts'
import { isMime, unpackMime } from '../../mail/mime-content.ts'
import { withoutNoTrackScheme } from '../../mail/no-track.ts'
import type { RecipientParts } from '../../mail/recipient-parts.ts'
import { trackContent } from '../../mail/track.ts'
import { Fifo } from '../../net/limiters/fifo.ts'
import { type Composed, finishedMail } from './finished-mail.ts'
import type { Prepared, Unprepared } from './job.ts'
import { createSharedMails, type SharedMail } from './shared-mails.ts'
import type { SignRsa } from './system-rsa.ts'

/** Composes and signs: the CPU work of an attempt. */
export interface Preparer {
  /** Prepares a mail in turn: a few mails per turn of the event loop, so that sockets are served between signatures (RSA
   *  takes up to half a millisecond). All of a turn are composed, then all are signed: the code of each step stays in the
   *  processor's caches, which saves a tenth of a message's CPU. Calls `onTurn` before each step. Sending domains share
   *  the CPU: next is the first mail of the domain with the least CPU time, so that expensive mails of one domain delay
   *  only its own mail. Recipients of a message who get the same bytes share one mail. Rejects with what compose and
   *  sign throw. */
  prepare(job: Unprepared, onTurn?: () => void): Promise<Prepared>
  /** Prepares a mail at once. */
  prepareNow(job: Unprepared): Prepared
}

/** Returns a Preparer. `signRsa` may replace the built-in RSA operation and must give the same signatures. Parsed
 *  private keys are cached; parsing costs a sixth of a signature. `onCost` receives the time of each mail from
 *  `prepare`, once both steps are done or one failed. `now` returns milliseconds with fractions. */
export function createPreparer(
  signRsa?: SignRsa,
  onCost?: (domain: string, ms: number) => void,
  now = () => performance.now(),
): Preparer {
  const keys = new Map<string, KeyObject>()
  const queues = new Map<string, DomainQueue>()
  const sharedMailOf = createSharedMails()
  let isTurning = false
  const signKey = signRsa && ((input: Uint8Array, { privateKey }: DkimKey) => signRsa(input, privateKey))

  const keyOf = (pem: string) => {
    const known = keys.get(pem)
    if (known !== undefined) return known
    if (keys.size >= MAX_KEYS) keys.clear()
    const key = createPrivateKey(pem)
    keys.set(pem, key)
    return key
  }
  const sign = ({ mail, changes }: Composed, { signingKeys, signedAt }: Unprepared): Prepared => {
    const withKeys = signingKeys.map(({ privateKeyPem, ...key }) => ({ ...key, privateKey: keyOf(privateKeyPem) }))
    return { parts: [signDkim(mail, withKeys, signedAt, signKey), mail], changes }
  }
  const queueOf = (domain: string): DomainQueue => {
    const known = queues.get(domain)
    if (known !== undefined) return known
    // A new queue starts at the time of the next one, so that idle time gives it no advantage.
    const queue: DomainQueue = { domain, spentMs: nextOf(queues)?.spentMs ?? 0, waiting: new Fifo() }
    queues.set(domain, queue)
    return queue
  }
  /** Runs a step of a mail and counts its time; null if it failed. */
  const step = <T>(waiting: Waiting, work: () => T): T | null => {
    const { queue, onTurn, reject } = waiting
    const beganAt = now()
    onTurn?.()
    try {
      return work()
    } catch (error) {
      reject(error)
      return null
    } finally {
      const ms = now() - beganAt
      queue.spentMs += ms
      waiting.spentMs += ms
    }
  }
  const end = ({ queue, spentMs }: Waiting) => onCost?.(queue.domain, spentMs)
  const composeSome = () => {
    const composed: { waiting: Waiting; shared: SharedMail; mail: Composed }[] = []
    const endsAt = now() + COMPOSE_MS
    do {
      const queue = nextOf(queues)
      const waiting = queue?.waiting.take()
      if (waiting === undefined) break
      const shared = sharedMailOf(waiting.job)
      const mail = step(waiting, () => shared.composed(() => mailOf(waiting.job)))
      if (mail === null) end(waiting)
      else composed.push({ waiting, shared, mail })
      if (waiting.queue.waiting.size === 0) queues.delete(waiting.queue.domain)
    } while (composed.length < MOST && now() < endsAt)
    return composed
  }
  const turn = () => {
    for (const { waiting, shared, mail } of composeSome()) {
      const prepared = step(waiting, () => shared.signed(() => sign(mail, waiting.job)))
      if (prepared !== null) waiting.resolve(prepared)
      end(waiting)
    }
    isTurning = queues.size > 0
    if (isTurning) setImmediate(turn)
  }
  return {
    prepareNow: (job) => sign(mailOf(job), job),
    prepare: (job, onTurn) =>
      new Promise((resolve, reject) => {
        const queue = queueOf(job.signingKeys[0]?.domain ?? '')
        queue.waiting.push({ job, queue, spentMs: 0, onTurn, resolve, reject })
        if (!isTurning) setImmediate(turn)
        isTurning = true
      }),
  }
}

/** Most mails of a turn. 10 are no faster. */
const MOST = 6
/** No further mail of a turn is composed after this time, so that a large one is signed alone. */
const COMPOSE_MS = 1
const MAX_KEYS = 10_000

/** Mails of one sending domain that wait for preparation. */
interface DomainQueue {
  domain: string
  /** CPU time in ms, as counted against other domains. */
  spentMs: number
  waiting: Fifo<Waiting>
}

/** A mail to prepare, and its promise. */
interface Waiting {
  job: Unprepared
  queue: DomainQueue
  spentMs: number
  onTurn: (() => void) | undefined
  resolve: (prepared: Prepared) => void
  reject: (error: unknown) => void
}

/** The queue with the least CPU time, the newest among equals; null without queues. */
function nextOf(queues: ReadonlyMap<string, DomainQueue>): DomainQueue | null {
  let next: DomainQueue | null = null
  for (const queue of queues.values()) if (next === null || queue.spentMs <= next.spentMs) next = queue
  return next
}

/** A finished mail goes out with its author's Date, and in 7-bit ASCII if we sign it (finished-mail.ts). Other mail is
 *  composed with its signing date and the recipient's own links, always in 7-bit ASCII. */
function mailOf(job: Unprepared): Composed {
  const { content, signedAt, recipientParts } = job
  const { mail, changes } = isMime(content)
    ? finishedMail(unpackMime(content), { isOurs: job.signingKeys.length > 0, isSevenBit: job.isSevenBit === true })
    : { mail: compose({ ...contentFor(content, recipientParts), dateAt: signedAt }), changes: null }
  const { fields } = recipientParts
  return { mail: fields === '' ? mail : Buffer.concat([Buffer.from(fields), mail]), changes }
}

function contentFor(packed: Uint8Array, { tracking, secrets }: RecipientParts): MailContent {
  const content = unpackContent(packed)
  if (secrets !== undefined) return withSecrets(content, secrets)
  if (tracking === null) return withPlainLinks(content)
  const tracked = withPlainLinks(trackContent(content, tracking))
  // tracking makes an object per tag, several times the size of the HTML
  if ((content.html?.length ?? 0) > LARGE_HTML) Bun.gc(true)
  return tracked
}

function withPlainLinks(content: MailContent): MailContent {
  const plain = (body: string | null) => body && withoutNoTrackScheme(body)
  return { ...content, text: plain(content.text), html: plain(content.html) }
}

function withSecrets(content: MailContent, secrets: Readonly<Record<string, string>>): MailContent {
  const filled = (body: string | null) =>
    body && Object.entries(secrets).reduce((text, [placeholder, secret]) => text.replaceAll(placeholder, secret), body)
  return { ...content, text: filled(content.text), html: filled(content.html) }
}

const LARGE_HTML = 1_000_000
