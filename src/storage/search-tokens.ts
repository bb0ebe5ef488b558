import { TRANSACTIONAL } from '../model/message.ts'
import { suppressionKey } from '../model/suppression.ts'
import type { MessageFilter } from './store.ts'

/** A word of the full text, as the unicode61 tokenizer of SQLite splits it (sqlite.org/fts5.html#unicode61_tokenizer),
 *  so that both databases find the same. The listed characters are letters here and separators there, and begin no word. */
export const WORD = /(?![\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3])[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu

/** Fields of a message that a list can filter by and that are in the search index beside its words, since a separate
 *  index of each would cost more than accepting the message. */
export interface Markable {
  senderAddress: string
  templateId: string | null
  domainId: string
  mode: string
  /** Absent: the transactional one. */
  stream?: string
  /** JSON. */
  metadata: string
  id: string
  messageIdHeader: string
}

/** Message → its tokens: short words, one per field and value. Two values may have the same token, so a match must
 *  be verified. */
export function marksOf(message: Markable): string[] {
  const { senderAddress, templateId, domainId, mode, stream = TRANSACTIONAL, metadata, id, messageIdHeader } = message
  return [
    mark('from', senderAddress),
    ...(templateId === null ? [] : [mark('template', templateId)]),
    mark('domain', domainId),
    mark('mode', mode),
    ...(stream === TRANSACTIONAL ? [] : [mark('stream', stream)]),
    // The Message-ID that Postrider makes contains the id (sending/submission/draft.ts).
    ...(messageIdHeader.startsWith(`<${id.slice('msg_'.length)}@`) ? [] : [mark('message-id', messageIdHeader)]),
    ...Object.entries<unknown>(JSON.parse(metadata)).map(([key, value]) =>
      mark('metadata', `${key}\0${typeof value === 'string' ? value : JSON.stringify(value)}`),
    ),
  ]
}

/** Filter → the tokens that all its messages have; none if it uses no such field. */
export function marksAsked(filter: MessageFilter): string[] {
  const { from, templateId, domainId, mode, metadata, id = null, messageIdHeader = null, stream = null } = filter
  if (id !== null) return []
  return [
    ...(from === null ? [] : [mark('from', suppressionKey(from))]),
    ...(templateId === null ? [] : [mark('template', templateId)]),
    ...(domainId === null ? [] : [mark('domain', domainId)]),
    ...(mode === null ? [] : [mark('mode', mode)]),
    // A transactional message has no token of its stream, because most messages are.
    ...(stream === null || stream === TRANSACTIONAL ? [] : [mark('stream', stream)]),
    ...(messageIdHeader === null ? [] : [mark('message-id', messageIdHeader)]),
    ...metadata.map(({ key, value }) => mark('metadata', `${key}\0${value}`)),
  ]
}

/** Name and value of a field → its token. CRC-32, because it is the same in every version of the runtime. */
export function mark(field: string, value: string): string {
  return Bun.hash.crc32(`${field}\0${value}`).toString(36)
}
