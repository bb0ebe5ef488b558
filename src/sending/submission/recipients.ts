import type { Mailbox } from '../../mail/address.ts'
import type { RecipientType } from '../../model/delivery.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { Addresses } from './request.ts'

/** One recipient of a message, once, however many fields name the address. */
export interface Recipient {
  mailbox: Mailbox
  type: RecipientType
  /** The form for comparing addresses (model/suppression.ts). */
  folded: string
}

/** Over `to`, `cc` and `bcc` together, without duplicates. */
export const MAX_RECIPIENTS = 50

/** The three fields → their recipients in order, without duplicates: the first occurrence stays, so a recipient in `to`
 *  and `bcc` is visible. Empty fields give []. Never throws. */
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
