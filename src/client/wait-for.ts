import type { Api } from './api.ts'
import { Call, type CallOptions } from './call.ts'
import type { Clock } from './clock.ts'
import { errorOf } from './errors.ts'
import { NEVER } from './exchange.ts'
import type { Message } from './types.ts'

/** Polls a message until every recipient is final, and resolves with it. Rejects with a `TimeoutError` if a recipient
 *  is not final after `timeoutMs` (default 60 s); delivery continues. Rejects with the PostriderError of a failed
 *  request. */
export function waitFor(
  get: Api['messages']['get'],
  clock: Clock,
  messageId: string,
  { timeoutMs = 60_000, signal, ...options }: CallOptions = {},
): Call<Message> {
  const endsAt = clock.now() + timeoutMs
  const poll = async () => {
    for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(LONGEST_MS, pauseMs * 2)) {
      const { data: message, error, requestId } = await get(messageId, { ...options, signal }).safe()
      if (error !== null) throw error
      if (!message.recipients.some(({ status }) => OPEN.includes(status))) return { data: message, requestId }
      if (clock.now() + pauseMs > endsAt) {
        const text = `${messageId} is still ${message.status} after ${timeoutMs} ms.`
        throw errorOf({ code: 'timed_out', message: text, requestId })
      }
      await clock.sleep(pauseMs, signal ?? NEVER) // if aborted, the next request throws
    }
  }
  return new Call(poll())
}

const OPEN: readonly string[] = ['scheduled', 'queued', 'deferred']
const FIRST_MS = 250
const LONGEST_MS = 5_000
