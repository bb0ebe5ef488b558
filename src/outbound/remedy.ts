import type { Cause } from '../model/delivery.ts'
import { isPoisoned } from './outcome.ts'

/** Cause of a failed attempt → advice for its sender or the operator; null when the server's reply needs no addition or
 *  the cause is unknown. Pure. */
export function remedyFor(cause: Cause | null): string | null {
  if (isPoisoned(cause?.rule)) {
    return 'Composing and signing the mail took longer than a mail may take, or failed. It is tried twice. Make its HTML simpler or smaller.'
  }
  switch (cause?.class) {
    case 'authentication':
      return 'It could not tell who the mail is from. On the server, `postrider doctor` looks at the reverse DNS of the machine, `postrider dns check DOMAIN` at SPF and DKIM.'
    case 'reputation':
      return 'It distrusts where the mail comes from. On the server, `postrider doctor` asks the blocklists; a link in the reply leads to whoever decides.'
    case 'policy':
      return 'It does not want this mail from us. The reply is all that it says of why.'
    case 'content':
      return 'It minds what the mail says or holds: POST /v1/messages/analyze tells what filters look for.'
    case 'rate':
      return 'It had too much of us for now. The pace to its site is lowered by itself.'
    case 'greylist':
      return 'It puts off every sender that it does not know yet, and takes a later attempt. Nothing needs to be done.'
    case 'network':
      return 'When no server anywhere can be reached, port 25 is blocked: on the server, `postrider doctor` tells.'
    case 'login':
      return 'The smarthost does not take the user and password in `delivery.smarthost`.'
    default:
      return null
  }
}
