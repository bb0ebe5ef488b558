import { decodeWords, firstAddress, type HeaderField } from '../../mail/header-fields.ts'
import type { MailHead } from './inbound-result.ts'

/** Every forwarded mail carries this header with the installation's tag. Mail that returns with the tag is refused. */
export const LOOP_HEADER = 'X-Service-Loop'

/** Header fields → the header facts of a mail record. The first of several From, Subject or Message-ID fields counts;
 *  missing ones are ''. */
export function headOf(fields: readonly HeaderField[]): MailHead {
  const all = (key: string) => fields.filter((field) => field.key === key).map(({ value }) => value)
  const first = (key: string) => fields.find((field) => field.key === key)?.value
  const fromHeader = first('from') ?? ''
  return {
    from: firstAddress(fromHeader) ?? '',
    fromHeader: decodeWords(fromHeader),
    subject: decodeWords(first('subject') ?? ''),
    messageId: first('message-id') ?? '',
    hops: all('received').length,
    loop: all(LOOP_HEADER.toLowerCase()).join('\n') || null,
  }
}
