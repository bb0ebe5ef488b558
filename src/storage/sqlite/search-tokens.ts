import { suppressionKey } from '../../model/suppression.ts'
import type { MessageFilter } from '../store.ts'

/** Fields of a message that a list can ask for and that stand in the search index beside its words, since an index of
 *  each would cost more than accepting the message. */
export interface Markable {
  senderAddress: string
  templateId: string | null
  domainId: string
  mode: string
  /** JSON. */
  metadata: string
}

/** A message → its marks: short words, one for each field and value. Two values may have the same mark; what was found
 *  by a mark has to be looked at. */
export function marksOf({ senderAddress, templateId, domainId, mode, metadata }: Markable): string[] {
  return [
    mark('from', senderAddress),
    ...(templateId === null ? [] : [mark('template', templateId)]),
    mark('domain', domainId),
    mark('mode', mode),
    ...Object.entries<unknown>(JSON.parse(metadata)).map(([key, value]) =>
      mark('metadata', `${key}\0${typeof value === 'string' ? value : JSON.stringify(value)}`),
    ),
  ]
}

/** A filter → the marks that all its messages have; none when nothing of it is marked. */
export function marksAsked({ from, templateId, domainId, mode, metadata }: MessageFilter): string[] {
  return [
    ...(from === null ? [] : [mark('from', suppressionKey(from))]),
    ...(templateId === null ? [] : [mark('template', templateId)]),
    ...(domainId === null ? [] : [mark('domain', domainId)]),
    ...(mode === null ? [] : [mark('mode', mode)]),
    ...metadata.map(({ key, value }) => mark('metadata', `${key}\0${value}`)),
  ]
}

/** CRC-32, because it will be the same in every version of the runtime. */
function mark(field: string, value: string): string {
  return Bun.hash.crc32(`${field}\0${value}`).toString(36)
}
