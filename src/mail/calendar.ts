import type { Attachment } from './content.ts'

/** A calendar object that a mail shows as an invitation, with buttons. It is a part beside text and HTML, with its method
 *  in the type (RFC 6047 §2.4); among the attachments of MailContent it is the one without a file name. */

/** RFC 5546 §1.4 */
export const CALENDAR_METHODS = [
  'PUBLISH',
  'REQUEST',
  'REPLY',
  'ADD',
  'CANCEL',
  'REFRESH',
  'COUNTER',
  'DECLINECOUNTER',
] as const
export type CalendarMethod = (typeof CALENDAR_METHODS)[number]

export type CalendarPart = { part: Attachment } | { fault: string; field: 'content' | 'method' }

/** iCalendar text, and the method if the text may have none → the part, or why there is none. The lines end with CRLF,
 *  and the text gets the METHOD property, which must be equal to that of the type. RFC 5545 §3.1, §3.7.2 */
export function calendarPart(text: string, given: CalendarMethod | null): CalendarPart {
  const begin = BEGIN.exec(text)?.[0]
  if (begin === undefined) return { fault: 'must begin with BEGIN:VCALENDAR', field: 'content' }
  const written = METHOD.exec(text)?.[1]?.toUpperCase()
  const method = given ?? CALENDAR_METHODS.find((each) => each === written)
  if (method === undefined) return { fault: 'is required unless content has a METHOD', field: 'method' }
  if (written !== undefined && written !== method) return { fault: 'must be the METHOD of content', field: 'method' }
  const whole = written === undefined ? `${begin}\nMETHOD:${method}${text.slice(begin.length)}` : text
  const content = Buffer.from(`${whole.trim().replace(/\r\n?|\n/g, '\r\n')}\r\n`)
  return { part: { filename: '', contentType: `${TYPE}; method=${method}; charset=utf-8`, contentId: null, content } }
}

const TYPE = 'text/calendar'
const BEGIN = /^\s*BEGIN:VCALENDAR[ \t]*(?=[\r\n])/i
const METHOD = /^METHOD[ \t]*:[ \t]*([a-z-]+)[ \t]*$/im

export const isCalendar = ({ filename, contentType }: Pick<Attachment, 'filename' | 'contentType'>) =>
  filename === '' && contentType.startsWith(`${TYPE};`)
