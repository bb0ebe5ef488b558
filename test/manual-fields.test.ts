import { expect, test } from 'bun:test'
import { inboundBody } from '../src/events/webhooks/inbound-payload.ts'
import { EVENT_FACTS, EVENT_TYPES } from '../src/model/event-types.ts'
import { documentationOf } from './support/documentation.ts'

/** The tables of fields on the pages about other services name fields that Postrider has. */

const PAGES = ['from-postmark', 'from-sendgrid', 'from-mailgun', 'from-ses', 'from-resend']
const OF_EVENTS = new Set([
  ...['id', 'type', 'timestamp', 'data', 'hard', 'soft'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  ...EVENT_TYPES,
  ...EVENT_TYPES.flatMap((type) => Object.keys(EVENT_FACTS[type].fields)),
])
const VERDICTS = { spf: 'none', dkim: 'none', dmarc: 'none' }
/** Of the post of a route, of its headers, and of the record that the API returns. */
const POSTED = new TextDecoder().decode(
  inboundBody(
    {
      ...{ id: 'inb_1', receivedAt: 0, from: '', to: [], subject: '', messageIdHeader: '' },
      senderIp: '',
      verdicts: VERDICTS,
    } as never,
    { textBody: null, htmlBody: null, headers: {}, attachments: [] } as never,
    [],
    { answered: null },
  ),
)
const OF_INBOUND = new Set([
  ...Object.keys(JSON.parse(POSTED)),
  ...['include_attachments', 'return_path', '+', 'X-Inbound-Message-Id', 'X-Inbound-Signature'],
  ...['GET /v1/inbound-messages/:inbound_message_id', 'GET /v1/inbound-messages/:inbound_message_id/raw'],
])

/** A section of a page → the names in code in the last column of its table. */
function namesIn(page: string, heading: string): string[] {
  const [, section = ''] = documentationOf(page).split(new RegExp(`^##+ ${heading}$`, 'm'))
  const rows = (section.split(/^##+ /m)[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
  const cells = rows.slice(1).map((row) => row.split(' | ').at(-1) ?? '')
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

test.each(PAGES)('%s names fields of events that exist', (page) => {
  const names = namesIn(page, 'Fields of events')
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !OF_EVENTS.has(name))).toEqual([])
})

test.each(PAGES.filter((page) => page !== 'from-resend'))('%s names fields of inbound mail that exist', (page) => {
  const names = namesIn(page, 'Fields of inbound mail')
  expect(names.length).toBeGreaterThan(8)
  expect(names.filter((name) => !OF_INBOUND.has(name))).toEqual([])
})
