import { decodeWords, type HeaderField } from '../../mail/header-fields.ts'
import type { Metadata } from '../../model/message.ts'
import { TRANSACTIONAL } from '../../model/message.ts'
import { type FieldFault, invalid } from '../../model/refusal.ts'
import {
  idempotencyKeyFault,
  isMetadata,
  MAX_TAGS,
  metadataFaults,
  streamFault,
  tagFault,
} from '../../sending/submission/checks.ts'

/** Options that API callers pass beside the mail, read from headers for SMTP clients. */
export interface ServiceHeaders {
  /** `X-Service-Tags: receipt, shop` */
  tags: string[]
  /** `X-Service-Metadata: {"order": "o-17"}` */
  metadata: Metadata
  /** `X-Service-Idempotency-Key`; null if absent. */
  idempotencyKey: string | null
  /** `X-Service-Unsubscribe: yes`; off by default. */
  unsubscribe: boolean
  /** `X-Service-Stream: bulk`; the transactional one by default. */
  stream: string
  /** `X-Service-Replies: support`, ID or name of an inbound route; null if absent. */
  replies: string | null
}

/** Refusals name this header. */
export const IDEMPOTENCY_HEADER = 'X-Service-Idempotency-Key'

/** Header fields → the values of our own fields, encoded words decoded; defaults for missing ones. Throws
 *  `validation_error` by the rules of the API (sending/submission/checks.ts) and for duplicates. Unknown `X-Service-…` fields
 *  are ignored. */
export function readServiceHeaders(fields: readonly HeaderField[]): ServiceHeaders {
  const faults: FieldFault[] = []
  const refuse = (field: string, fault: string | null) => fault && faults.push({ field, message: `${field} ${fault}` })
  const read = (name: string): string | null => {
    const found = fields.filter(({ key }) => key === name.toLowerCase())
    if (found.length > 1) refuse(name, 'must appear only once')
    return found[0] === undefined ? null : decodeWords(found[0].value)
  }

  const tags = tagsOf(read(TAGS) ?? '')
  if (tags.length > MAX_TAGS) refuse(TAGS, `must contain at most ${MAX_TAGS} tags`)
  else for (const [index, tag] of tags.entries()) refuse(`${TAGS}[${index}]`, tagFault(tag))

  const given = parsed(read(METADATA) ?? '{}')
  const metadata = isMetadata(given) ? given : {}
  if (given === NOT_JSON) refuse(METADATA, 'must be a JSON object')
  else for (const { key, fault } of metadataFaults(given)) refuse(key === null ? METADATA : `${METADATA}.${key}`, fault)

  const idempotencyKey = read(IDEMPOTENCY_HEADER)
  if (idempotencyKey !== null) refuse(IDEMPOTENCY_HEADER, idempotencyKeyFault(idempotencyKey))

  const unsubscribe = YES_OR_NO.get((read(UNSUBSCRIBE) ?? 'no').trim().toLowerCase())
  if (unsubscribe === undefined) refuse(UNSUBSCRIBE, 'must be yes or no')

  const stream = (read(STREAM) ?? TRANSACTIONAL).trim()
  refuse(STREAM, streamFault(stream))

  const replies = read(REPLIES)?.trim() ?? null
  if (replies !== null && (replies === '' || replies.length > MAX_ROUTE_NAME))
    refuse(REPLIES, `must have 1 to ${MAX_ROUTE_NAME} characters`)
  if (replies !== null && fields.some(({ key }) => key === 'reply-to'))
    refuse(REPLIES, 'cannot be combined with Reply-To')

  if (faults.length > 0) throw invalid(faults)
  return { tags, metadata, idempotencyKey, unsubscribe: unsubscribe === true, stream, replies }
}

const TAGS = 'X-Service-Tags'
const METADATA = 'X-Service-Metadata'
const STREAM = 'X-Service-Stream'
const REPLIES = 'X-Service-Replies'
const UNSUBSCRIBE = 'X-Service-Unsubscribe'
const MAX_ROUTE_NAME = 255
const YES_OR_NO = new Map([
  ['yes', true],
  ['no', false],
])
const NOT_JSON = Symbol('not JSON')

function tagsOf(value: string): string[] {
  const tags = value.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return NOT_JSON
  }
}
