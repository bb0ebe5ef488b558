import type { InboundMessage } from '../model/inbound-message.ts'
import { suppressionKey } from '../model/suppression.ts'
import type { InboundFilter } from './store.ts'

/** An inbound message as both databases store it. */
export type InboundRow = Omit<InboundMessage, 'to' | 'verdicts' | 'notForwarded'> &
  InboundMessage['verdicts'] & { recipients: string; notForwarded: string | null }

export function toInboundMessage({
  recipients,
  spf,
  dkim,
  dmarc,
  arc,
  notForwarded,
  ...rest
}: InboundRow): InboundMessage {
  return {
    ...rest,
    to: JSON.parse(recipients),
    verdicts: { spf, dkim, dmarc, arc },
    notForwarded: notForwarded === null ? [] : JSON.parse(notForwarded),
  }
}

/** Column `not_forwarded`; null if the list is empty. */
export function packNotForwarded({ notForwarded }: InboundMessage): string | null {
  return notForwarded.length === 0 ? null : JSON.stringify(notForwarded)
}

/** An address by which inbound messages are found, folded. */
export interface InboundAddress {
  field: 'from' | 'to'
  address: string
}

/** The addresses of a message, each once. */
export function addressesOf({ from, to }: InboundMessage): InboundAddress[] {
  return [...folded('from', from === '' ? [] : [from]), ...folded('to', to)]
}

/** The requested addresses, the rarer one first: an address receives mail from many, but seldom sends. */
export function requestedAddresses({ from, to }: InboundFilter): InboundAddress[] {
  return [...folded('from', from === null ? [] : [from]), ...folded('to', to === null ? [] : [to])]
}

function folded(field: InboundAddress['field'], emails: readonly string[]): InboundAddress[] {
  return [...new Set(emails.map(suppressionKey))].map((address) => ({ field, address }))
}
