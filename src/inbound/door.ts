import type { SmtpDoor } from '../smtp/session.ts'
import { createReceive, type ReceiveDeps } from './receive.ts'
import { type Destination, meaningOf, type RecipientDeps } from './recipient.ts'

/** What the world finds behind port 25: who is a recipient (recipient.ts), and what becomes of mail (receive.ts).
 *  Nobody logs in here, and any return path may be spoken: whoever writes, the routes decide. */
export function createInboundDoor(deps: RecipientDeps & ReceiveDeps): SmtpDoor<Destination> {
  return {
    onRecipient: async (_session, recipient, already) => meaningOf(recipient, already, deps),
    onMail: createReceive(deps),
  }
}
