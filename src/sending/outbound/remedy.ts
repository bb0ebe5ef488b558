import type { Cause } from '../../model/delivery.ts'
import { isPoisoned } from './outcome.ts'

/** Cause of a failed attempt → advice for its sender or the operator; null when the server's reply needs no addition or
 *  the cause is unknown. Pure. */
export function remedyFor(cause: Cause | null): string | null {
  if (isPoisoned(cause?.rule)) {
    return 'Composing or signing the message failed or exceeded the time limit. Postrider tries twice. Make the HTML simpler or smaller.'
  }
  switch (cause?.class) {
    case 'authentication':
      return 'The receiver could not authenticate the sender. On the server, run `postrider doctor` to check reverse DNS and `postrider dns check DOMAIN` to check SPF and DKIM.'
    case 'reputation':
      return 'The receiver does not trust the sending IP or domain. On the server, run `postrider doctor` to check blocklists. If the reply contains a link, it leads to the blocklist or receiver responsible.'
    case 'policy':
      return 'The receiver’s policy rejects this message. The reply gives the only available reason.'
    case 'content':
      return 'The receiver rejects the content. Use POST /v1/messages/analyze to find what spam filters look for.'
    case 'rate':
      return 'The receiver limits our sending rate. Postrider lowers its rate to this destination automatically.'
    case 'greylist':
      return 'The receiver defers unknown senders (greylisting) and accepts a later attempt. You do not need to do anything.'
    case 'network':
      return 'If no server can be reached at all, port 25 is probably blocked. On the server, run `postrider doctor` to check.'
    case 'login':
      return 'The relay rejects the user or password in `delivery.smarthost` or [[relays]]. On the server, run `postrider relay test NAME`.'
    default:
      return null
  }
}
