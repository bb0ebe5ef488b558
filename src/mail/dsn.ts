import { readBounceText, reportText } from './bounce-text.ts'
import { diagnosticText, readDeliveryStatus } from './delivery-status.ts'
import { contentOf, leavesOf, type MimePart, readParts } from './mime-parts.ts'

/** What a delivery status notification says of one recipient. RFC 3464 §2.3. */
export interface DsnRecipient {
  /** Address without its type; null when not said. */
  finalRecipient: string | null
  originalRecipient: string | null
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** `5.1.1`; null when not said or malformed. */
  status: string | null
  /** The remote server's reply, unfolded, without its `smtp;`. */
  diagnostic: string | null
  remoteMta: string | null
}

/** What a report says, whichever program wrote it. */
export interface Dsn {
  /** Which reader understood it: `rfc3464`, or the name of the rule for a non-standard form. */
  form: string
  reportingMta: string | null
  /** At least one. */
  recipients: DsnRecipient[]
}

/** Raw mail → the delivery status notification it is; null when it is none, which is the answer in doubt: a mail that
 *  quotes a report, answers one or has one attached is none. First the machine-readable part of RFC 3464 (RFC 6533 for
 *  UTF-8 addresses), whatever the outer type says, then the forms of the table in dsn-forms.ts. At most 1,000 recipients
 *  of the first MiB; linear, never throws. */
export function readDsn(raw: Uint8Array): Dsn | null {
  const mail = readParts(raw)
  for (const leaf of leavesOf(mail)) {
    if (!STATUS_TYPES.has(leaf.type)) continue
    // A missing empty line makes the first fields part of the part's own header.
    const own = leaf.fields.filter((field) => !field.key.startsWith('content-'))
    const { reportingMta, recipients } = readDeliveryStatus(own, contentOf(leaf))
    if (recipients.length > 0) return { form: 'rfc3464', reportingMta, recipients: withRemoteReply(recipients, mail) }
  }
  return readBounceText(mail)
}

const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status'])

/** Exchange Online keeps the reply for people: a report about one recipient without a diagnostic gets it from there. */
function withRemoteReply(recipients: DsnRecipient[], mail: MimePart): DsnRecipient[] {
  const [only] = recipients
  if (recipients.length > 1 || only!.diagnostic !== null) return recipients
  const reply = /Remote Server returned '([^']*)'/i.exec(reportText(mail))?.[1] ?? ''
  return [{ ...only!, diagnostic: diagnosticText(reply) }]
}
