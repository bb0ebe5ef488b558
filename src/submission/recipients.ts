import type { Mailbox } from '../mail/address.ts'
import type { RecipientType } from '../model/delivery.ts'
import { suppressionKey } from '../model/suppression.ts'
import type { Addresses } from './request.ts'

/** One person a message goes to, once, whatever number of fields named them. */
export interface Recipient {
  mailbox: Mailbox
  type: RecipientType
  /** The form in which addresses are compared (model/suppression.ts). */
  folded: string
}

/** Over `to`, `cc` and `bcc` together, after duplicates have collapsed (contract §3). */
export const MAX_RECIPIENTS = 50

/** The three fields → everybody they name, in that order, each once: of equal addresses the first stays, so somebody
 *  in `to` and `bcc` is shown. Empty fields give an empty list. Never throws. */
export function collapseRecipients(fields: {
  to?: Addresses | null
  cc?: Addresses | null
  bcc?: Addresses | null
}): Recipient[] {
  const byAddress = new Map<string, Recipient>()
  for (const type of ['to', 'cc', 'bcc'] as const) {
    for (const mailbox of fields[type]?.mailboxes ?? []) {
      const folded = suppressionKey(mailbox.address)
      if (!byAddress.has(folded)) byAddress.set(folded, { mailbox, type, folded })
    }
  }
  return [...byAddress.values()]
}
