import { expect, test } from 'bun:test'
import { createInboundBodies } from '../../src/events/webhooks/inbound-body.ts'
import { inboundBody } from '../../src/events/webhooks/inbound-payload.ts'
import { unpackParsed } from '../../src/mail/inbound-content.ts'
import { silentLog } from '../../src/os/log.ts'
import { ampleMemory } from '../../src/os/memory.ts'
import { type ClaimedInboundDelivery, StoreUnavailable } from '../../src/storage/store.ts'
import golden from '../golden/inbound-received.json' with { type: 'json' }
import { createFakeClock } from '../support/fake-clock.ts'
import { CONTENTS, inboundMessage, PARSED, storedMail } from '../support/inbound.ts'

const never = new AbortController().signal

function claimOf(sizeBytes: number): ClaimedInboundDelivery {
  return {
    id: 'whd_1',
    message: inboundMessage({
      id: 'inb_1',
      organizationId: 'org_1',
      domainId: 'dom_1',
      routeId: 'rte_1',
      receivedAt: 0,
      sizeBytes,
    }),
    route: {
      id: 'rte_1',
      url: 'https://hooks.example.com/',
      includeAttachments: true,
      replies: false,
      secret: 'whsec_',
      headers: [],
    },
    attempt: 1,
    worker: 'w',
  }
}

/** Bodies of one stored mail; counts how many are made at once. */
function bodies(parsed: () => Promise<Uint8Array | null> = async () => storedMail().parsed) {
  let busy = 0
  const seen = { most: 0 }
  const inbound = { parsed, raw: async () => storedMail().raw }
  const made = createInboundBodies({
    store: { inbound: inbound as unknown as Parameters<typeof createInboundBodies>[0]['store']['inbound'] },
    makeBody: async ({ message, parsed, replies }) => {
      seen.most = Math.max(seen.most, ++busy)
      await new Promise((resolve) => setImmediate(resolve))
      busy--
      return inboundBody(message, unpackParsed(parsed), CONTENTS, replies)
    },
    clock: createFakeClock(0),
    log: silentLog,
    memory: ampleMemory,
    budgetBytes: 64 * 1024 * 1024,
  })
  return { seen, of: (sizeBytes: number) => made.of(claimOf(sizeBytes), never) }
}

test('large bodies are built one after the other, small ones in parallel', async () => {
  const large = bodies()
  expect((await Promise.all([1, 2, 3].map(() => large.of(300_000)))).map(({ kind }) => kind)).toEqual(
    Array(3).fill('body'),
  )
  expect(large.seen.most).toBe(1)
  const small = bodies()
  await Promise.all([1, 2, 3].map(() => small.of(10_000)))
  expect(small.seen.most).toBe(3)
})

test('a body that cannot be built releases its memory and delays no other', async () => {
  const answers: (() => Promise<Uint8Array | null>)[] = [
    async () => new Uint8Array(9),
    () => Promise.reject(new StoreUnavailable('disk gone')),
    async () => null,
    async () => storedMail().parsed,
  ]
  const { of } = bodies(() => answers.shift()!())
  const size = 60_000_000 // none of them fits beside another
  expect((await of(size)).kind).toBe('damaged')
  await expect(of(size)).rejects.toBeInstanceOf(StoreUnavailable)
  expect((await of(size)).kind).toBe('gone')
  expect((await of(size)).kind).toBe('body')
})

type Mail = Parameters<typeof inboundBody>
const textOf = (message: Mail[0], parsed: Mail[1], contents: Mail[2], replies: Mail[3] = 'left_out') =>
  Buffer.from(inboundBody(message, parsed, contents, replies)).toString()

const receivedAt = Date.UTC(2026, 10, 21, 7)
const message = inboundMessage({
  id: 'inb_1',
  organizationId: 'org_1',
  domainId: 'dom_1',
  routeId: 'rte_1',
  receivedAt,
})

test('the body matches the documentation, field by field and in order', () => {
  expect(textOf(message, PARSED, null)).toBe(JSON.stringify(golden.plain))
  expect(textOf(message, PARSED, CONTENTS)).toBe(JSON.stringify(golden.with_attachments))
})

test('an empty mail still has every field', () => {
  const empty = { ...message, from: '', to: ['a@own.example'], subject: '', messageIdHeader: '' }
  const body = JSON.parse(textOf(empty, { textBody: '', htmlBody: '', headers: {}, attachments: [] }, []))
  expect(Object.keys(body).sort()).toEqual(Object.keys(golden.with_attachments).sort())
  expect(body).toMatchObject({ from: '', subject: '', message_id: '', text_body: '', html_body: '', headers: {} })
  expect([body.attachments, body.attachments_data]).toEqual([[], []])
})

test('the new part is there where the mail or its own recipient says that it is an answer', () => {
  const reply = { replyText: 'Thanks!', replyHtml: '<p>Thanks!</p>' }
  const shown = (to: string, headers: Record<string, string>) => {
    const text = textOf({ ...message, to: [to] }, { ...PARSED, headers, ...reply }, null, { answered: null })
    const { reply_text, reply_html } = JSON.parse(text)
    return [reply_text, reply_html]
  }
  // The mail was also sent to a reply address of another organization.
  expect(shown('info@own.example', {})).toEqual([null, null])
  expect(shown('info@own.example', { 'in-reply-to': '' })).toEqual([null, null])
  for (const name of ['in-reply-to', 'references'])
    expect(shown('info@own.example', { [name]: '<1@own.example>' })).toEqual(Object.values(reply))
  expect(shown('Reply+abc@own.example', {})).toEqual(Object.values(reply))
})

test('the fields about replies come after the others, in a fixed order', () => {
  const answered = {
    deliveryId: 'dlv_1',
    id: 'msg_1',
    organizationId: 'org_1',
    domainId: 'dom_1',
    mode: 'live' as const,
    from: 'Shop <shop@own.example>',
    to: 'ann@sender.example',
    subject: 'Your order',
    tags: ['orders'],
    metadata: { order: 'o-17' },
    stream: 'transactional',
    templateId: null,
    sentAt: Date.UTC(2026, 10, 20),
  }
  const headers = { ...PARSED.headers, 'in-reply-to': '<1@own.example>' }
  const parsed = { ...PARSED, headers, replyText: 'Thanks!', replyHtml: null }
  const whole = JSON.parse(textOf({ ...message, autoSubmitted: true }, parsed, null, { answered }))
  expect(Object.entries(whole).slice(-4)).toEqual([
    ['reply_text', 'Thanks!'],
    ['reply_html', null],
    [
      'in_reply_to',
      {
        message_id: 'msg_1',
        to: 'ann@sender.example',
        subject: 'Your order',
        tags: ['orders'],
        metadata: { order: 'o-17' },
        sent_at: '2026-11-20T00:00:00.000Z',
      },
    ],
    ['auto_submitted', true],
  ])
  expect(Object.keys(whole).slice(0, -4)).toEqual(Object.keys(golden.plain))
  const without = JSON.parse(textOf(message, PARSED, null, { answered: null }))
  expect([without.reply_text, without.in_reply_to, without.auto_submitted]).toEqual([null, null, false])
})

test('contents that do not match the attachments are left out', () => {
  for (const contents of [[], [CONTENTS[1]!], [...CONTENTS, CONTENTS[1]!]]) {
    const body = JSON.parse(textOf(message, PARSED, contents))
    expect([body.attachments.length, body.attachments_data]).toEqual([2, []])
  }
})

test('verdicts are passed on unchanged', () => {
  const verdicts = { spf: 'softfail', dkim: 'permerror', dmarc: 'temperror', arc: 'fail' } as const
  expect(JSON.parse(textOf({ ...message, verdicts }, PARSED, null))).toMatchObject({
    spf_result: 'softfail',
    dkim_result: 'permerror',
    dmarc_result: 'temperror',
  })
})

test('a header named like a property of objects is kept', () => {
  const headers = JSON.parse('{"__proto__": "x", "constructor": "y"}')
  expect(textOf(message, { ...PARSED, headers }, null)).toContain('"headers":{"__proto__":"x","constructor":"y"}')
})

test('the bytes are those of one JSON document, for attachments of any length', () => {
  const contents = [0, 1, 2, 3, 786_431, 786_432, 786_433, 2_000_000].map((length) => Buffer.alloc(length, 'größe'))
  const attachments = contents.map((content, at) => ({
    filename: `"${at}\\\u0000.txt`,
    contentType: 'text/plain',
    sizeBytes: content.length,
    contentId: null,
  }))
  const text = textOf(message, { ...PARSED, attachments }, contents)
  const { spf_result, dkim_result, dmarc_result, sender_ip, ...start } = golden.plain
  expect(text).toBe(
    JSON.stringify({
      ...start,
      attachments: attachments.map(({ filename, contentType, sizeBytes }) => ({
        filename,
        content_type: contentType,
        size: sizeBytes,
      })),
      attachments_data: attachments.map(({ filename, contentType }, at) => ({
        filename,
        content_type: contentType,
        content: contents[at]!.toString('base64'),
      })),
      spf_result,
      dkim_result,
      dmarc_result,
      sender_ip,
    }),
  )
})
