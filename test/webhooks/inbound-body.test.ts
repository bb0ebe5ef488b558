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
    route: { id: 'rte_1', url: 'https://hooks.example.com/', includeAttachments: true, secret: 'whsec_', headers: [] },
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
    makeBody: async ({ message, parsed }) => {
      seen.most = Math.max(seen.most, ++busy)
      await new Promise((resolve) => setImmediate(resolve))
      busy--
      return inboundBody(message, unpackParsed(parsed), CONTENTS)
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

const textOf = (...mail: Parameters<typeof inboundBody>) => Buffer.from(inboundBody(...mail)).toString()

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
