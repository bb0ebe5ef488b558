/** Requests that match the OpenAPI document, over the socket to every operation with a body or a query. Such a
 *  request is refused as invalid only for reasons that no schema can express (CANNOT_SAY). Each response is
 *  documented, none is a 5xx. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkDomainName } from '../../src/domains/name.ts'
import { parseMailbox, toALabel } from '../../src/mail/address.ts'
import { aliasFault } from '../../src/model/template.ts'
import { canonicalNetwork } from '../../src/net/ip.ts'
import * as checks from '../../src/sending/submission/checks.ts'
import * as patterns from '../../src/web/api/patterns.ts'
import { parseIsoTime } from '../../src/web/api/schema.ts'
import { type ContractServer, startContractServer } from '../api/contract-server.ts'
import { readDocument } from '../support/documented.ts'
import { textOf } from '../support/event-stream.ts'
import { type FittingRequest, fittingRequests, TEXTS } from './fitting-request.ts'
import type { Json } from './json-schema.ts'
import { runs } from './runs.ts'

let setup: ContractServer
let read: ReturnType<typeof readDocument>
let running: Timer
let operator: Record<string, string>
const lasting = new Set<string>()
/** The last id of each kind in a response. */
const known = new Map<string, string>()
const counted = new Map<string, number>()

beforeAll(async () => {
  setup = await startContractServer()
  operator = await setup.signIn()
  read = readDocument(await (await fetch(`${setup.origin}/openapi.json`)).json())
  running = setInterval(() => void setup.clock.advance(500), 5) // for streams that end by the clock
  const keys = await ask({
    id: '',
    method: 'GET',
    path: '/v1/api-keys?limit=100',
    body: undefined,
    isForOperator: false,
  })
  for (const id of [...idsIn(keys.text), setup.domain.id, setup.organizationId]) lasting.add(id)
  known.clear()
  for (const { id, method, path, operation } of read.operations) {
    const body = operation.requestBody?.content['application/json'].example
    if (method !== 'POST' || path.includes('{') || body === undefined || id.startsWith('domains')) continue
    const text = JSON.stringify(body).replaceAll(/dom_[0-9a-z]{26}/g, setup.domain.id)
    await ask({ id, method, path, body: JSON.parse(text), isForOperator: operation['x-permission'] === 'operator' })
  }
})
afterAll(async () => {
  clearInterval(running)
  await setup.close()
})

const ID = /\b[a-z]{3}_[0-9a-z]{26}\b/g
const idsIn = (text: string) => text.match(ID) ?? []

/** `§msg§` → an id. A domain in a body is the one of the key, elsewhere one that may be changed. */
function filled(text: string, isPath: boolean): string {
  return text.replace(/§(\w+)§/g, (_, kind: string) => {
    if (kind === 'dom' && !isPath) return setup.domain.id
    return known.get(kind) ?? `${kind.slice(0, 3)}_01m7ykx6js1zy8zpzy8z8cwhzy`
  })
}

async function ask({ id, method, path, body, isForOperator }: FittingRequest) {
  const headers = new Headers(isForOperator ? operator : { authorization: `Bearer ${setup.keys.live}` })
  const text = body === undefined ? undefined : filled(JSON.stringify(body), false)
  if (text !== undefined) headers.set('content-type', 'application/json')
  const response = await fetch(`${setup.origin}${filled(path, true)}`, { method, headers, body: text })
  const answered = { status: response.status, headers: response.headers, text: await textOf(response) }
  if (!id.startsWith('audit')) {
    for (const found of idsIn(answered.text).slice(0, 8)) if (!lasting.has(found)) known.set(found.slice(0, 3), found)
  }
  return { ...answered, sent: text, fault: read.faultIn(method, new URL(response.url).pathname, answered) }
}

/** One fault of a refused request, and its value. */
interface Reported {
  id: string
  field: string
  message: string
  value: Json
}

const says = (what: RegExp) => (reported: Reported) => what.test(reported.message)
const ADDRESS =
  /must be (?:one address such as|an email address|a pattern such as|a domain name such as|a host under)|Enter a domain such as/

/** Drawn less than once in 5,000 requests. */
const LOCALES = 'one locale in two spellings'
/** Not in every series of 5,000 requests. */
const RARE = new Set([LOCALES, 'which names the public registers', 'the grammar of unsubscribe headers'])

/** Why a matching request may still be refused as invalid. Reasons that a schema can express do not belong here. */
const CANNOT_SAY: [why: string, is: (reported: Reported) => boolean][] = [
  [
    'which names IDNA allows',
    ({ message, value }) => ADDRESS.test(message) && /[^\x00-\x7f]|xn--/i.test(domainOf(value)),
  ],
  ['the bytes of an address: 64, 254 and 998', ({ message, value }) => ADDRESS.test(message) && isLong(value)],
  ['the bytes of a text', ({ message, value }) => /at most \d+ bytes/.test(message) && /[^\x00-\x7f]/.test(`${value}`)],
  ['the bytes and levels of an object', says(/bytes of JSON|must have at most 20 levels/)],
  [
    'invisible tags beyond the 16 bits that every pattern can name',
    ({ value }) => /[\u{e0000}-\u{e007f}]/u.test(`${value}`),
  ],
  ['equality without case', says(/(?:^|\.)headers\..* must appear only once$/)],
  [
    'which instant a time with an offset is: one of the years 0 to 9999',
    ({ message, value }) => /ISO 8601/.test(message) && !isWithinYears(value),
  ],
  ['which streams the config names', says(/^stream must be one of/)],
  ['the relation of a time to the present', says(/must be in the future|must be at most 30 days ahead/)],
  ['the relation of two times', says(/must be later than from|must be at most \d+ \w+ apart/)],
  [
    'rules over several fields',
    says(
      /^Provide html(?:,| or) (?:MJML or )?text|^subject is required|combined with html or text|must be absent or null when html is present|requires template_id|^replies cannot be combined with reply_to|^reply_to_name requires replies|Provide either csv|^expected either stream or tag|^group_by \w+ cannot be combined|^role (?:is required|requires X-Organization)/,
    ),
  ],
  ['the sum over to, cc and bcc', says(/must have at most 50 recipients|must contain at most 50 addresses/)],
  [
    'which resources exist',
    says(
      /does not match any (?:domain|configured plan|template|stored event)|must be one of free, starter|is not a domain of this organization|does not exist for this template|is not a target of this route|^replies (?:must be the ID or name|is the name of several|leads to)/,
    ),
  ],
  ['which cursors were issued', says(/^cursor is invalid for this list|^This cursor belongs to a list/)],
  ['the domain of the record', ({ id, field }) => field === 'tracking.host' && /^domains_/.test(id)],
  ['which names the public registers', says(/not a public suffix/)],
  ['which addresses are public', says(/is not a public address$/)],
  ['which files can be downloaded', says(/^attachments\[\d+\]\.url cannot be downloaded: no network$/)],
  [
    'URLs by the rules of browsers',
    ({ field, message }) =>
      /^(?:url|action\.config\.url|attachments\[\d+\]\.url) is not accepted: the URL is not valid$/.test(message) ||
      (field === 'target' && /must be a host such as/.test(message)),
  ],
  [
    'networks of IPv6: there is a format for one address only',
    ({ message, value }) => /an IP address or a network/.test(message) && `${value}`.includes(':'),
  ],
  ['the grammar of templates and of MJML', says(/is not a valid template|is not valid MJML/)],
  ['the method of a calendar', says(/^calendar\.method must be the METHOD|^calendar\.method is required unless/)],
  ['the grammar of unsubscribe headers', says(/^headers\.list-unsubscribe(?:-post)? (?:must be|requires|is set by)/i)],
  ['which layouts and partials exist', says(/there is no (?:layout|partial) with the alias/)],
  ['what a layout and a partial cannot have', says(/must be null (?:for a (?:layout|partial)|with a layout)/)],
  [LOCALES, says(/language tags such as de or pt-BR, each once/)],
]

const domainOf = (value: Json) => `${value}`.slice(`${value}`.lastIndexOf('@') + 1)

function isLong(value: Json): boolean {
  const address = /<([^<]*)>\s*$/.exec(`${value}`)?.[1] ?? `${value}`.trim()
  const local = address.slice(0, address.lastIndexOf('@'))
  // Dots that require quotes add two bytes.
  const bytes = Buffer.byteLength(local) + (/^\.|\.\.|\.$/.test(local) ? 2 : 0)
  return Buffer.byteLength(`${value}`) > 998 || Buffer.byteLength(address) > 254 || bytes > 64
}

function isWithinYears(value: Json): boolean {
  const at = Date.parse(`${value}`.replace(/(\.\d{3})\d+/, '$1').toUpperCase())
  return at >= Date.parse('0000-01-01T00:00:00Z') && at <= Date.parse('9999-12-31T23:59:59.999Z')
}

/** `attachments[0].content` → its value in the request. */
function valueAt(field: string, { body, path }: FittingRequest): Json {
  const query = Object.fromEntries(new URL(path, 'http://x').searchParams)
  if (body === undefined || !(field.split(/[.[]/)[0]! in body)) return query[field]
  const parts = field.startsWith('headers.') ? ['headers', field.slice(8)] : field.split(/[.[\]]+/).filter(Boolean)
  return parts.reduce((found, part) => found?.[part], body)
}

test('a request that matches the document is refused only for reasons that no schema can express', async () => {
  const operations = read.operations.filter(
    ({ path, operation }) =>
      path.startsWith('/v1/') &&
      (operation.requestBody || operation.parameters.some((each: Json) => each.in === 'query')),
  )
  const used = new Set<string>()
  const run = fc.asyncProperty(fittingRequests(operations, read.deref), async (request) => {
    const { id } = request
    counted.set(id, (counted.get(id) ?? 0) + 1)
    const { status, text, fault, sent } = await ask(request)
    // Of the runtime, before the body is read: a batch may fit the document and be larger than this server accepts.
    if (status === 413 && text === '') return
    if (fault !== null || status >= 500)
      throw new Error(`${fault ?? status}`.slice(0, 800), { cause: text.slice(0, 800) })
    if (status !== 400 && status !== 422) return
    const { error } = JSON.parse(text)
    if (error.code !== 'validation_error') return
    for (const { field, message } of error.errors ?? [{ field: error.field, message: error.message }]) {
      const reason = CANNOT_SAY.find(([, is]) => is({ id, field, message, value: valueAt(field, request) }))
      if (reason === undefined) throw new Error(`${id} fits and is refused: ${message}`, { cause: sent?.slice(0, 800) })
      used.add(reason[0])
    }
  })
  await fc.assert(run, runs<[FittingRequest]>({ target: 'fitting', property: 'requests' }, 5_000, 59))
  expect(operations.filter(({ id }) => !counted.has(id)).map(({ id }) => id)).toEqual([])
  expect(CANNOT_SAY.filter(([why]) => !RARE.has(why) && !used.has(why)).map(([why]) => why)).toEqual([])
})

/** Keywords of the document, and the check that each represents. Not those of URLs: browsers accept much that looks
 *  like no URL, and so does the check. */
const CHECKS: Record<string, [said: Json, isAllowed: (text: string) => boolean]> = {
  MAILBOX: [patterns.MAILBOX, (text) => Buffer.byteLength(text) <= 998 && parseMailbox(text) !== null],
  EMAIL: [patterns.EMAIL, (text) => parseMailbox(text)?.name === null],
  DOMAIN: [patterns.DOMAIN, (text) => toALabel(text) !== null],
  HOST: [patterns.HOST, (text) => 'name' in checkDomainName(text)],
  TIME: [patterns.TIME, (text) => parseIsoTime(text) !== null],
  SUBJECT: [patterns.SUBJECT, (text) => checks.subjectFault(text) === null],
  BODY: [patterns.BODY, (text) => checks.bodyFault(text) === null],
  SEEN: [patterns.SEEN, (text) => checks.tagFault(text) === null],
  HEADER_NAME: [patterns.HEADER_NAME, (text) => checks.headerNameFault(text) === null],
  HEADER_VALUE: [patterns.HEADER_VALUE, (text) => checks.headerValueFault(text) === null],
  FILENAME: [patterns.FILENAME, (text) => checks.filenameFault(text) === null],
  CONTENT_TYPE: [patterns.CONTENT_TYPE, (text) => checks.contentTypeFault(text) === null],
  CONTENT_ID: [patterns.CONTENT_ID, (text) => checks.contentIdFault(text) === null],
  ALIAS: [patterns.ALIAS, (text) => aliasFault(text) === null],
  NETWORK: [patterns.NETWORK, (text) => canonicalNetwork(text) !== null],
}

test('no pattern of the document refuses what its check allows, with or without Unicode mode', async () => {
  const text = fc.oneof(
    fc.constantFrom(...TEXTS),
    fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...TEXTS), fc.nat()).map(([base, put, at]) => {
      const cut = at % (base.length + 1)
      return base.slice(0, cut) + put.slice(0, 1 + (at % 3)) + base.slice(cut)
    }),
  )
  const allowed = new Map<string, number>()
  const run = fc.property(fc.constantFrom(...Object.keys(CHECKS)), text, (name, each) => {
    const [{ pattern, maxLength = Number.POSITIVE_INFINITY }, isAllowed] = CHECKS[name]!
    if (!each.isWellFormed() || !isAllowed(each)) return
    allowed.set(name, (allowed.get(name) ?? 0) + 1)
    expect([name, each, [...each].length <= maxLength]).toEqual([name, each, true])
    for (const flags of ['', 'u']) {
      expect([name, each, new RegExp(pattern, flags).test(each)]).toEqual([name, each, true])
    }
  })
  fc.assert(run, runs<[string, string]>({ target: 'fitting', property: 'patterns' }, 60_000, 67))
  expect(Object.keys(CHECKS).filter((name) => !allowed.has(name))).toEqual([])
})
