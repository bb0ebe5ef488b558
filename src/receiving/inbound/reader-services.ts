import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { isLookupType, lookUp } from '../../net/dns/lookup-types.ts'
import type { Resolver, SharedResolver } from '../../net/dns/resolver.ts'
import { networkOf } from '../../net/ip.ts'
import type { Clock } from '../../os/clock.ts'
import type { Runner } from '../../os/runner.ts'
import { setNewest } from '../../os/set-newest.ts'
import { isAnswerTo } from './answer-check.ts'
import type { ReaderAnswer, ReaderJob, Seal } from './inbound-result.ts'
import type { RequestReply } from './reader.ts'
import { isSealText } from './seal-text.ts'

/** Limits on requests from readers to the main thread. */
const READER_LIMITS = {
  /** Per mail. SPF may query 10 names and the hosts of 10 MX (RFC 7208 §4.6.4), 20 signatures and 50 seals two keys
   *  each, DMARC 8 names (RFC 9989 §4.10), or those of 10 authors when the author is unclear. Further lookups return
   *  `temporary`. */
  lookups: 300,
  /** Per mail at once: the keys of all signatures. SPF and DMARC ask for one name after the other. */
  lookupsAtOnce: 100,
  /** A name has 253 characters (RFC 1035 §2.3.4); escapes and PTR names of IPv6 addresses need some more. */
  nameCharacters: 320,
  /** Two fields of each seal are signed. */
  signatures: 2,
  /** Header size: SCAN_LIMITS.headerBytes plus our own fields. */
  signedBytes: 600_000,
  /** An intact reader stays far below: messages per job, further messages per second, and their burst. */
  messagesAJob: 1_000,
  messagesASecond: 200,
  messagesSaved: 20_000,
}

interface ReaderServices {
  resolver: SharedResolver
  sealsOf: (jobId: number) => readonly Seal[]
  clock: Clock
  onBreach: (why: string) => void
}

/** A reader's Runner → the same Runner with its requests answered within the limits of each job. A reader that breaks a
 *  rule counts as compromised: it is ended, and its jobs run in another. `sealsOf` returns the keys of a job, which the
 *  reader never receives. */
export function withServices(runner: Runner, services: ReaderServices): Runner {
  return new GuardedReader(runner, services)
}

class GuardedReader implements Runner {
  readonly sharesMemory?: boolean
  readonly #runner: Runner
  readonly #services: ReaderServices
  /** By the job number of the pool. */
  readonly #jobs = new Map<number, Served>()
  readonly #byJobId = new Map<number, Served>()
  readonly #quota: ReturnType<typeof createMessageQuota>
  #listener = (_: unknown) => {}
  #isOver = false
  #breached: string | null = null

  constructor(runner: Runner, services: ReaderServices) {
    if (runner.sharesMemory !== undefined) this.sharesMemory = runner.sharesMemory
    this.#runner = runner
    this.#services = services
    this.#quota = createMessageQuota(services.clock)
    runner.onMessage((message) => this.#onMessage(message))
  }

  send(message: unknown, transfer?: ArrayBuffer[]): void {
    const { kind, id, job } = message as { kind: string; id: number; job: ReaderJob }
    if (kind === 'job') {
      const { resolver } = this.#services
      // Lookups for one client network take turns with those for others.
      const ofSender = 'envelope' in job ? resolver.forClient(networkOf(job.envelope.remoteAddress)) : resolver
      const served = { job, resolver: ofSender, lookups: 0, asking: 0, signatures: new Map<number, number>() }
      this.#jobs.set(id, served)
      this.#byJobId.set(job.jobId, served)
      this.#quota.add(READER_LIMITS.messagesAJob)
    }
    this.#runner.send(message, transfer)
  }

  onMessage(next: (message: unknown) => void): void {
    this.#listener = next
  }

  onEnd(next: (reason: string) => void): void {
    this.#runner.onEnd((reason) => {
      this.#isOver = true
      next(this.#breached ?? reason)
    })
  }

  end(): void {
    this.#isOver = true
    this.#runner.end()
  }

  #onMessage(message: unknown) {
    if (this.#isOver) return
    if (!this.#quota.takeOne()) return this.#breach('too many messages')
    if (typeof message !== 'object' || message === null) return this.#breach('a message that is not an object')
    const { kind, id, answer, error } = message as Record<string, unknown>
    switch (kind) {
      case 'request':
        return this.#serve(message as Record<string, unknown>)
      case 'answer': {
        const served = this.#jobs.get(id as number)
        if (served === undefined) return this.#breach('a result of an unknown job')
        if (!isAnswerTo(served.job, answer as ReaderAnswer)) return this.#breach('an invalid result')
        this.#remove(id as number)
        return this.#listener(message)
      }
      case 'failed':
        if (!this.#jobs.has(id as number) || typeof error !== 'string')
          return this.#breach('a failure of an unknown job')
        this.#remove(id as number)
        return this.#listener({ kind, id, error: error.slice(0, MOST_ERROR) })
      case 'dying':
        return this.#listener({ kind, error: String(error).slice(0, MOST_ERROR) })
      case 'ready':
      case 'beat':
      case 'at_work':
        return this.#listener(message)
      default:
        return this.#breach('a message of an unknown kind')
    }
  }

  #serve(message: Record<string, unknown>) {
    const { id, jobId, what } = message
    if (!isNumber(id) || !isNumber(jobId)) return this.#breach('a request without an ID')
    const served = this.#byJobId.get(jobId)
    if (served === undefined) return this.#breach('a request for an unknown job')
    if (what === 'lookup') return this.#lookUp(id, served, message)
    if (what === 'sign') return this.#sign(id, served, message)
    return this.#breach('a request of an unknown kind')
  }

  #lookUp(id: number, served: Served, { type, name }: Record<string, unknown>) {
    if (!isLookupType(type) || typeof name !== 'string' || name.length > READER_LIMITS.nameCharacters) {
      return this.#breach('an unexpected lookup')
    }
    if (served.asking >= READER_LIMITS.lookupsAtOnce || served.lookups >= READER_LIMITS.lookups) {
      return this.#reply(id, null)
    }
    served.lookups++
    served.asking++
    void lookUp(served.resolver, type, name).then((found) => {
      served.asking--
      this.#reply(id, found)
    })
  }

  #sign(id: number, served: Served, { seal, text }: Record<string, unknown>) {
    if (!isNumber(seal) || !(text instanceof Uint8Array)) return this.#breach('an invalid signing request')
    const key = this.#services.sealsOf(served.job.jobId)[seal]
    if (key === undefined || text.byteLength > READER_LIMITS.signedBytes || !isSealText(text, key)) {
      return this.#breach('a signature that does not belong to a seal of its message')
    }
    const signed = served.signatures.get(seal) ?? 0
    if (signed >= READER_LIMITS.signatures) return this.#breach('too many signatures for a seal')
    served.signatures.set(seal, signed + 1)
    void signedWith(key, text).then((signature) => this.#reply(id, signature))
  }

  #reply(id: number, value: unknown): void {
    if (!this.#isOver) this.#runner.send({ kind: 'reply', id, value } satisfies RequestReply)
  }

  #remove(id: number): void {
    const served = this.#jobs.get(id)
    if (served === undefined) return
    this.#jobs.delete(id)
    this.#byJobId.delete(served.job.jobId)
  }

  #breach(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#breached = `it violated its sandbox: ${why}`
    this.#services.onBreach(why)
    this.#runner.end()
  }
}

const MOST_ERROR = 4_000

/** Messages that a reader may still send: a number per job and per second, saved up to a limit. */
function createMessageQuota(clock: Clock): { add(messages: number): void; takeOne(): boolean } {
  let saved = READER_LIMITS.messagesSaved
  let countedAt = clock.now()
  const add = (messages: number) => {
    saved = Math.min(READER_LIMITS.messagesSaved, saved + messages)
  }
  return {
    add,
    takeOne: () => {
      const now = clock.now()
      add(((now - countedAt) / 1000) * READER_LIMITS.messagesASecond)
      countedAt = now
      saved--
      return saved >= 0
    },
  }
}

interface Served {
  job: ReaderJob
  resolver: Resolver
  lookups: number
  asking: number
  /** Signatures made, by seal number. */
  signatures: Map<number, number>
}

const isNumber = (value: unknown): value is number => Number.isInteger(value)

/** Hashes and signs off this thread. Null when the key is unusable. */
async function signedWith({ privateKeyPem }: Seal, text: Uint8Array): Promise<Uint8Array | null> {
  const key = keyOf(privateKeyPem)
  if (key?.asymmetricKeyType !== 'rsa') return null
  return await new Promise((resolve) => {
    sign('sha256', text, key, (error, signature) => resolve(error === null ? new Uint8Array(signature) : null))
  })
}

/** Parsing a key costs more than anything else here. */
const keys = new Map<string, KeyObject>()
const MAX_KEYS = 100

function keyOf(pem: string): KeyObject | null {
  try {
    const key = keys.get(pem) ?? createPrivateKey(pem)
    setNewest(keys, pem, key, MAX_KEYS)
    return key
  } catch {
    return null
  }
}
