import { isNear } from '../../net/near-url.ts'
import { fieldOf } from '../../os/records.ts'
import { Postrider } from '../postrider.ts'
import type { Template } from '../types.ts'
import { CommandFault } from './fault.ts'

/** A free plan allows 60 requests a minute, so the client must wait for the next minute. */
const TIMEOUT_MS = 180_000
const MAX_RETRIES = 5

/** The server of POSTRIDER_URL and POSTRIDER_API_KEY. Throws CommandFault (exit code 2) if one is missing or invalid,
 *  and for an address where others could read the key. */
export function openServer(): Postrider {
  const { POSTRIDER_URL: address = '' } = process.env
  const url = URL.canParse(address) ? new URL(address) : null
  if (url !== null) requirePrivate(url, 'POSTRIDER_URL')
  try {
    // The client adds `/v1` itself.
    return new Postrider({
      baseUrl: address.replace(/\/v1\/?$/, ''),
      timeoutMs: TIMEOUT_MS,
      maxRetries: MAX_RETRIES,
    })
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
    throw new CommandFault(thrown.message, 2)
  }
}

/** Answer → the same, if it is a template. Throws CommandFault otherwise: many servers answer any request with 200. */
export function requireTemplate(answer: Template | null): Template {
  if (answer !== null && typeof fieldOf(answer, 'id') === 'string' && typeof fieldOf(answer, 'version') === 'number')
    return answer
  throw new CommandFault('POSTRIDER_URL: not a Postrider server. Check the address.')
}

/** Every request carries a key, so it must not cross a public network unencrypted. Throws CommandFault (exit code 2). */
export function requirePrivate(url: URL, name: string): void {
  if (!isNear(url))
    throw new CommandFault(`${name}: expected https://, or http:// to localhost or a private address`, 2)
}
