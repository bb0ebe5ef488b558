import type { Mailbox } from '../mail/address.ts'
import type { RecipientType } from '../model/delivery.ts'
import { suppressionKey } from '../model/suppression.ts'
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

const TYPES = ['to', 'cc', 'bcc'] as const
const NO_MAILBOXES: readonly Mailbox[] = []

/** The three fields → their recipients in order, without duplicates: the first occurrence stays, so a recipient in `to`
 *  and `bcc` is visible. Empty fields give []. Never throws. */
export function collapseRecipients(fields: {
  to?: Addresses | null
  cc?: Addresses | null
  bcc?: Addresses | null
}): Recipient[] {
  const recipients: Recipient[] = []
  const seen = new Set<string>()
  for (const type of TYPES) {
    for (const mailbox of fields[type]?.mailboxes ?? NO_MAILBOXES) {
      const folded = suppressionKey(mailbox.address)
      if (seen.has(folded)) continue
      seen.add(folded)
      recipients.push({ mailbox, type, folded })
    }
  }
  return recipients
}
