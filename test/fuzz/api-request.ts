import fc from 'fast-check'
import type { Documented, readDocument } from '../support/documented.ts'

/** Requests generated from the OpenAPI document: mostly valid, some nearly valid, some arbitrary. */
export interface ApiRequest {
  id: string
  method: string
  /** With its query. `§msg:3§`, here and in the body, is an id from a previous response: the fourth last of
   *  messages. */
  path: string
  headers: Record<string, string>
  body: string | null
  key: 'live' | 'test' | 'unverified' | 'send' | 'read' | 'poor' | 'none'
}

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

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
  template_id: 'tpl',
  inbound_message_id: 'inb',
  id_or_email: 'sup',
  actor_id: 'key',
  resource_id: 'whk',
}

const words = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\u202e',
    '\r\nX: y',
    '%',
    '%00',
    '../..',
    "' or 1=1 --",
    '{{ x }}',
    '{% for i in (1..9999999) %}',
    'x'.repeat(5_000),
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'null',
    'true',
    '-1',
    '1e999',
    'NaN',
    '[]',
    '*',
    '"',
    '(',
    'a OR b',
    'a* NEAR b',
    '"a',
  ),
)
const address = fc.oneof(
  fc.constantFrom(
    'ann@customer.example',
    'bounce@customer.example',
    'defer@customer.example',
    'click@customer.example',
    'a@example.com',
  ),
  fc.constantFrom(
    'Ann <ann@customer.example>',
    '"a b"@customer.example',
    'ü@customer.example',
    'a@b\u00fccher.example',
    'a@[127.0.0.1]',
    'a@localhost',
    '<>',
    '@',
    'a@b@c',
    `${'x'.repeat(64)}@customer.example`,
    `a@${'x'.repeat(70)}.example`,
  ),
)
const time = fc.oneof(
  fc.constantFrom(
    '2026-11-21T12:00:00Z',
    '2026-11-22',
    '2026-11-22T12:00:00+14:00',
    '2026-11-21T00:00:00.123456789Z',
    '2026-02-30',
    '9999-12-31',
    '0000-01-01',
    '-1',
    '2026-11-22T25:00:00Z',
    '1e3',
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
)
const url = fc.constantFrom(
  'https://hooks.example.com/x',
  'http://hooks.example.com',
  'https://127.0.0.1/',
  'https://u:p@x.example/',
  'https://[::1]/',
  'https://xn--a.example',
  'https://x.example:99999/',
  'javascript:alert(1)',
  `https://x.example/${'y'.repeat(3_000)}`,
  '//x',
)
const text = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'Hi {{ name }}',
      '<p>Hi</p>',
      '<a href="https://example.com/">x</a>',
      '%unsubscribe_url%',
      '{% if a %}{{ a | upcase }}{% endif %}',
      '{{ a.b.c | default: 1 }}',
      '{% for i in a %}{{ i }}{% endfor %}',
      '{{',
    ),
  },
  { weight: 1, arbitrary: words },
)
/** Typical values of a text field, by its name. */
const TEXT_OF: Record<string, fc.Arbitrary<string>> = {
  from: fc.oneof(fc.constantFrom('a@example.com', 'Shop <a@example.com>', 'a@other.example', '2026-11-01'), address),
  to: fc.oneof(address, time),
  cc: address,
  bcc: address,
  reply_to: address,
  email: address,
  value: fc.oneof(
    address,
    fc.constantFrom('example.com', 'help@example.com', '*@example.com', 'a*b*c@example.com', '**'),
  ),
  url,
  host: fc.constantFrom('links.example.com', 'https://x', 'example.com', 'other.example'),
  scheduled_at: time,
  created_after: time,
  created_before: time,
  expires_at: time,
  html: text,
  text,
  subject: text,
  content: fc.oneof(fc.base64String({ maxLength: 40 }), words),
  content_type: fc.constantFrom(
    'text/plain',
    'image/png',
    'a',
    'text/html; charset="',
    'multipart/mixed',
    'message/rfc822',
    'a/b\r\nc: d',
  ),
  alias: fc.oneof(fc.constantFrom('receipt', 'hello', 'tpl_x'), words),
  plan: fc.constantFrom('starter', 'free', 'enterprise', 'x'),
  cursor: fc.oneof(fc.constant('§cursor:0§'), words),
}
const NAMES_OF_DOMAINS = fc.constantFrom(
  'a.example',
  'b.example',
  'example.com',
  'new.example',
  'com',
  'b\u00fccher.example',
  'a..b',
  '127.0.0.1',
  'x'.repeat(254),
)

/** The document → requests to all its operations, and to some methods that it lacks. */
export function requestsOf(read: ReturnType<typeof readDocument>): fc.Arbitrary<ApiRequest> {
  const each = read.operations
    .filter(({ path }) => path.startsWith('/v1/'))
    .map((operation) => ({ weight: COSTLY.has(operation.id) ? 1 : 8, arbitrary: requestOf(operation, read.deref) }))
  return fc.oneof(...each)
}

/** New RSA keys. */
const COSTLY = new Set(['domains_create', 'domains_rotate_dkim'])

function requestOf(
  { id, method, path, operation }: Documented,
  deref: (value: Json) => Json,
): fc.Arbitrary<ApiRequest> {
  const parameters: Json[] = (operation.parameters ?? []).map(deref)
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const filled = inPath.map(({ name }) =>
    fc.oneof(
      { weight: 12, arbitrary: idLike(name) },
      { weight: 1, arbitrary: fc.oneof(words, address).map((part) => encodeURIComponent(part.toWellFormed()) || '-') },
    ),
  )
  const query = fc.tuple(...parameters.filter((each) => each.in === 'query').map((each) => queryOf(each, deref)))
  const schema = operation.requestBody?.content['application/json'].schema
  const example = operation.requestBody?.content['application/json'].example
  const whole =
    schema === undefined ? fc.constant(undefined) : near(schema, id.startsWith('domains') ? 'domain' : '', deref, 0)
  const body = fc.oneof(
    { weight: 10, arbitrary: whole },
    { weight: 4, arbitrary: fc.constant(example) },
    { weight: 4, arbitrary: mixed(example, whole) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  )
  const raw = fc.oneof(
    { weight: 20, arbitrary: body.map((value) => (value === undefined ? null : JSON.stringify(value))) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(body, fc.nat(), fc.constantFrom(...DAMAGE))
        .map(([value, at, put]) => damaged(JSON.stringify(value ?? null), at, put)),
    },
  )
  return fc
    .record({
      parts: fc.tuple(...filled),
      query,
      raw,
      headers: fc.oneof({ weight: 8, arbitrary: none }, { weight: 1, arbitrary: headers }),
      key: fc.constantFrom<ApiRequest['key'][]>(
        ...Array(14).fill('live'),
        'test',
        'test',
        'test',
        'test',
        'unverified',
        'send',
        'read',
        'poor',
        'none',
      ),
      method: fc.oneof(
        { weight: 60, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom('PUT', 'DELETE', 'POST', 'PATCH', 'OPTIONS') },
      ),
    })
    .map(({ parts, query: pairs, raw: text, headers: more, key, method: spoken }) => {
      let at = 0
      const search = pairs
        .flat()
        .filter((pair) => pair !== '')
        .join('&')
      return {
        id,
        method: spoken,
        path: `${path.replace(/\{\w+\}/g, () => parts[at++]!)}${search === '' ? '' : `?${search}`}`,
        headers: more,
        body: spoken === 'GET' ? null : text,
        key,
      }
    })
}

const idLike = (name: string): fc.Arbitrary<string> => {
  const known = fc.nat(5).map((back) => `§${ID_OF[name] ?? 'msg'}:${back}§`)
  if (name === 'id_or_email') return fc.oneof(known, fc.constantFrom('ann%40customer.example', 'a%40example.com'))
  if (name === 'template_id') return fc.oneof(known, known, fc.constantFrom('receipt', 'hello'))
  return known
}

/** `name=value`, twice, or nothing. */
function queryOf({ name, schema }: Json, deref: (value: Json) => Json): fc.Arbitrary<string[]> {
  const one = fc
    .oneof({ weight: 8, arbitrary: near(schema, name, deref, 2) }, { weight: 1, arbitrary: words })
    .map((value) => {
      if (typeof value === 'object' && value !== null) {
        return Object.entries(value)
          .map(([key, each]) => `${name}[${coded(key)}]=${coded(each)}`)
          .join('&')
      }
      return `${name}=${coded(value)}`
    })
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant<string[]>([]) },
    { weight: 4, arbitrary: one.map((pair) => [pair]) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        one,
        fc.constantFrom('unknown=1', `${name}=`, name, `${name}=%FF`, '&&', `${name}[x]=1`, '%'),
      ),
    },
  )
}

const coded = (value: unknown) =>
  `${value}`.startsWith('§') ? `${value}` : encodeURIComponent(`${value}`.toWellFormed())

/** A value that the schema allows; occasionally one that it does not. */
function near(schema: Json, name: string, deref: (value: Json) => Json, depth: number): fc.Arbitrary<Json> {
  const valid = allowed(deref(schema), name, deref, depth)
  return fc.oneof({ weight: 24, arbitrary: valid }, { weight: 1, arbitrary: odd })
}

const odd = fc.oneof(
  fc.constantFrom<Json[]>(null, true, 0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 63), '', [], {}, [[]], [null], { a: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
  words,
)

function allowed(schema: Json, name: string, deref: (value: Json) => Json, depth: number): fc.Arbitrary<Json> {
  if (schema === true || schema === undefined) return fc.jsonValue({ maxDepth: 2 })
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((each: Json) => near(each, name, deref, depth)))
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type: string) => allowed({ ...schema, type }, name, deref, depth)))
  }
  switch (schema.type) {
    case 'object':
      return objectOf(schema, deref, depth)
    case 'array': {
      const item = near(schema.items ?? true, name, deref, depth + 1)
      const few = fc.array(item, { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 4, 4) })
      return fc.oneof(
        { weight: 20, arbitrary: few },
        {
          weight: 1,
          arbitrary: fc
            .tuple(item, fc.constantFrom(51, 101, 501))
            .map(([one, n]) => Array(depth > 1 ? 4 : n).fill(one)),
        },
      )
    }
    case 'integer':
    case 'number': {
      const { minimum: min = -10, maximum: max = 1_000_000 } = schema
      return fc.oneof(
        fc.integer({ min: Math.ceil(min), max: Math.min(max, 2 ** 31) }),
        fc.constantFrom(min, max, min - 1, max + 1),
      )
    }
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return textLike(name)
  }
}

function textLike(name: string): fc.Arbitrary<string> {
  const fitting =
    name === 'name'
      ? fc.oneof(NAMES_OF_DOMAINS, words)
      : name in ID_OF
        ? idLike(name)
        : (TEXT_OF[name] ?? fc.constantFrom('a', 'news', 'Receipt'))
  return fc.oneof({ weight: 6, arbitrary: fitting }, { weight: 1, arbitrary: words })
}

function objectOf(schema: Json, deref: (value: Json) => Json, depth: number): fc.Arbitrary<Json> {
  const properties = Object.entries<Json>(schema.properties ?? {})
  const required = new Set<string>(schema.required ?? [])
  const fields = properties.map(([name, each]) => {
    const value = near(each, name, deref, depth + 1)
    const there = required.has(name) ? 40 : 1
    return fc.oneof(
      { weight: there, arbitrary: value.map((given) => [[name, given]]) },
      { weight: required.has(name) ? 1 : 4, arbitrary: fc.constant([]) },
    )
  })
  const extra = schema.additionalProperties
  const more = fc.array(
    fc.tuple(words, typeof extra === 'object' && depth < 3 ? near(extra, '', deref, depth + 1) : odd),
    { maxLength: 2 },
  )
  const others = extra ? more : fc.oneof({ weight: 30, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: more })
  return fc
    .tuple(fc.tuple(...fields), others)
    .map(([given, rest]) => Object.fromEntries([...given.flat(), ...rest] as [string, Json][]))
}

/** The example with some fields changed. */
function mixed(example: Json, other: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.tuple(other, fc.nat(7)).map(([value, at]) => {
    if (typeof example !== 'object' || typeof value !== 'object' || !example || !value || Array.isArray(value))
      return value
    return { ...example, ...Object.fromEntries(Object.entries(value).filter((_, n) => n % 8 === at || n % 5 === at)) }
  })
}

const DAMAGE = [
  '',
  ',',
  '{"a":1,',
  '"from":"eve@other.example",',
  '[',
  ']',
  '}',
  '1e999',
  '\\ud800',
  '\0',
  '\ufeff',
  '[['.repeat(2_000),
  '{"a":'.repeat(300),
  '"',
  '\\',
  '-',
  '"__proto__":{"x":1},',
  ' '.repeat(70_000),
]

function damaged(body: string, at: number, put: string): string {
  const from = at % (body.length + 1)
  return put === '' ? body.slice(0, from) : body.slice(0, from) + put + body.slice(from)
}

const headers = fc
  .record(
    {
      'idempotency-key': fc.constantFrom('a', 'b', 'c', 'x'.repeat(255), 'x'.repeat(256), '\xff', ' '),
      prefer: fc.constantFrom('wait=1', 'wait=30', 'wait=-1', 'wait=x', 'wait', 'respond-async, wait=2', 'wait=1;a="b'),
      'x-request-id': fc.constantFrom('mine', 'a b', '\xff', 'x'.repeat(129)),
      'content-type': fc.constantFrom(
        'text/plain',
        'application/json; charset=utf-16',
        'application/json;x',
        '',
        'multipart/form-data',
      ),
      'content-encoding': fc.constantFrom('gzip', 'identity', 'x'),
      accept: fc.constantFrom('text/html', '*/*;q=0', 'x'),
      'x-forwarded-for': fc.constantFrom('1.2.3.4', ', ,', '::1, x', 'x'.repeat(1_000)),
      authorization: fc.constantFrom('Bearer', 'Basic x', 'Bearer svc_live_x', '\xff', `Bearer ${'x'.repeat(2_000)}`),
      'if-none-match': fc.constant('*'),
      range: fc.constant('bytes=0-1'),
      expect: fc.constant('x'),
    },
    { requiredKeys: [] },
  )
  .map((all) => Object.fromEntries(Object.entries(all).filter((_, n) => n % 3 === 0)) as Record<string, string>)
const none = fc.constant<Record<string, string>>({})
