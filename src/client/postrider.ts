import type { Api } from './api.ts'
import type { Call, CallOptions } from './call.ts'
import { type Clock, systemClock } from './clock.ts'
import { resourcesOf } from './resources.ts'
import { ROUTES } from './routes.ts'
import type { Message } from './types.ts'
import { unwrap } from './unwrap.ts'
import { waitFor } from './wait-for.ts'
import type { Fetch } from './wire.ts'

export interface PostriderOptions {
  /** `https://mail.example.com`; default: POSTRIDER_URL from the environment. */
  baseUrl?: string | undefined
  /** Default: POSTRIDER_API_KEY from the environment. */
  apiKey?: string | undefined
  /** Timeout of a call including its retries; default 10 s. */
  timeoutMs?: number | undefined
  /** Retries after a connection error, 429, 500, 502, 503 or 504; default 2. */
  maxRetries?: number | undefined
  /** Replaces the runtime's `fetch`. */
  fetch?: Fetch | undefined
  /** For tests. */
  clock?: Clock | undefined
}

/** Methods of the client besides the API operations. */
interface Additions {
  messages: {
    /** Resolves once every recipient is final: delivered, bounced, suppressed or cancelled. Throws a TimeoutError
     *  after `timeoutMs` (60 s); delivery continues. */
    waitFor(messageId: string, options?: CallOptions): Call<Message>
    /** Reschedules a message; ISO 8601. */
    reschedule(messageId: string, scheduledAt: string | Date, options?: CallOptions): Call<Message>
  }
  webhooks: { unwrap: typeof unwrap }
}

/** All operations that an API key can call, named as in the API. Fields keep their names. */
export type Postrider = Api & Additions

class PostriderClient {
  /** Throws a TypeError if URL or key is missing or invalid. */
  constructor(options: PostriderOptions = {}) {
    const { clock = systemClock, timeoutMs = 10_000, maxRetries = 2 } = options
    const wire = {
      baseUrl: baseUrlOf(options.baseUrl ?? environment('POSTRIDER_URL')),
      apiKey: apiKeyOf(options.apiKey ?? environment('POSTRIDER_API_KEY')),
      // Looked up on each call, so that it can be replaced. Called unbound, a browser's fetch would throw.
      fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
      clock,
    }
    const api = resourcesOf(ROUTES, wire, { timeoutMs, maxRetries }) as unknown as Api
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

/** `new Postrider({ baseUrl, apiKey })`. Throws a TypeError if one is missing or invalid. */
export const Postrider = PostriderClient as unknown as new (options?: PostriderOptions) => Postrider

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

/** URL.parse is not in Node 20. */
function urlOf(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** The value itself never appears in a message. */
function apiKeyOf(text: string | undefined): string {
  if (!text) throw new TypeError('apiKey (or POSTRIDER_API_KEY) is missing')
  if (!/^[\x21-\x7e]+$/.test(text)) throw new TypeError('apiKey contains invalid characters. Check for a line break.')
  return text
}

/** Null if there is no environment or it cannot be read. */
function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
    return process?.env?.[name]
  } catch {
    return undefined
  }
}
