import { errorOf } from './errors.ts'
import type { SendMessage } from './types.ts'

/** The parts of nodemailer's message that a transport uses. */
export interface NodemailerMail {
  // biome-ignore lint/suspicious/noExplicitAny: nodemailer's types are not available here; its data may be anything
  data: any
  message: {
    getEnvelope(): { from: string | false; to: string[] }
    getAddresses(): object
  }
  /** Reads files, streams and URLs; attachments become text or base64. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  normalize(done: (error: Error | null, data: any) => void): void
}

/** nodemailer message → API message and its idempotency key (null = none). Throws a PostriderError
 *  (`validation_error`) that names an unsupported option, and nodemailer's errors, for example for a missing file. */
export async function messageOf(
  mail: NodemailerMail,
): Promise<{ message: SendMessage; idempotencyKey: string | null }> {
  rejectUnsupported(mail)
  const addresses = mail.message.getAddresses() as Record<string, Address[] | undefined>
  const of = (name: string) => (addresses[name] ?? []).map(addressText)
  if (of('from').length !== 1) throw rejected('from', 'must have exactly one address')
  const data = await normalized(mail)
  const { own, headers } = headersOf(data)
  const message: SendMessage = {
    from: of('from')[0]!,
    to: of('to'),
    ...optional('cc', of('cc')),
    ...optional('bcc', of('bcc')),
    ...optional('reply_to', of('reply-to')),
    subject: data.subject ?? '',
    ...(textOf(data.html) === '' ? {} : { html: textOf(data.html) }),
    ...(textOf(data.text) === '' ? {} : { text: textOf(data.text) }),
    ...optional('attachments', (data.attachments ?? []).map(attachmentOf)),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(own.tags === undefined ? {} : { tags: own.tags.split(',').map((tag) => tag.trim()) }),
    ...(own.metadata === undefined ? {} : { metadata: metadataOf(own.metadata) }),
    ...(own.unsubscribe === undefined ? {} : { unsubscribe: own.unsubscribe.trim().toLowerCase() === 'yes' }),
  }
  return { message, idempotencyKey: own['idempotency-key'] ?? null }
}

interface Address {
  name?: string
  address: string
}

/** Reason why each option is not supported. */
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
  for (const [name, why] of Object.entries(UNSUPPORTED)) {
    const given = data[name]
    if (given !== undefined && given !== null && given !== false && given?.length !== 0) throw rejected(name, why)
  }
  for (const [index, attachment] of [...(data.attachments ?? [])].entries()) {
    for (const name of ['raw', 'headers']) {
      if (attachment[name] !== undefined) throw rejected(`attachments[${index}].${name}`, 'is not supported')
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function normalized(mail: NodemailerMail): Promise<any> {
  return new Promise((resolve, reject) => mail.normalize((error, data) => (error ? reject(error) : resolve(data))))
}

/** Quoted if the name contains special characters. RFC 5322 §3.2.4. */
function addressText({ name, address }: Address): string {
  if (!name) return address
  return /^[^()<>[\]:;@\\,"]*$/.test(name) ? `${name} <${address}>` : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`
}

/** Headers as object or list, and nodemailer's header options → message headers, and the values of our own headers by
 *  the end of their name. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function headersOf(data: any): { headers: Record<string, string>; own: Record<string, string | undefined> } {
  const own: Record<string, string> = {}
  const headers: Record<string, string> = {}
  for (const [name, value] of fieldsOf(data)) {
    const ours = /^x-service-(tags|metadata|idempotency-key|unsubscribe)$/i.exec(name)?.[1]?.toLowerCase()
    const into = ours === undefined ? headers : own
    const key = ours ?? name
    if (Object.keys(into).some((each) => each.toLowerCase() === key.toLowerCase())) {
      throw rejected(`headers.${name}`, 'can be set only once')
    }
    into[key] = value
  }
  return { headers, own }
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function fieldsOf(data: any): [name: string, value: string][] {
  const { headers = {}, inReplyTo, references, priority, xMailer, list, normalizedHeaders = {} } = data
  const given: [string, unknown][] = Array.isArray(headers)
    ? headers.map(({ key, value }) => [key, value])
    : Object.entries(headers)
  const lists = list ? Object.entries(normalizedHeaders).filter(([name]) => name.startsWith('list-')) : []
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
      const text = (each as { value?: unknown } | null)?.value ?? each
      return text === undefined || text === null ? [] : [[name, String(text)]]
    }),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function attachmentOf({ filename, content, contentType, cid, encoding }: any) {
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

/** UTF-8 as base64, in pieces, because the number of function arguments is limited. */
function base64Of(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let letters = ''
  for (let at = 0; at < bytes.length; at += 0x8000) letters += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(letters)
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
const optional = <T>(name: string, values: T[]): Record<string, T[]> => (values.length === 0 ? {} : { [name]: values })

function rejected(field: string, why: string) {
  const message = `${field}: ${why}`
  return errorOf({ code: 'validation_error', message, field, errors: [{ field, message }] })
}
