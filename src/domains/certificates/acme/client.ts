import { z } from 'zod'
import { excerptOf, retryAfterSeconds } from '../../../net/https/answer-excerpt.ts'
import type { Ask, AskResult } from '../../../net/https/requests.ts'
import type { Clock } from '../../../os/clock.ts'
import { OrderFailure } from './failure.ts'
import type { Signer } from './jws.ts'

/** Sends signed requests to an ACME authority and reads its responses. RFC 8555 §6
 *
 *  Requests that only read are sent up to three times when no response arrives. Requests that change something are sent
 *  once, since the authority may have received them. A rejected nonce is replaced by the one in the rejection. Every
 *  other failure is an OrderFailure, also that LONGEST_ORDER_MS have passed since the client was opened. */
export interface AcmeClient {
  readonly directory: Directory
  /** After this time of the clock nothing is sent. */
  readonly endsAt: number
  /** Creates an account, or finds the one of this key. RFC 8555 §7.3 */
  openAccount(contact: string | null): Promise<void>
  /** Sends a signed request that changes something. */
  post(url: string, payload: object): Promise<Answer>
  /** Sends an unsigned GET. */
  get(url: string): Promise<Answer>
  /** Reads a resource by a signed request (POST-as-GET). */
  look(url: string, accept?: string): Promise<Answer>
}

export interface Answer {
  text: string
  /** URL of the created resource. */
  location: string | null
  retryAfterMs: number | null
}

export interface AcmeDeps {
  ask: Ask
  clock: Clock
  /** Aborted when the server stops. */
  signal: AbortSignal
}

type Directory = z.output<typeof DIRECTORY>

/** One for each name. More would be checked for a third of a second, on the main thread. */
const MOST_SUBPROBLEMS = 100

const DIRECTORY = z.object({
  newNonce: z.string(),
  newAccount: z.string(),
  newOrder: z.string(),
  renewalInfo: z.string().optional(),
})
const PROBLEM = z.object({
  type: z.string().catch(''),
  detail: z.string().catch(''),
  subproblems: z
    .array(z.object({ detail: z.string().catch(''), identifier: z.object({ value: z.string() }).optional() }))
    .max(MOST_SUBPROBLEMS)
    .catch([]),
})

/** Creates an AcmeClient from the URL of the directory and a signer. Rejects with OrderFailure when the directory
 *  cannot be read. */
export async function openClient(directoryUrl: string, signer: Signer, deps: AcmeDeps): Promise<AcmeClient> {
  const { clock } = deps
  const { origin } = new URL(directoryUrl)
  const endsAt = clock.now() + LONGEST_ORDER_MS
  const nonces: string[] = []
  let account: string | null = null

  /** One HTTP request; keeps the nonce of its response. */
  const exchange = async (url: string, headers: Record<string, string>, body: string | null): Promise<Exchange> => {
    if (URL.parse(url)?.origin !== origin)
      throw new OrderFailure(`the CA returned a URL of another origin: ${excerpt(url)}`)
    if (clock.now() > endsAt) throw new OrderFailure('the CA takes too long')
    const answer = await unlessStopped(deps.signal, () =>
      deps.ask(url, { headers, body, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }),
    )
    if (answer.kind !== 'answered') return answer
    const nonce = answer.headers['replay-nonce']
    if (typeof nonce === 'string' && NONCE.test(nonce)) nonces.push(nonce)
    const retrySeconds = retryAfterSeconds(answer.headers['retry-after'], clock.now())
    return { ...answer, retryAfterMs: retrySeconds === null ? null : Math.min(retrySeconds * 1000, LONGEST_WAIT_MS) }
  }

  const withRetry = async (ask: () => Promise<Exchange>): Promise<Exchange> => {
    for (let tries = 1; ; tries++) {
      const answer = await ask()
      const isSilence = answer.kind === 'no_answer' || (answer.kind === 'answered' && answer.status >= 500)
      if (!isSilence || tries === MAX_TRIES) return answer
      await clock.sleep(tries * AGAIN_MS, deps.signal)
    }
  }

  const nonce = async (): Promise<string> => {
    // The authority has probably dropped a nonce that was kept for long.
    if (nonces.length === 0) await withRetry(() => exchange(directory.newNonce, {}, null)).then(required)
    const fresh = nonces.pop()
    if (fresh === undefined) throw new OrderFailure('the CA returned no nonce')
    return fresh
  }

  const signed = async (url: string, payload: object | '', accept: string): Promise<Exchange> => {
    for (let tries = 1; ; tries++) {
      const body = signer.sign(payload, { url, nonce: await nonce(), account })
      const answer = await exchange(url, { 'Content-Type': 'application/jose+json', Accept: accept }, body)
      if (!isBadNonce(answer) || tries === MAX_TRIES) return answer
    }
  }

  const directory = read(DIRECTORY, required(await withRetry(() => exchange(directoryUrl, {}, null))).text)

  return {
    directory,
    endsAt,
    openAccount: async (contact) => {
      const request = { termsOfServiceAgreed: true, ...(contact === null ? {} : { contact: [`mailto:${contact}`] }) }
      const { location } = required(await signed(directory.newAccount, request, JSON_TYPE))
      if (location === null) throw new OrderFailure('the CA returned no account URL')
      account = location
    },
    get: async (url) => required(await withRetry(() => exchange(url, {}, null))),
    post: async (url, payload) => required(await signed(url, payload, JSON_TYPE)),
    look: async (url, accept = JSON_TYPE) => required(await withRetry(() => signed(url, '', accept))),
  }
}

type Exchange =
  | (Extract<AskResult, { kind: 'answered' }> & { retryAfterMs: number | null })
  | Exclude<AskResult, { kind: 'answered' }>

/** Rejects as soon as the server stops: the authority may take its time. */
function unlessStopped<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new OrderFailure('stopped'))
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    ask()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Response text → its parsed value; OrderFailure when it does not match the schema. */
export function read<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new OrderFailure(`the CA returned invalid JSON: ${excerpt(text)}`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new OrderFailure(`unexpected response from the CA: ${excerpt(text)}`)
}

/** Text from the authority → one line that is safe to show. */
export function excerpt(text: string): string {
  return excerptOf(Buffer.from(text)).slice(0, 300)
}

/** A successful response; otherwise an OrderFailure with the authority's text and the names it concerns. */
function required(answer: Exchange): Answer {
  if (answer.kind === 'blocked') throw new OrderFailure(`cannot connect to the CA: ${answer.reason}`)
  if (answer.kind === 'no_answer') throw new OrderFailure(`no response from the CA: ${answer.error}`)
  const { status, text, retryAfterMs, headers } = answer
  if (status < 300 && text !== null) return { text, location: headers.location ?? null, retryAfterMs }
  const problem = problemOf(answer)
  const detail = problem?.detail || `status ${status}`
  const isLimit = status === 429 || status === 503 || problem?.type.endsWith(':rateLimited') === true
  const subproblems = problem?.subproblems ?? []
  const words = [detail, ...subproblems.map((each) => `${each.identifier?.value ?? ''}: ${each.detail}`)].join('; ')
  throw new OrderFailure(`error from the CA: ${excerpt(words)}`, {
    retryAfterMs: isLimit ? (retryAfterMs ?? 0) : 0,
    refusedNames: subproblems.flatMap(({ identifier }) => (identifier === undefined ? [] : [identifier.value])),
  })
}

function isBadNonce(answer: Exchange): boolean {
  return answer.kind === 'answered' && answer.status === 400 && problemOf(answer)?.type === BAD_NONCE
}

function problemOf({ text }: { text: string | null }): z.output<typeof PROBLEM> | null {
  try {
    return PROBLEM.safeParse(JSON.parse(text ?? '')).data ?? null
  } catch {
    return null
  }
}

const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce'
const NONCE = /^[\w-]{1,512}$/ // RFC 8555 §6.5.1
const JSON_TYPE = 'application/json'
const MAX_BYTES = 262_144
const TIMEOUT_MS = 30_000
/** No request begins later, however many an order takes. */
export const LONGEST_ORDER_MS = 15 * 60_000
const MAX_TRIES = 3
const AGAIN_MS = 2_000
/** A longer Retry-After is cut to a week. */
const LONGEST_WAIT_MS = 7 * 86_400_000
