import { z } from 'zod'
import type { EndpointHeaders } from '../../../model/endpoint-headers.ts'
import { isRecord } from '../../../os/records.ts'
import {
  ASCII_LINE,
  ENDPOINT_HEADER_NAME,
  ENDPOINT_HEADER_VALUE,
  POSTED_HEADERS,
  POSTED_PREFIXES,
} from '../patterns.ts'

/** Schema of the additional headers of a webhook or an inbound route. `null` and `{}` become none. No fault contains a
 *  value, and the parsed form is a list, so that the audit log does not contain the names either. */
export const endpointHeaders = z
  .unknown()
  .transform(readHeaders)
  .meta({
    id: 'EndpointHeaders',
    type: ['object', 'null'],
    maxProperties: 10,
    propertyNames: ENDPOINT_HEADER_NAME,
    additionalProperties: { type: 'string', ...ENDPOINT_HEADER_VALUE },
    writeOnly: true,
  })

function readHeaders(headers: unknown, context: z.core.$RefinementCtx): EndpointHeaders {
  if (headers === null) return []
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
  if (!isRecord(headers)) {
    refuse([], 'must be an object')
    return z.NEVER
  }
  const entries = Object.entries(headers)
  if (entries.length > MOST_HEADERS) {
    refuse([], `must have at most ${MOST_HEADERS} entries`)
    return z.NEVER
  }
  const seen = new Set<string>()
  return entries.flatMap(([name, value]): EndpointHeaders => {
    const folded = name.toLowerCase()
    const fault = nameFault(name) ?? (seen.has(folded) ? 'must appear only once' : null) ?? valueFault(value)
    if (fault !== null) refuse([name], fault)
    seen.add(folded)
    return typeof value === 'string' ? [[name, value]] : []
  })
}

function nameFault(name: string): string | null {
  if (!TOKEN.test(name)) return 'must be a header name of 1 to 100 letters, digits and hyphens'
  const folded = name.toLowerCase().replaceAll('_', '-') // as some servers read it
  const isTaken = POSTED_HEADERS.includes(folded) || POSTED_PREFIXES.some((prefix) => folded.startsWith(prefix))
  return isTaken ? 'is a header that Postrider or the connection sets' : null
}

function valueFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string'
  if (value === '') return 'must not be empty'
  if (value.length > ENDPOINT_HEADER_VALUE.maxLength) return 'must have at most 4,096 characters'
  return ASCII_LINE.test(value)
    ? null
    : 'must be one line of ASCII without control characters, and without spaces at the ends'
}

const MOST_HEADERS = 10
/** RFC 9110 §5.6.2 */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/
