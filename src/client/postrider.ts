import type { Api } from './api.ts'
import type { ApiCamel } from './api-camel.ts'
import type { Call, CallOptions } from './call.ts'
import { type Camel, camelCased, snakeCased } from './camel.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Naming, resourcesOf } from './resources.ts'
import { ROUTES } from './routes.ts'
import type { Message } from './types.ts'
import { unwrap } from './unwrap.ts'
import { waitFor } from './wait-for.ts'
import type { Fetch } from './wire.ts'

/** Options of the client. */
export interface PostriderOptions {
  /** URL of your server, such as `https://mail.example.com`. Default: the environment variable POSTRIDER_URL. */
  baseUrl?: string | undefined
  /** API key. Default: the environment variable POSTRIDER_API_KEY. */
  apiKey?: string | undefined
  /** Timeout of a call including its retries, in ms. Default: 10,000. */
  timeoutMs?: number | undefined
  /** Maximum retries of a call after a connection error, 429, 500, 502, 503 or 504. Default: 2. */
  maxRetries?: number | undefined
  /** Names in camelCase: `message.createdAt`. Set it to true for a client of the type `PostriderCamel`. */
  camelCase?: false | undefined
  /** Replaces the runtime's `fetch`. */
  fetch?: Fetch | undefined
  /** Replaces the clock and random numbers in tests. */
  clock?: Clock | undefined
}

/** Methods of the client besides the API operations; `M` is the type of a message. */
interface Additions<M = Message> {
  messages: {
    /** Polls the message until every recipient is final (delivered, bounced, suppressed or cancelled) and resolves with
     *  it. Rejects with a `TimeoutError` after `timeoutMs` (default 60 s); delivery continues. */
    waitFor(messageId: string, options?: CallOptions): Call<M>
    /** Reschedules a scheduled message to a Date or an ISO 8601 time. */
    reschedule(messageId: string, scheduledAt: string | Date, options?: CallOptions): Call<M>
  }
  webhooks: { unwrap: typeof unwrap }
}

/** The client: a method for every operation that an API key can call. Fields have the same names as in the API. */
export type Postrider = Api & Additions

/** The client with the option `camelCase`: fields have the names of the API in camelCase. Metadata, headers, variables
 *  and other maps keep their names, as do pages, errors and the webhook events of `unwrap`. */
export type PostriderCamel = ApiCamel & Additions<Camel<Message>>

/** Options of a client with names in camelCase. */
type CamelOptions = Omit<PostriderOptions, 'camelCase'> & { camelCase: true }

const CAMEL: Naming = { asked: snakeCased, shown: camelCased }
const PLAIN: Naming = { asked: (input) => input, shown: (data) => data }

class PostriderClient {
  /** Throws a TypeError if URL or key is missing or invalid. */
  constructor(options: CamelOptions | PostriderOptions = {}) {
    const { clock = systemClock, timeoutMs = 10_000, maxRetries = 2 } = options
    const wire = {
      baseUrl: baseUrlOf(options.baseUrl ?? environment('POSTRIDER_URL')),
      apiKey: apiKeyOf(options.apiKey ?? environment('POSTRIDER_API_KEY')),
      // Read on each call, so that programs can replace it. A browser's fetch needs `globalThis` as its `this`.
      fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
      clock,
    }
    const api = resourcesOf(
      ROUTES,
      wire,
      { timeoutMs, maxRetries },
      options.camelCase ? CAMEL : PLAIN,
    ) as unknown as Api
    const additions: Additions = {
      messages: {
        waitFor: (messageId, more) => waitFor(api.messages.get, clock, messageId, more),
        reschedule: (messageId, at, more) =>
          api.messages.update(messageId, { scheduled_at: at instanceof Date ? at.toISOString() : at }, more),
      },
      webhooks: { unwrap },
    }
    Object.assign(this, api, {
      messages: { ...api.messages, ...additions.messages },
      webhooks: { ...api.webhooks, ...additions.webhooks },
    })
  }
}

/** Creates a client: `new Postrider({ baseUrl, apiKey })`. Throws a TypeError if URL or key is missing or invalid. */
export const Postrider = PostriderClient as unknown as {
  new (options: CamelOptions): PostriderCamel
  new (options?: PostriderOptions): Postrider
}

function baseUrlOf(text: string | undefined): string {
  const url = urlOf(text ?? '')
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new TypeError('baseUrl (or POSTRIDER_URL) must be the URL of your server, such as https://mail.example.com')
  }
  const address = url.origin + url.pathname
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}

/** Like URL.parse, which Node 20 does not have. */
function urlOf(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** API key → the same key. Throws a TypeError if it is missing or invalid. The message does not contain the key. */
function apiKeyOf(text: string | undefined): string {
  if (!text) throw new TypeError('apiKey (or POSTRIDER_API_KEY) is missing')
  if (!/^[\x21-\x7e]+$/.test(text)) throw new TypeError('apiKey contains invalid characters. Check for a line break.')
  return text
}

/** Name of an environment variable → its value; undefined if it is not set or the runtime denies access. */
function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
    return process?.env?.[name]
  } catch {
    return undefined
  }
}
