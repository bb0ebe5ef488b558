import fc from 'fast-check'
import type { Documented } from '../support/documented.ts'
import { fits, type Json, mergedWith } from './json-schema.ts'

/** Requests that match the OpenAPI document: each field has a value that its schema allows, up to its limits. */
export interface FittingRequest {
  id: string
  method: string
  /** With its query. `§msg§`, here and in the body, is an id of the server. */
  path: string
  body: Json
  isForOperator: boolean
}

/** The kind of id that a parameter or a field takes. */
const ID_OF: Record<string, string> = {
  message_id: 'msg',
  webhook_id: 'whk',
  route_id: 'rte',
  event_id: 'evt',
  after: 'evt',
  delivery_id: 'whd',
  domain_id: 'dom',
  key_id: 'key',
  inbound_message_id: 'inb',
  id_or_email: 'sup',
  organization_id: 'org',
  blocked_link_id: 'blk',
  session_id: 'ses',
}

/** Texts of every kind; each field gets those that match it. */
export const TEXTS: string[] = [
  ...[
    '',
    ' ',
    '\t',
    '\u00a0',
    'a',
    'A b',
    ' x ',
    'x\ny',
    'x\r\ny',
    'x\0',
    '\u202e',
    '\u200b',
    'é',
    '🎉',
    'a\u{e0041}b',
    'ａ',
    '\ud83d',
  ],
  ...[
    'a@example.com',
    'Shop <shop@example.com>',
    ' a@example.com\t',
    '"a b"@customer.example',
    "o'hara@customer.example",
  ],
  ...[
    '"Doe, Ann" <ann@customer.example>',
    '"\\"" <ann@customer.example>',
    'Ann <ann@customer.example> ',
    '<a@b.example>',
  ],
  ...[
    'ü@customer.example',
    'ann@bücher.example',
    'ann@xn--bcher-kva.example',
    'Ünal <ann@customer.example>',
    '"" <a@b.example>',
  ],
  ...[
    'ann@[192.0.2.1]',
    'ann@localhost',
    'ann@1.2.3.4',
    'ann@a.b.c.d',
    'a@b.1x',
    'ann@a_b.example',
    'ann@-a.example',
    'a..b@c.example',
  ],
  ...[
    'ann@customer.example.',
    '@b.example',
    'a@',
    'a,b@c.example',
    'a@b@c.example',
    '"a@b"@c.example',
    '" "@c.example',
    '""@c.example',
  ],
  ...[
    '=?x?q?a?=@b.example',
    '=?x?q?a?= <a@b.example>',
    'a\u200bb@c.example',
    'a\u00a0b@c.example',
    '"\\ " <a@b.example>',
    'x*y@example.com',
  ],
  `${'l'.repeat(64)}@customer.example`,
  `${'l'.repeat(65)}@customer.example`,
  `${'ü'.repeat(40)}@customer.example`,
  `a@${'x'.repeat(63)}.example`,
  `a@${'x'.repeat(64)}.example`,
  `a@${'x.'.repeat(120)}example`,
  `${'N'.repeat(900)} <ann@customer.example>`,
  `${'é'.repeat(900)} <ann@customer.example>`,
  ...[
    'a.example',
    'new.example',
    'Mail.Example.Com',
    ' b.example. ',
    'com',
    'co.uk',
    '127.0.0.1',
    'bücher.example',
    'xn--a.example',
  ],
  ...[
    'links.example.com',
    'example.com',
    'a_b.example',
    'ex ample.com',
    'ａ.example',
    'a。example',
    '-.example',
    'x.123',
    '٠.example',
  ],
  ...[
    '2026-11-21T12:00:00Z',
    '2026-11-22t01:02:03.123456789+14:00',
    '2026-11-22',
    '2026-12-01T00:00:00-00:30',
    '2026-02-30T00:00:00Z',
  ],
  ...[
    '9999-12-31T23:59:59Z',
    '9999-12-31T23:59:59-00:01',
    '0000-01-01T00:00:00Z',
    '0000-01-01T00:00:00+00:01',
    '2026-11-21T12:00Z',
  ],
  ...[
    '2026-11-21T23:59:60Z',
    '2026-11-21T24:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-11-21 12:00:00Z',
    '2026-11-21T12:00:00',
  ],
  ...[
    'https://hooks.example.com/x',
    'HTTPS://hooks.example.com?a=b#c',
    'http://hooks.example.com',
    'https://u:p@x.example/',
    'https://',
  ],
  ...[
    'https://x.example:8443/a%20b',
    'https://x.example:25/',
    'https://x.example:99999/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://a b/',
  ],
  ...[
    'https://[2001:db8::1]/',
    'https://xn--a.example/',
    'https://x.example/\\',
    'https://ü.example/',
    'https://%zz.example/',
    'evil.example',
  ],
  `https://x.example/${'y'.repeat(2_030)}`,
  `https://x.example/${'y'.repeat(2_031)}`,
  ...[
    'X-Mine',
    'x-mine',
    'From',
    'from',
    'Content-Type',
    'content-x',
    'ARC-Seal',
    'X-Service-A',
    'X:Y',
    'X Y',
    'List-Unsubscribe',
    'List-Id',
  ],
  ...[
    'text/plain',
    'text/html; charset="utf-8"',
    'application/pdf;a=b;c=d',
    'a',
    'a/b;',
    'text/html; charset="',
    'a/b\r\nc: d',
  ],
  ...['a.txt', '.', '..', '...', 'a/b', 'a\\b', 'ünïcode.pdf', 'invoice\u202efdp.exe', '<a@b>', 'a b', '<>', '<<a>>'],
  ...[
    'tpl_x',
    'receipt',
    'Receipt',
    'a-b-9',
    'tpl_01m7ykx6js1zy8zpzy8z8cwhzy',
    'tpl_01m7ykx6js1zy8zpzy8z8cwhzo',
    'x'.repeat(100),
  ],
  ...[
    '203.0.113.0/24',
    '203.0.113.7/24',
    '0.0.0.0/0',
    '1.2.3.4',
    '1.2.3.256',
    '010.1.1.1',
    '1.2.3.4/33',
    '::/0',
    '::1',
    '2001:db8::/32',
    '::ffff:1.2.3.4',
    '::1/129',
    '1:2',
    'fe80::1%a',
    ':::',
  ],
  ...[
    'starter',
    'free',
    'enterprise',
    'none',
    'email,reason\na@b.example,manual\n',
    'email\n',
    '%FF',
    'aGk=',
    'aGk',
    'a*b',
  ],
  ...[
    'Hi {{ name }}',
    '{{',
    '{% if a %}',
    '{% for i in (1..9) %}{{ i }}{% endfor %}',
    '<p>Hi</p>',
    '<b',
    '%unsubscribe_url%',
    '{{ a | nope }}',
    'BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR',
    ' begin:vcalendar \r\nEND:VCALENDAR',
  ],
]
const EDGES = ['x', 'é', '🎉', 'a ', '\u00a0x']

/** A text that matches all keywords of the schema. */
function textFor(schema: Json): fc.Arbitrary<string> {
  if (schema.contentEncoding === 'base64') {
    return fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  }
  const { minLength = 0, maxLength = 5_000 } = schema
  const edges = EDGES.flatMap((unit) =>
    [maxLength, maxLength - 1, maxLength >> 1, minLength].map((length) =>
      unit.repeat(Math.min(length, 5_000)).slice(0, unit.length * Math.min(length, 5_000)),
    ),
  )
  const numbers = ['1', '7', '2000000000']
  const good = [...TEXTS, ...edges, ...numbers].filter((text) => fits(schema, text))
  if (good.length === 0) throw new Error(`no text fits ${JSON.stringify(schema)}`)
  const known = fc.constantFrom(...good)
  const free = fc
    .tuple(
      fc.oneof(
        fc.string({ maxLength: 30 }),
        fc.string({ unit: 'grapheme', maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 12 }),
      ),
      known,
      fc.nat(),
    )
    .map(([text, base, at]) => {
      const cut = at % (base.length + 1)
      const mixed = base.slice(0, cut) + text.slice(0, 1 + (at % 4)) + base.slice(cut)
      return [text, mixed].find((each) => fits(schema, each)) ?? base
    })
  return fc.oneof({ weight: 2, arbitrary: known }, { weight: 1, arbitrary: free })
}

/** More bytes than `metadata` may have in total. */
const LARGE = 'x'.repeat(4_200)
/** More than a message may have. */
const RECIPIENTS = Array.from({ length: 60 }, (_, at) => `r${at}@customer.example`)

const template = fc.constantFrom('Hi {{ name }}', '{{', '{% if a %}', '{% for i in a %}{{ i }}{% endfor %}')
const TEMPLATES: Record<string, fc.Arbitrary<string>> = { subject: template, html: template, text: template }

/** A value that matches the schema. */
export function fitting(given: Json, name: string, deref: (value: Json) => Json, depth = 0): fc.Arbitrary<Json> {
  const schema = deref(given)
  if (schema === true || schema === undefined || Object.keys(schema).length === 0) return fc.jsonValue({ maxDepth: 2 })
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((each: Json) => fitting(mergedWith(schema, each), name, deref, depth)))
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => fitting({ ...schema, type }, name, deref, depth)))
  switch (schema.type) {
    case 'object':
      return objectFor(schema, deref, depth)
    case 'array':
      return arrayFor(schema, name, deref, depth)
    case 'integer': {
      const { minimum: min = Number.MIN_SAFE_INTEGER, maximum: max = Number.MAX_SAFE_INTEGER } = schema
      const near = fc.integer({ min: Math.max(min, -1_000_000), max: Math.min(max, 1_000_000) })
      return fc.oneof({ weight: 3, arbitrary: near }, { weight: 1, arbitrary: fc.constantFrom(min, max) })
    }
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default: {
      const text =
        name in TEMPLATES ? fc.oneof({ weight: 3, arbitrary: textFor(schema) }, TEMPLATES[name]!) : textFor(schema)
      return name in ID_OF && fits(schema, 'x'.repeat(30))
        ? fc.oneof({ weight: 6, arbitrary: fc.constant(`§${ID_OF[name]}§`) }, { weight: 1, arbitrary: text })
        : text
    }
  }
}

function arrayFor(schema: Json, name: string, deref: (value: Json) => Json, depth: number): fc.Arbitrary<Json> {
  const item = fitting(schema.items ?? true, name, deref, depth + 1)
  const { minItems = 0, maxItems = 4 } = schema
  const few = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) }
  if (schema.uniqueItems) return fc.uniqueArray(item, { ...few, comparator: 'SameValueZero' })
  const many = fc.oneof(
    fc.tuple(item, fc.constantFrom(maxItems, maxItems - 1)).map(([one, count]) => Array(count).fill(one)),
    fc.constant(RECIPIENTS.slice(0, maxItems)),
  )
  const isSmall = depth < 2 && maxItems <= 500 && fits(schema.items, RECIPIENTS[0], deref)
  return isSmall
    ? fc.oneof({ weight: 12, arbitrary: fc.array(item, few) }, { weight: 1, arbitrary: many })
    : fc.array(item, few)
}

function objectFor(schema: Json, deref: (value: Json) => Json, depth: number): fc.Arbitrary<Json> {
  const required = new Set<string>(schema.required ?? [])
  const fields = Object.entries<Json>(schema.properties ?? {}).map(([name, each]) => {
    const value = fitting(each, name, deref, depth + 1).map((given) => [[name, given]])
    if (required.has(name)) return value
    return fc.oneof({ weight: 1, arbitrary: value }, { weight: 3, arbitrary: fc.constant([]) })
  })
  const more = schema.additionalProperties
  const others =
    more === undefined || more === false
      ? fc.constant<[string, Json][]>([])
      : fc.uniqueArray(
          fc.tuple(
            textFor({ type: 'string', maxLength: 80, ...schema.propertyNames }),
            fitting(more, '', deref, depth + 1),
          ),
          { maxLength: 3, selector: ([name]) => name },
        )
  return fc.tuple(fc.tuple(...fields), others, fc.nat(9)).map(([given, rest, at]) => {
    const isLarge = at === 1 && rest.length > 0 && fits(more, LARGE, deref)
    const large = isLarge ? [[rest[0]![0], LARGE] as const] : []
    const again = at === 0 ? rest.slice(0, 1).map(([name, value]) => [name.toUpperCase(), value] as const) : []
    return Object.fromEntries([...rest, ...again, ...large, ...given.flat()] as [string, Json][])
  })
}

/** The document's operations with a body or a query → their requests. `isCostly`: rarely. */
export function fittingRequests(
  operations: readonly Documented[],
  deref: (value: Json) => Json,
): fc.Arbitrary<FittingRequest> {
  const each = operations.map((documented) => ({
    weight: weightOf(documented),
    arbitrary: requestOf(documented, deref),
  }))
  return fc.oneof(...each)
}

/** New RSA keys, and the operation with the most findings. */
function weightOf({ id, operation }: Documented): number {
  if (id === 'domains_rotate_dkim') return 1
  if (id === 'domains_create') return 6
  if (id.startsWith('messages_send') || id === 'messages_analyze') return 60
  if (id.startsWith('templates')) return 30
  return operation.requestBody === undefined ? 5 : 20
}

function requestOf(
  { id, method, path, operation }: Documented,
  deref: (value: Json) => Json,
): fc.Arbitrary<FittingRequest> {
  const parameters: Json[] = (operation.parameters ?? []).map(deref)
  const query = parameters
    .filter((each) => each.in === 'query')
    .map((each) => {
      const pair = fitting(each.schema, each.name, deref, 1).map((value) => pairOf(each, value))
      if (each.required) return pair
      return fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: pair })
    })
  const content = operation.requestBody?.content['application/json']
  return fc.tuple(fc.tuple(...query), bodyOf(content, id, deref)).map(([pairs, body]) => {
    // A longer URL is 431 from the HTTP parser below us. RFC 9110 §4.1 requires 8,000 bytes.
    const search = pairs.filter((pair) => pair !== '' && pair.length < 1_000).join('&')
    const filled = path.replace(
      /\{(\w+)\}/g,
      (_, name: string) => `§${name === 'template_id' ? 'tpl' : (ID_OF[name] ?? name)}§`,
    )
    return {
      id,
      method,
      path: search === '' ? filled : `${filled}?${search}`,
      body,
      isForOperator: operation['x-permission'] === 'operator',
    }
  })
}

/** A value by the schema, or the example with some of its fields. */
function bodyOf(content: Json, id: string, deref: (value: Json) => Json): fc.Arbitrary<Json> {
  if (content === undefined) return fc.constant(undefined)
  const schema = deref(content.schema)
  const made = fitting(schema, id.startsWith('domains') ? 'domain' : '', deref)
  if (content.example === undefined) return made
  const mixed = fc.tuple(made, fc.nat(5)).map(([value, at]) => {
    const some = Object.entries(value).filter((_, n) => n % 3 === at % 3)
    const whole = { ...content.example, ...Object.fromEntries(some) }
    return fits(schema, whole, deref) ? whole : value
  })
  return fc.oneof({ weight: 1, arbitrary: made }, { weight: 2, arbitrary: mixed })
}

function pairOf({ name, style }: Json, value: Json): string {
  if (style === 'deepObject') {
    return Object.entries(value)
      .map(([key, each]) => `${name}[${coded(key)}]=${coded(each)}`)
      .join('&')
  }
  return `${name}=${Array.isArray(value) ? value.map(coded).join(',') : coded(value)}`
}

const coded = (value: unknown) =>
  /^§\w+§$/.test(`${value}`) ? `${value}` : encodeURIComponent(`${value}`.toWellFormed())
