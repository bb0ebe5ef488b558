/** The CPU time of request bodies with very many values. The main thread reads them, so the limit is a tenth of the limit
 *  for other parsers. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { extractBase64 } from '../../src/web/api/extract-base64.ts'
import { parseBody } from '../../src/web/api/read.ts'
import { templateVariables } from '../../src/web/api/routes/template-fields.ts'
import { check } from '../../src/web/api/schema.ts'
import { email, messageOf } from '../../src/web/compat/resend/email-body.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'

const LENGTH = 100_000
const MOST_MS = 5
const TRIES = 20
const NUMBERS = Array.from({ length: LENGTH / 2 }, () => 1)

// threat: cost-per-byte
test.each([
  ['numbers', '1'],
  ['strings', '""'],
  ['arrays', '[]'],
  ['objects', '{}'],
  ['objects with a key', '{"a":0}'],
])(`parses 100 kB of JSON %s in under ${MOST_MS} ms`, async (_, value) => {
  const values = Array.from({ length: LENGTH / (value.length + 1) }, () => value)
  const body = new TextEncoder().encode(`[${values}]`)
  const request = new Request('http://localhost/', { method: 'POST', headers: { 'content-type': 'application/json' } })
  const parse = () => parseBody({ body: z.unknown() }, request, body)
  await expectCostUnder(MOST_MS, parse, TRIES)
  expect(parse()).toBeArrayOfSize(values.length)
})

// threat: cost-per-byte
test.each([
  ['text', 'a'.repeat(LENGTH)],
  ['numbers', NUMBERS],
])(`leaves 100 kB of %s in place of the headers of a Resend email in under ${MOST_MS} ms`, async (_, headers) => {
  const read = () => messageOf({ to: 'a@b.example', headers }, 0)
  await expectCostUnder(MOST_MS, read, TRIES)
  expect(read()).toMatchObject({ headers })
})

// threat: cost-per-byte
test(`reads an attachment of a Resend email as 100 kB of numbers in under ${MOST_MS} ms`, async () => {
  const read = () => email.parse({ to: 'a@b.example', attachments: [{ content: NUMBERS }] })
  await expectCostUnder(MOST_MS, read, TRIES)
  expect(read().attachments?.[0]?.content).toEqual(new Uint8Array(NUMBERS))
})

// threat: cost-per-byte
test(`refuses 100 kB of numbers as a template variable in under ${MOST_MS} ms`, async () => {
  const read = () => check(templateVariables, { a: NUMBERS }, 'variables').faults
  await expectCostUnder(MOST_MS, read, TRIES)
  expect(read()).toEqual([expect.objectContaining({ message: 'variables must be at most 65536 bytes of JSON' })])
})

// threat: cost-per-byte
test(`names the first 100 of the unknown fields in 100 kB of JSON in under ${MOST_MS} ms`, async () => {
  const tag = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 0]))
  const given = { to: 'a@b.example', tags: Array.from({ length: 12 }, () => tag) }
  const read = () => check(email, given, 'body').faults
  await expectCostUnder(MOST_MS, read, TRIES)
  expect(read()).toBeArrayOfSize(100)
})

// threat: cost-per-byte
test(`looks for an attachment in 100 kB of numbers in under ${MOST_MS} ms`, async () => {
  const content = Buffer.alloc(LENGTH, 'a')
  const { put } = await extractBase64(Buffer.from(JSON.stringify({ content: content.toString('base64') })), ['content'])
  await expectCostUnder(MOST_MS, () => put(NUMBERS), TRIES)
})
