import { errorOf } from './errors.ts'
import type { SendMessage } from './types.ts'

/** The parts of nodemailer's MailMessage that the transport uses. */
export interface NodemailerMail {
  /** The options of the mail. Untyped, because the client does not depend on nodemailer. */
  data: object
  message: {
    getEnvelope(): { from: string | false; to: string[] }
    getAddresses(): object
  }
  /** Reads the files, streams and URLs of the mail. Passes the options with attachments as text or base64. */
  normalize(done: (error: Error | null, data?: object) => void): void
}

/** nodemailer mail → API message, and the idempotency key in its headers (null if none). Rejects with a
 *  `ValidationError` that names the first unsupported option, and with errors of nodemailer, for example for a missing
 *  file. */
export async function messageOf(
  mail: NodemailerMail,
): Promise<{ message: SendMessage; idempotencyKey: string | null }> {
  rejectUnsupported(mail)
  const addresses = recordOf(mail.message.getAddresses())
  const of = (name: string) => listOf(addresses[name]).map(addressText)
  const [from, ...others] = of('from')
  if (from === undefined || others.length > 0) throw rejected('from', 'must have exactly one address')
  const data = await normalized(mail)
  const { own, headers } = headersOf(data)
  const message: SendMessage = {
    from,
    to: of('to'),
    ...optional('cc', of('cc')),
    ...optional('bcc', of('bcc')),
    ...optional('reply_to', of('reply-to')),
    subject: String(data.subject ?? ''),
    ...(textOf(data.html) === '' ? {} : { html: textOf(data.html) }),
    ...(textOf(data.text) === '' ? {} : { text: textOf(data.text) }),
    ...optional('attachments', listOf(data.attachments).map(attachmentOf)),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(own.tags === undefined ? {} : { tags: own.tags.split(',').map((tag) => tag.trim()) }),
    ...(own.metadata === undefined ? {} : { metadata: metadataOf(own.metadata) }),
    ...(own.unsubscribe === undefined ? {} : { unsubscribe: own.unsubscribe.trim().toLowerCase() === 'yes' }),
    ...(own.stream === undefined ? {} : { stream: own.stream.trim() }),
    ...(own.replies === undefined ? {} : { replies: own.replies.trim() }),
  }
  return { message, idempotencyKey: own['idempotency-key'] ?? null }
}

/** nodemailer option that the API does not support → explanation in the error. */
const UNSUPPORTED: Record<string, string> = {
  raw: 'raw messages are not supported; send them over SMTP',
  envelope: 'the envelope is built from the addresses',
  sender: 'from is the sender',
  messageId: 'the server generates the Message-ID',
  date: 'the server sets the date',
  dkim: 'the server signs messages',
  alternatives: 'only html and text are supported',
  amp: 'only html and text are supported',
  watchHtml: 'only html and text are supported',
  icalEvent: 'add the calendar file as an attachment',
  dsn: 'use events to follow deliveries',
}

function rejectUnsupported({ data }: NodemailerMail): void {
  const given = recordOf(data)
  for (const [name, why] of Object.entries(UNSUPPORTED)) if (!isEmpty(given[name])) throw rejected(name, why)
  for (const [index, attachment] of listOf(given.attachments).entries()) {
    for (const name of ['raw', 'headers']) {
      if (recordOf(attachment)[name] !== undefined) throw rejected(`attachments[${index}].${name}`, 'is not supported')
    }
  }
}

function normalized(mail: NodemailerMail): Promise<Data> {
  return new Promise((resolve, reject) =>
    mail.normalize((error, data) => (error ? reject(error) : resolve(recordOf(data)))),
  )
}

/** nodemailer address → `Name <a@d>`, with the name quoted if it contains special characters (RFC 5322 §3.2.4). Without
 *  a name, the address alone. */
function addressText(given: unknown): string {
  const { name: anyName, address: anyAddress } = recordOf(given)
  const [name, address] = [textOf(anyName), textOf(anyAddress)]
  if (name === '') return address
  return /^[^()<>[\]:;@\\,"]*$/.test(name) ? `${name} <${address}>` : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`
}

const OUR_HEADERS = /^x-service-(tags|metadata|idempotency-key|unsubscribe|stream|replies)$/i

/** Options of the mail → message headers, and the values of our `X-Service-…` headers (`own`) by the rest of their
 *  name. Throws a `ValidationError` for a repeated header. */
function headersOf(data: Data): { headers: Record<string, string>; own: Record<string, string | undefined> } {
  const own: Record<string, string> = {}
  const headers: Record<string, string> = {}
  for (const [name, value] of fieldsOf(data)) {
    const ours = OUR_HEADERS.exec(name)?.[1]?.toLowerCase()
    const into = ours === undefined ? headers : own
    const key = ours ?? name
    if (Object.keys(into).some((each) => each.toLowerCase() === key.toLowerCase())) {
      throw rejected(`headers.${name}`, 'can be set only once')
    }
    into[key] = value
  }
  return { headers, own }
}

/** Headers as object or list, and options that nodemailer writes as headers → names and values. */
function fieldsOf(data: Data): [name: string, value: string][] {
  const { headers, inReplyTo, references, priority, xMailer, list, normalizedHeaders } = data
  const given: [string, unknown][] = Array.isArray(headers)
    ? headers.map(recordOf).map(({ key, value }) => [String(key), value])
    : Object.entries(recordOf(headers))
  const lists = list ? Object.entries(recordOf(normalizedHeaders)).filter(([name]) => name.startsWith('list-')) : []
  const isHigh = priority === 'high'
  const options: [string, unknown][] = [
    ['In-Reply-To', inReplyTo],
    ['References', Array.isArray(references) ? references.join(' ') : references],
    ['X-Priority', isHigh ? '1 (Highest)' : priority === 'low' ? '5 (Lowest)' : undefined],
    ['Importance', isHigh ? 'High' : priority === 'low' ? 'Low' : undefined],
    ['X-Mailer', xMailer || undefined],
    ...lists.filter(([name]) => !given.some(([each]) => each.toLowerCase() === name)),
  ]
  return [...given, ...options].flatMap(([name, value]) =>
    [value].flat().flatMap((each): [string, string][] => {
      const text = recordOf(each).value ?? each
      return text === undefined || text === null ? [] : [[name, String(text)]]
    }),
  )
}

function attachmentOf(given: unknown) {
  const { filename, content, contentType, cid, encoding } = recordOf(given)
  const text = typeof content === 'string' ? content : ''
  return {
    filename,
    content: encoding === 'base64' ? text : base64Of(text),
    ...(contentType ? { content_type: contentType } : {}),
    ...(cid ? { content_id: cid } : {}),
  }
}

function metadataOf(text: string): NonNullable<SendMessage['metadata']> {
  try {
    return JSON.parse(text)
  } catch {
    throw rejected('headers.X-Service-Metadata', 'must be a JSON object')
  }
}

/** Text → base64 of its UTF-8. Works in pieces, because runtimes limit the number of function arguments. */
function base64Of(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let letters = ''
  for (let at = 0; at < bytes.length; at += 0x8000) letters += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(letters)
}

/** An object of nodemailer. */
type Data = Readonly<Record<string, unknown>>

const recordOf = (value: unknown): Data => (typeof value === 'object' && value !== null ? { ...value } : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isEmpty = (value: unknown) =>
  [undefined, null, false, ''].some((empty) => empty === value) ||
  (typeof value === 'object' && value !== null && 'length' in value && value.length === 0)
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
const optional = <T>(name: string, values: T[]): Record<string, T[]> => (values.length === 0 ? {} : { [name]: values })

function rejected(field: string, why: string) {
  const message = `${field}: ${why}`
  return errorOf({ code: 'validation_error', message, field, errors: [{ field, message }] })
}
