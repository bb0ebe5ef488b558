import { parseMailbox } from '../mail/address.ts'
import type { Attempt } from '../model/delivery.ts'
import type { AsSent, Message, ReplyRoute } from '../model/message.ts'
import { suppressionKey } from '../model/suppression.ts'

type Recipients = Pick<Message, 'to' | 'cc' | 'bcc' | 'replyTo' | 'replies'>

type Packed = [to: AsSent, cc: AsSent, bcc: AsSent, replyTo: AsSent, replies?: ReplyRoute]

/** Recipient fields as submitted, in one column. */
export function packRecipients({ to, cc, bcc, replyTo, replies }: Recipients): string {
  return JSON.stringify(replies === null ? [to, cc, bcc, replyTo] : [to, cc, bcc, replyTo, replies])
}

export function unpackRecipients(packed: string): Recipients {
  const [to, cc, bcc, replyTo, replies]: Packed = JSON.parse(packed) // from packRecipients
  return { to, cc, bcc, replyTo, replies: replies ?? null }
}

/** A sender as submitted → its address in the form that lists filter by; the text itself if it is not an address.
 *  Caches the last sender, which often repeats. */
export function createSenderAddress(): (from: string) => string {
  let last = ''
  let lastAddress = ''
  return (from) => {
    if (from !== last) lastAddress = suppressionKey(parseMailbox(from)?.address ?? from)
    last = from
    return lastAddress
  }
}

/** Attempt → Delivery.tls. */
export function tlsOf({ tlsVersion, tlsCipher }: Attempt): string | null {
  return tlsVersion === null ? null : `${tlsVersion} ${tlsCipher ?? ''}`.trim()
}
