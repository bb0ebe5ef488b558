import { decodeWords, firstAddress, type HeaderField } from '../mail/header-fields.ts'
import type { MailHead } from './inbound-result.ts'

/** Every mail sent on carries this header with the tag of the installation; mail that comes back with it is refused. */
export const LOOP_HEADER = 'X-Service-Loop'

/** Header fields → what the record of a mail needs of them. Of several From, Subject or Message-ID fields the first counts;
 *  what is missing is ''. */
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
