import { expect, test } from 'bun:test'
import golden from '../../test/golden/inbound-received.json' with { type: 'json' }
import { CONTENTS, inboundMessage, PARSED } from '../../test/support/inbound.ts'
import { inboundPayload } from './inbound-payload.ts'

const receivedAt = Date.UTC(2026, 10, 21, 7)
const message = inboundMessage({
  id: 'inb_1',
  organizationId: 'org_1',
  domainId: 'dom_1',
  routeId: 'rte_1',
  receivedAt,
})

test('the body is that of the document, field by field and in its order', () => {
  expect(inboundPayload(message, PARSED, null)).toBe(JSON.stringify(golden.plain))
  expect(inboundPayload(message, PARSED, CONTENTS)).toBe(JSON.stringify(golden.with_attachments))
})

test('a mail without anything has every field all the same', () => {
  const empty = { ...message, from: '', to: ['a@own.example'], subject: '', messageIdHeader: '' }
  const body = JSON.parse(inboundPayload(empty, { textBody: '', htmlBody: '', headers: {}, attachments: [] }, []))
  expect(Object.keys(body).sort()).toEqual(Object.keys(golden.with_attachments).sort())
  expect(body).toMatchObject({ from: '', subject: '', message_id: '', text_body: '', html_body: '', headers: {} })
  expect([body.attachments, body.attachments_data]).toEqual([[], []])
})

test('contents that are not one for each attachment are left out', () => {
  for (const contents of [[], ['b2s='], [...CONTENTS, 'b2s=']]) {
    const body = JSON.parse(inboundPayload(message, PARSED, contents))
    expect([body.attachments.length, body.attachments_data]).toEqual([2, []])
  }
})

test('verdicts are told as they are', () => {
  const verdicts = { spf: 'softfail', dkim: 'permerror', dmarc: 'temperror', arc: 'fail' } as const
  expect(JSON.parse(inboundPayload({ ...message, verdicts }, PARSED, null))).toMatchObject({
    spf_result: 'softfail',
    dkim_result: 'permerror',
    dmarc_result: 'temperror',
  })
})

test('a header named like a property of objects is a header', () => {
  const headers = JSON.parse('{"__proto__": "x", "constructor": "y"}')
  expect(inboundPayload(message, { ...PARSED, headers }, null)).toContain(
    '"headers":{"__proto__":"x","constructor":"y"}',
  )
})
