import { isAutoReply } from '../../mail/auto-reply.ts'
import { cutText } from '../../mail/cut-text.ts'
import { decodeWords, firstAddress, type HeaderField } from '../../mail/header-fields.ts'
import { KEPT_CHARACTERS, MOST_ANSWERED } from '../../model/inbound-message.ts'
import type { MailHead } from './inbound-result.ts'

/** Every forwarded mail carries this header with the installation's tag. Mail that returns with the tag is refused. */
export const LOOP_HEADER = 'X-Service-Loop'

/** Header fields → the header facts of a mail record. The first of several From, Subject or Message-ID fields counts;
 *  missing ones are ''. Subject and Message-ID are cut to KEPT_CHARACTERS. */
export function headOf(fields: readonly HeaderField[]): MailHead {
  const all = (key: string) => fields.filter((field) => field.key === key).map(({ value }) => value)
  const first = (key: string) => fields.find((field) => field.key === key)?.value
  const fromHeader = first('from') ?? ''
  return {
    from: firstAddress(fromHeader) ?? '',
    fromHeader: decodeWords(fromHeader),
    subject: cutText(decodeWords(first('subject') ?? ''), KEPT_CHARACTERS),
    messageId: cutText(first('message-id') ?? '', KEPT_CHARACTERS),
    hops: all('received').length,
    answers: answersOf(first('in-reply-to') ?? '', first('references') ?? ''),
    autoSubmitted: isAutoReply(fields) || fields.some(({ key, value }) => LIST_MARKS.get(key)?.test(value)),
    loop: all(LOOP_HEADER.toLowerCase()).join('\n') || null,
  }
}

/** RFC 2919, RFC 2369 §3.4, and an old custom; a report of a mail server (RFC 6522). */
const LIST_MARKS: ReadonlyMap<string, RegExp> = new Map([
  ['list-id', /\S/],
  ['list-post', /\S/],
  ['precedence', /^list$/i],
  ['content-type', /^multipart\/report\b/i],
])

const MESSAGE_ID = /<[^<>\s]{1,900}>/g
/** Header text that is searched: 20 IDs of usual length many times over. */
const MOST_CHARACTERS = 20_000

function answersOf(inReplyTo: string, references: string): string[] {
  const direct = inReplyTo.slice(0, MOST_CHARACTERS).match(MESSAGE_ID) ?? []
  const thread = references.slice(-MOST_CHARACTERS).match(MESSAGE_ID) ?? []
  return [...new Set([...direct, ...thread.toReversed()])].slice(0, MOST_ANSWERED)
}
