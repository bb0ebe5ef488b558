import { z } from 'zod'
import { nearest } from '../../config/suggest.ts'
import { parseMailbox } from '../../mail/address.ts'
import { hasAtMost } from '../../mail/cut-text.ts'
import { EVENT_TYPES } from '../../model/event.ts'
import type { FieldFault } from '../../model/refusal.ts'
import { hasInvisible } from '../../net/visible-text.ts'
import { EMAIL, ENDPOINT_URL, SEEN, TIME } from './patterns.ts'

// Messages of the checks in this file are predicates. `check` puts the field's name before them: `url must be …`.

/** Query parameters of a list: `limit` from 1 to 100, default 25, and `cursor`. Spread them into the query's strict
 *  object. */
export const pageFields = {
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, 'must be a number from 1 to 100')
    .transform(Number)
    .default(25)
    .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: 100, default: 25 }),
  cursor: characters(200).optional().describe('`next_cursor` of the previous page.'),
}

/** Schema of a time: an ISO 8601 date, or date and time with offset, becomes ms UTC. A date means midnight UTC. */
export const isoTime = z
  .string()
  .transform((text, context) => {
    const at = parseIsoTime(text)
    if (at !== null) return at
    context.addIssue({ code: 'custom', message: 'must be an ISO 8601 time such as 2026-11-21T07:30:00Z' })
    return z.NEVER
  })
  .meta({ ...TIME, id: 'Time', description: 'ISO 8601 with offset, or a date, meaning midnight UTC.' })

/** The type of an event. */
export const eventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' })

/** Query parameters `created_after` (inclusive) and `created_before` (exclusive), each parsed to ms UTC or absent. */
export const timeFields = {
  created_after: isoTime.optional().describe('Inclusive; ISO 8601.'),
  created_before: isoTime.optional().describe('Exclusive; ISO 8601.'),
}

/** Schema of the query of a list whose only filter is time. */
export const recordsQuery = z.strictObject({ ...pageFields, ...timeFields })

/** Parsed timeFields → time range for the store; null where a parameter is absent. */
export function timeRange(query: { created_after?: number | undefined; created_before?: number | undefined }) {
  return { createdAfter: query.created_after ?? null, createdBefore: query.created_before ?? null }
}

/** Schema of an address without a display name, whose domain becomes a lower-case A-label: `ann@xn--exmple-cua.com` for
 *  `ann@Exämple.com`. */
export const emailAddress = z
  .string()
  .transform((text, context) => {
    const mailbox = parseMailbox(text)
    if (mailbox !== null && mailbox.name === null) return mailbox.address
    context.addIssue({ code: 'custom', message: 'must be an email address' })
    return z.NEVER
  })
  .meta({
    ...EMAIL,
    id: 'EmailAddress',
    description:
      'An address without a display name: `ann@example.com`. Internationalized addresses are accepted (RFC 6531).',
  })

/** Schema of a name with 1 to `max` visible characters, not blank. Bidirectional controls are rejected, because they
 *  could make it look like another name. */
export function label(max: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => hasAtMost(text, max), `must have at most ${max} characters`)
    .refine((text) => !hasInvisible(text), UNSEEN)
    .refine((text) => text.trim() !== '', 'must not be blank')
    .meta({ ...SEEN, maxLength: max })
}

/** Schema of a text of at most `max` code points, the unit of JSON Schema: most emoji count as one. */
export function characters(max: number, text: z.ZodString = z.string()) {
  return text
    .refine((text) => hasAtMost(text, max), `must have at most ${max.toLocaleString('en')} characters`)
    .meta({ maxLength: max })
}

/** A domain in a filter; domain-names.ts finds the ID. */
export const domainIdOrName = characters(254).describe('ID or name of a domain.')

/** Name of a stream in a filter, configured or not. */
export const streamName = characters(32, z.string().min(1))

/** Schema of an endpoint URL. `checkUrl` returns why the URL is rejected, or null (checkWebhookUrl in
 *  net/webhook-url.ts). */
export function endpointUrl(checkUrl: (url: string) => string | null) {
  return z
    .string()
    .superRefine((text, context) => {
      const reason = checkUrl(text)
      if (reason !== null) context.addIssue({ code: 'custom', message: `is not accepted: ${reason}` })
    })
    .meta(ENDPOINT_URL)
}

/** Schema of `grace_period_minutes`, for rotating an API key or a webhook secret: 0 to 10,080 (one week), default
 *  60. */
export const graceMinutes = z
  .number()
  .int()
  .min(0)
  .max(10_080)
  .default(60)
  .describe('How long the old value stays valid.')

/** First and last time with a four-digit year, in ms UTC. All times in requests and responses are in this range. */
export const FIRST_TIME = Date.parse('0000-01-01T00:00:00Z')
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** ISO 8601 date, or date and time with offset → ms UTC. Digits beyond milliseconds are cut off. Null for any other
 *  text and for a year outside 0000 to 9999. Never throws. */
export function parseIsoTime(text: string): number | null {
  const match = ISO_TIME.exec(text)
  if (match === null) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > lastDay) return null
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3)
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}${offset.toUpperCase()}`)
  return at >= FIRST_TIME && at <= LAST_TIME ? at : null
}

/** Schema and value → parsed value, or the first fault of each of the first 100 invalid fields. Field names have the form
 *  `attachments[0].content`. Each unknown field is a fault of its own. `root` is the name for faults of the whole
 *  value; if it is `query`, messages say "parameter" instead of "field". Never throws. */
export function check<T>(schema: z.ZodType<T>, value: unknown, root: string): Checked<T> {
  const result = schema.safeParse(value, { error: wording })
  if (result.success) return { value: result.data, faults: null }
  const named = new Set<string>()
  const isFirst = ({ field }: FieldFault) => !named.has(field) && named.add(field)
  const faults: FieldFault[] = []
  for (const issue of result.error.issues) {
    if (faults.length >= MOST_FAULTS) break
    faults.push(...faultsOf(issue, [], { schema, root }).filter(isFirst))
  }
  return { value: null, faults: faults.slice(0, MOST_FAULTS) }
}

/** Faults that a response lists. */
export const MOST_FAULTS = 100

/** Result of check: either `value` or `faults` is null. */
export type Checked<T> = { value: T; faults: null } | { value: null; faults: FieldFault[] }

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/

const UNSEEN = 'must not contain control, bidirectional or invisible characters'

type Path = readonly PropertyKey[]

/** Issue of one of zod's own checks → its message, as a predicate. Undefined for checks of this file, which have their
 *  own message. */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${NOUNS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      if (issue.input === undefined) return 'is required'
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'has the wrong type or structure'
    case 'too_small':
      return `must ${sizeWord(issue.origin)} at least ${issue.minimum}${unitOf(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${sizeWord(issue.origin)} at most ${issue.maximum}${unitOf(issue.origin, issue.maximum)}`
    default:
      return undefined
  }
}

const NOUNS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const sizeWord = (origin: string) => (origin === 'string' || origin === 'array' ? 'have' : 'be')

function unitOf(origin: string, count: number | bigint): string {
  if (origin === 'string') return count === 1 ? ' character' : ' characters'
  if (origin === 'array') return count === 1 ? ' entry' : ' entries'
  return ''
}

function faultsOf(issue: z.core.$ZodIssue, before: Path, value: { schema: z.ZodType; root: string }): FieldFault[] {
  const { schema, root } = value
  const path = [...before, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, path)
    return issue.keys.slice(0, MOST_FAULTS).map((key, at) => {
      const field = fieldName([...path, key]) || root
      return { field, message: unknownName(field, root, at < MOST_SUGGESTIONS ? meantBy(key, known) : null) }
    })
  }
  if (issue.code === 'invalid_union') {
    const branch = closestBranch(issue.errors)
    if (branch !== null) return branch.flatMap((inner) => faultsOf(inner, path, value))
  }
  return [fault(path, issue.message, root)]
}

/** An unknown name → the known one to suggest, or null. Compares it in the case of the API: `requireTLS` and `Require-Tls`
 *  as `require_tls`, and `template` as `template_id`. */
function meantBy(name: string, known: readonly string[]): string | null {
  const words = name.slice(0, LONGEST_NAME + 1).replace(/([a-z0-9])([A-Z])/g, '$1_$2')
  const plain = words.replaceAll('-', '_').toLowerCase()
  return known.includes(`${plain}_id`) ? `${plain}_id` : nearest(plain, known)
}

/** Message for an unknown name. `meant` is the known name to suggest, or null. `root` as in check. */
export function unknownName(name: string, root: string, meant: string | null): string {
  const message = `Unknown ${root === 'query' ? 'parameter' : 'field'} "${name}".`
  return meant === null ? message : `${message} Did you mean "${meant}"?`
}

/** Schema and path → names of the fields that the object at this path can have, in all variants of a union. Empty if
 *  there is no object. */
function fieldsAt(schema: z.core.$ZodType, path: Path): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const [part, ...rest] = path
  switch (def.type) {
    case 'object':
      if (part === undefined) return Object.keys(def.shape)
      return Object.entries(def.shape).flatMap(([name, field]) => (name === part ? fieldsAt(field, rest) : []))
    case 'array':
      return part === undefined ? [] : fieldsAt(def.element, rest)
    case 'union':
      return def.options.flatMap((option) => fieldsAt(option, path))
    case 'pipe':
      return fieldsAt(def.in, path)
    case 'optional':
    case 'nullable':
    case 'default':
      return fieldsAt(def.innerType, path)
    default:
      return []
  }
}

const MOST_SUGGESTIONS = 10 // each compares the unknown name with every known one

/** Faults of each variant of a union → those of the variant that the caller probably meant: of those that do not fail on
 *  their type, the first one with the fewest fields that must be null in it. Null if all fail. */
function closestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | null {
  const fits = (issues: readonly z.core.$ZodIssue[]) => {
    const first = issues[0]
    return first !== undefined && (first.path.length > 0 || !TYPE_FAULTS.has(first.code))
  }
  const foreignIn = (issues: readonly z.core.$ZodIssue[]) =>
    issues.filter((issue) => issue.code === 'invalid_type' && issue.expected === 'null').length
  return branches.filter(fits).sort((a, b) => foreignIn(a) - foreignIn(b))[0] ?? null
}

const TYPE_FAULTS = new Set(['invalid_type', 'invalid_value'])

function fault(path: Path, message: string, root: string): FieldFault {
  const field = fieldName(path) || root
  const isSentence = message.startsWith(field) || /^[A-Z`]/.test(message)
  return { field, message: isSentence ? message : `${field} ${message}` }
}

function fieldName(path: Path): string {
  let name = ''
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`
    else name += name === '' ? shown(part) : `.${shown(part)}`
  }
  return name
}

/** A name as shown in a message. An unknown name can be as long as the request body, so long names are shortened. */
function shown(part: PropertyKey): string {
  const text = String(part)
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME).toWellFormed()}…` : text
}

const LONGEST_NAME = 100
