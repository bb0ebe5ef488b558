import type { Call, CallOptions } from './call.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Fetch } from './exchange.ts'
import { resourcesOf } from './resources.ts'
import { ROUTES } from './routes.ts'
import type { Api, Message } from './types.ts'
import { unwrap } from './unwrap.ts'
import { waitFor } from './wait-for.ts'

export interface PostriderOptions {
  /** `https://mail.example.com`; POSTRIDER_URL in the environment unless given. */
  baseUrl?: string | undefined
  /** POSTRIDER_API_KEY in the environment unless given. */
  apiKey?: string | undefined
  /** A call takes at most so long, its repetitions included; 10 s. */
  timeoutMs?: number | undefined
  /** How often a request is repeated after a broken connection, 429, 500, 502, 503 or 504; 2. */
  maxRetries?: number | undefined
  /** In the place of the runtime's own. */
  fetch?: Fetch | undefined
  /** For tests. */
  clock?: Clock | undefined
}

/** What a client has beside the operations of the API. */
interface Additions {
  messages: {
    /** Resolves once every recipient is final: delivered, bounced, suppressed or cancelled. Gives up with a TimeoutError
     *  after `timeoutMs` (60 s); the mail goes on. */
    waitFor(messageId: string, options?: CallOptions): Call<Message>
    /** Moves a scheduled message; ISO 8601. */
    reschedule(messageId: string, scheduledAt: string | Date, options?: CallOptions): Call<Message>
  }
  webhooks: { unwrap: typeof unwrap }
}

/** Everything that an API key may ask of a Postrider server, by the names of the API: fields stay as they are on the
 *  wire. */
export type Postrider = Api & Additions

class PostriderClient {
  /** Throws a TypeError when address or key is missing or cannot be one. */
  constructor(options: PostriderOptions = {}) {
    const { clock = systemClock, timeoutMs = 10_000, maxRetries = 2 } = options
    const wire = {
      baseUrl: baseUrlOf(options.baseUrl ?? environment('POSTRIDER_URL')),
      apiKey: apiKeyOf(options.apiKey ?? environment('POSTRIDER_API_KEY')),
      // Looked up at each call, for those who replace it; unbound, a browser's would refuse.
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

/** `new Postrider({ baseUrl, apiKey })`; throws a TypeError when one of them is missing or cannot be one. */
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

/** The text itself never stands in a message. */
function apiKeyOf(text: string | undefined): string {
  if (!text) throw new TypeError('apiKey (or POSTRIDER_API_KEY) is missing')
  if (!/^[\x21-\x7e]+$/.test(text)) throw new TypeError('apiKey contains invalid characters. Check for a line break.')
  return text
}

/** Null where there is no environment, or none that may be read. */
function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
    return process?.env?.[name]
  } catch {
    return undefined
  }
}
