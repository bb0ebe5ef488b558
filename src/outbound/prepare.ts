import { createPrivateKey, type KeyObject } from 'node:crypto'
import { compose } from '../mail/compose.ts'
import { type MailContent, unpackContent } from '../mail/content.ts'
import { type DkimKey, signDkim } from '../mail/dkim.ts'
import { isMime, unpackMime } from '../mail/mime-content.ts'
import type { RecipientParts } from '../mail/recipient-parts.ts'
import { trackContent } from '../mail/track.ts'
import { Fifo } from '../net/limiters/fifo.ts'
import type { SigningKey } from './job.ts'
import type { SignRsa } from './system-rsa.ts'

/** What a mail is made of, fields or finished MIME; the same four give the same bytes, at every attempt and for the raw view. */
export interface Unprepared {
  content: Uint8Array
  signingKeys: readonly SigningKey[]
  signedAt: number
  /** As in AttemptJob. */
  recipientParts: RecipientParts
}

/** The signature headers and the composed mail, to be sent one after the other. */
export type Prepared = [signatures: Uint8Array, mail: Uint8Array]

/** Composes and signs: the work of the processor in an attempt. */
export interface Preparer {
  /** Waits its turn: one mail in each turn of the event loop, so that sockets are served between two signatures (an RSA one
   *  takes over half a millisecond); `onTurn` is called when it has come. Sending domains share the processor: next is the
   *  first mail of the domain that has used the least of it, so that costly mails of one domain hold up its own mail only.
   *  Rejects with what compose and sign throw. */
  prepare(job: Unprepared, onTurn?: () => void): Promise<Prepared>
  /** The same, at once. */
  prepareNow(job: Unprepared): Prepared
}

/** Makes a Preparer; `signRsa` may stand in for the built-in RSA operation and must give the same signatures. Private
 *  keys are parsed once and kept; parsing costs a sixth of a signature. `onCost`: what each mail of `prepare` took. */
export function createPreparer(signRsa?: SignRsa, onCost?: (domain: string, ms: number) => void): Preparer {
  const keys = new Map<string, KeyObject>()
  const lanes = new Map<string, Lane>()
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
  const prepareNow = (job: Unprepared): Prepared => {
    const mail = mailOf(job)
    const signingKeys = job.signingKeys.map(({ privateKeyPem, ...key }) => ({
      ...key,
      privateKey: keyOf(privateKeyPem),
    }))
    return [signDkim(mail, signingKeys, job.signedAt, signKey), mail]
  }
  const laneOf = (domain: string): Lane => {
    const known = lanes.get(domain)
    if (known !== undefined) return known
    // A newcomer begins where the one that comes next stands: not ahead for all the time it had nothing to send.
    const lane: Lane = { domain, spentMs: nextOf(lanes)?.spentMs ?? 0, waiting: new Fifo() }
    lanes.set(domain, lane)
    return lane
  }
  const turn = () => {
    const lane = nextOf(lanes)!
    const beganAt = performance.now()
    lane.waiting.take()!()
    const ms = performance.now() - beganAt
    lane.spentMs += ms
    onCost?.(lane.domain, ms)
    if (lane.waiting.size === 0) lanes.delete(lane.domain)
    isTurning = lanes.size > 0
    if (isTurning) setImmediate(turn)
  }
  return {
    prepareNow,
    prepare: (job, onTurn) =>
      new Promise((resolve, reject) => {
        laneOf(job.signingKeys[0]?.domain ?? '').waiting.push(() => {
          onTurn?.()
          try {
            resolve(prepareNow(job))
          } catch (error) {
            reject(error)
          }
        })
        if (!isTurning) setImmediate(turn)
        isTurning = true
      }),
  }
}

const MAX_KEYS = 10_000

/** The mails of one sending domain that wait to be prepared. */
interface Lane {
  domain: string
  /** Time of the processor, ms, as far as it counts against other domains. */
  spentMs: number
  waiting: Fifo<() => void>
}

/** The lane that has used the least, of equal ones the latest; null without any. */
function nextOf(lanes: ReadonlyMap<string, Lane>): Lane | null {
  let next: Lane | null = null
  for (const lane of lanes.values()) if (next === null || lane.spentMs <= next.spentMs) next = lane
  return next
}

/** A finished mail goes out as its author wrote it, Date and all; the rest is composed with the date it is signed at, and
 *  with the recipient's own links. */
function mailOf({ content, signedAt, recipientParts: { fields, tracking } }: Unprepared): Uint8Array {
  const mail = isMime(content) ? unpackMime(content) : compose({ ...contentFor(content, tracking), dateAt: signedAt })
  return fields === '' ? mail : Buffer.concat([Buffer.from(fields), mail])
}

function contentFor(packed: Uint8Array, tracking: RecipientParts['tracking']): MailContent {
  const content = unpackContent(packed)
  if (tracking === null) return content
  const tracked = trackContent(content, tracking)
  if ((content.html?.length ?? 0) > LARGE_HTML) Bun.gc(true) // of a tag there was an object: some times its size
  return tracked
}

const LARGE_HTML = 1_000_000
