import { isRecord } from '../../../os/records.ts'
import type { Language } from './translate.ts'

/** A template of another service. */
export interface ForeignTemplate {
  name: string
  /** Its alias there, or its ID: what programs name when they send. */
  key: string
  isLayout: boolean
  /** Alias of its layout. */
  layout: string | null
  subject: string | null
  html: string | null
  text: string | null
  /** Variable → the value used if it is missing. */
  fallbacks: Record<string, string | number>
  sample: Record<string, unknown>
}

/** GET of a path under the service's API → its JSON. Rejects with CommandFault. */
export type GetJson = (path: string) => Promise<unknown>

/** API of a service: where it is, how a key is sent, and its templates. */
export interface Source {
  /** Null: the user names it, because it has the domain. */
  baseUrl: string | null
  /** Environment variable with the key. */
  keyName: string
  headers: (key: string) => Record<string, string>
  /** Every template with its content, at most `MOST`; null: only from an export. */
  list: ((get: GetJson) => AsyncGenerator<ForeignTemplate>) | null
  /** One record of the API, complete → template; null for one that is not a template with content. */
  read: (record: Record<string, unknown>) => ForeignTemplate | null
}

/** Templates of one import; the services allow a few hundred. */
export const MOST = 1_000

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

export const SOURCES: Record<Language, Source> = {
  resend: {
    baseUrl: 'https://api.resend.com',
    keyName: 'RESEND_API_KEY',
    headers: bearer,
    list: fromResend,
    read: readResend,
  },
  postmark: {
    baseUrl: 'https://api.postmarkapp.com',
    keyName: 'POSTMARK_SERVER_TOKEN',
    headers: (key) => ({ 'x-postmark-server-token': key }),
    list: fromPostmark,
    read: readPostmark,
  },
  sendgrid: {
    baseUrl: 'https://api.sendgrid.com',
    keyName: 'SENDGRID_API_KEY',
    headers: bearer,
    list: fromSendGrid,
    read: readSendGrid,
  },
  mailgun: {
    baseUrl: null,
    keyName: 'MAILGUN_API_KEY',
    headers: (key) => ({ authorization: `Basic ${btoa(`api:${key}`)}` }),
    list: fromMailgun,
    read: readMailgun,
  },
  // Its API takes no key, but requests that are signed with one.
  ses: { baseUrl: null, keyName: 'AWS_ACCESS_KEY_ID', headers: () => ({}), list: null, read: readSes },
}

/** Export as JSON, one record or the answer of a list → its templates. Empty if there are none. */
export function* templatesIn(json: unknown, { read }: Source): Generator<ForeignTemplate> {
  const records = Array.isArray(json) ? json : isRecord(json) ? (listIn(json) ?? [json]) : []
  for (const record of records.slice(0, MOST)) {
    const found = isRecord(record) ? read(record) : null
    if (found !== null) yield found
  }
}

/** The list in an answer: `data` of Resend, `Templates` of Postmark, `result` or `templates` of SendGrid,
 *  `items` of Mailgun. */
function listIn(answer: Record<string, unknown>): unknown[] | null {
  const found = [answer.data, answer.Templates, answer.result, answer.templates, answer.items].find(Array.isArray)
  return found ?? null
}

async function* fromResend(get: GetJson): AsyncGenerator<ForeignTemplate> {
  let after = ''
  for (let count = 0; count < MOST; ) {
    const page = await get(`/templates?limit=100${after}`)
    const ids = idsIn(page, 'id').slice(0, MOST - count)
    yield* each(get, '/templates', ids, SOURCES.resend)
    count += ids.length
    if (ids.length === 0 || !isRecord(page) || page.has_more !== true) return
    after = `&after=${encodeURIComponent(ids.at(-1)!)}`
  }
}

async function* fromPostmark(get: GetJson): AsyncGenerator<ForeignTemplate> {
  for (let offset = 0; offset < MOST; ) {
    const page = await get(`/templates?count=100&offset=${offset}&templateType=All`)
    const ids = idsIn(page, 'TemplateId').slice(0, MOST - offset)
    yield* each(get, '/templates', ids, SOURCES.postmark)
    offset += ids.length
    if (ids.length === 0 || !isRecord(page) || offset >= Number(page.TotalCount)) return
  }
}

async function* fromSendGrid(get: GetJson): AsyncGenerator<ForeignTemplate> {
  let token = ''
  for (let count = 0; count < MOST; ) {
    const page = await get(`/v3/templates?generations=dynamic&page_size=100${token}`)
    const ids = idsIn(page, 'id').slice(0, MOST - count)
    yield* each(get, '/v3/templates', ids, SOURCES.sendgrid)
    count += ids.length
    const next = nextToken(page)
    if (ids.length === 0 || next === null) return
    token = `&page_token=${encodeURIComponent(next)}`
  }
}

/** Below the address of a domain. */
async function* fromMailgun(get: GetJson): AsyncGenerator<ForeignTemplate> {
  let position = ''
  for (let count = 0; count < MOST; ) {
    const page = await get(`/templates?limit=100${position}`)
    const names = idsIn(page, 'name').slice(0, MOST - count)
    yield* each(get, '/templates', names, SOURCES.mailgun, '?active=yes')
    count += names.length
    const next = nextPosition(page)
    if (names.length === 0 || next === null) return
    position = `&page=next&p=${encodeURIComponent(next)}`
  }
}

/** The templates with these IDs, each from its own record under the path. */
async function* each(
  get: GetJson,
  path: string,
  ids: string[],
  { read }: Source,
  query = '',
): AsyncGenerator<ForeignTemplate> {
  for (const id of ids) {
    const record = await get(`${path}/${encodeURIComponent(id)}${query}`)
    const found = isRecord(record) ? read(record) : null
    if (found !== null) yield found
  }
}

/** Only the token of SendGrid's next URL: the key goes to no other host. */
function nextToken(page: unknown): string | null {
  const meta = isRecord(page) && isRecord(page._metadata) ? page._metadata : {}
  const { next } = meta
  return typeof next === 'string' && URL.canParse(next) ? new URL(next).searchParams.get('page_token') : null
}

/** Only the position in Mailgun's next URL, for the same reason. */
function nextPosition(page: unknown): string | null {
  const { next } = isRecord(page) && isRecord(page.paging) ? page.paging : {}
  return typeof next === 'string' && URL.canParse(next) ? new URL(next).searchParams.get('p') : null
}

function idsIn(page: unknown, field: string): string[] {
  const records = isRecord(page) ? (listIn(page) ?? []) : []
  return records.flatMap((record) => {
    const id = isRecord(record) ? record[field] : null
    return typeof id === 'string' || typeof id === 'number' ? [String(id)] : []
  })
}

const NONE = { isLayout: false, layout: null, subject: null, html: null, text: null, fallbacks: {}, sample: {} }

function readResend(record: Record<string, unknown>): ForeignTemplate | null {
  const key = textOf(record.alias) ?? textOf(record.id)
  const html = textOf(record.html)
  if (key === null || html === null) return null
  const variables = Array.isArray(record.variables) ? record.variables.filter(isRecord) : []
  const fallbacks = variables.flatMap(({ key, fallback_value: value }): [string, string | number][] =>
    typeof key === 'string' && (typeof value === 'string' || typeof value === 'number') ? [[key, value]] : [],
  )
  const content = { subject: textOf(record.subject), html, text: textOf(record.text) }
  return { ...NONE, ...content, name: textOf(record.name) ?? key, key, fallbacks: Object.fromEntries(fallbacks) }
}

function readPostmark(record: Record<string, unknown>): ForeignTemplate | null {
  const key = textOf(record.Alias) ?? (typeof record.TemplateId === 'number' ? String(record.TemplateId) : null)
  const [html, text] = [textOf(record.HtmlBody), textOf(record.TextBody)]
  if (key === null || (html === null && text === null)) return null
  return {
    ...NONE,
    name: textOf(record.Name) ?? key,
    key,
    isLayout: record.TemplateType === 'Layout',
    layout: textOf(record.LayoutTemplate),
    subject: textOf(record.Subject),
    html,
    text,
  }
}

/** The active version. */
function readSendGrid(record: Record<string, unknown>): ForeignTemplate | null {
  const versions = Array.isArray(record.versions) ? record.versions.filter(isRecord) : []
  const version = versions.find(({ active }) => active === 1) ?? versions[0]
  const key = textOf(record.id)
  if (key === null || version === undefined) return null
  const [html, text] = [textOf(version.html_content), textOf(version.plain_content)]
  if (html === null && text === null) return null
  const content = { subject: textOf(version.subject), html, text }
  return { ...NONE, ...content, name: textOf(record.name) ?? key, key, sample: sampleOf(version.test_data) }
}

/** The active version, which has no text of its own. */
function readMailgun(record: Record<string, unknown>): ForeignTemplate | null {
  const template = isRecord(record.template) ? record.template : record
  const version = isRecord(template.version) ? template.version : {}
  const [key, html] = [textOf(template.name), textOf(version.template)]
  if (key === null || html === null) return null
  const headers = isRecord(version.headers) ? version.headers : {}
  return { ...NONE, name: textOf(template.description) ?? key, key, html, subject: textOf(headers.Subject) }
}

/** An answer of GetEmailTemplate (version 2 of the API) or GetTemplate (version 1). */
function readSes(record: Record<string, unknown>): ForeignTemplate | null {
  const template = isRecord(record.Template) ? record.Template : record
  const content = isRecord(template.TemplateContent) ? template.TemplateContent : {}
  const key = textOf(template.TemplateName)
  const subject = textOf(content.Subject) ?? textOf(template.SubjectPart)
  const [html, text] = [
    textOf(content.Html) ?? textOf(template.HtmlPart),
    textOf(content.Text) ?? textOf(template.TextPart),
  ]
  if (key === null || (html === null && text === null)) return null
  return { ...NONE, name: key, key, subject, html, text }
}

/** JSON of the editor's test data; {} if it is none. */
function sampleOf(data: unknown): Record<string, unknown> {
  try {
    const found: unknown = typeof data === 'string' && data !== '' ? JSON.parse(data) : {}
    return isRecord(found) ? found : {}
  } catch {
    return {}
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
