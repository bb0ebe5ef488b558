import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAIL, openMessageApi } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

describe('from', () => {
  const OWN = ['a@example.com', 'A@EXAMPLE.COM', 'Example <x+y@Example.Com>', '"a b"@example.com', 'x@ｅxample.com']
  test.each(OWN)('%s is at the key’s domain', async (from) => {
    expect((await server.send({ ...MAIL, from })).status).toBe(202)
  })

  const FOREIGN = [
    'a@other.example',
    'a@new.example',
    'a@sub.example.com',
    'a@www.example.com',
    'a@example.org',
    'a@example.co',
    'a@example.com.evil.example',
    'a@evilexample.com',
    'a@example-com.example',
    'a@exаmple.com', // Cyrillic а
    'a@еxample.com', // Cyrillic е
    'a@examp1e.com',
    'a@exarnple.com',
    'a@examplе.com',
    'a@xn--exmple-cua.com',
    'a@exämple.com',
    'example.com <a@other.example>',
    '"a@example.com" <a@other.example>',
    '"example.com" <example.com@other.example>',
    '"a@example.com"@other.example',
    'a%example.com@other.example',
    'example.com!a@other.example',
    '"<a@example.com>" <a@other.example>',
    'a@com',
    'a@xn--.com',
    'a@example.com@other.example',
    'a@other.example,a@example.com',
    'a@example.com, a@other.example',
    '<a@example.com> <a@other.example>',
    'a@example.com.',
    'a@[example.com]',
    '@other.example:a@example.com',
    'a@example。com.example',
    'a@example.com (a@other.example)',
    'team: a@example.com;',
  ]
  // threat: from-of-another-domain
  test.each(FOREIGN)('%s is refused', async (from) => {
    const answer = await server.send({ ...MAIL, from })
    const { code, field } = answer.body.error
    expect([
      [403, 'forbidden', 'from'],
      [400, 'validation_error', 'from'],
    ]).toContainEqual([answer.status, code, field])
  })

  test('outside the domain gets 403 and says what was expected', async () => {
    const answer = await server.send({ ...MAIL, from: 'a@sub.example.com' })
    expect(answer.status).toBe(403)
    expect(answer.body.error).toMatchObject({
      code: 'forbidden',
      field: 'from',
      details: { given: 'sub.example.com', expected: 'example.com' },
    })
  })

  test('outside the domain is reported after an invalid body and before an unverified domain', async () => {
    const bad = await server.send({ ...MAIL, from: 'a@other.example', subject: '' })
    expect([bad.status, bad.body.error.field]).toEqual([400, 'subject'])
    const foreign = await server.send({ ...MAIL, from: 'a@other.example' }, { key: server.keys.unverified })
    expect(foreign.status).toBe(403)
  })
})

test.each([
  ['written with spaces around', '  padded@example.com\t', 'padded@example.com'],
  ['with a bracket in its quoted local part', '"<"@example.com', '"<"@example.com'],
  ['in other letters of the same domain', 'Wide <wide@ｅxample.com>', 'wide@example.com'],
  ['with a name', 'Some Name <named@Example.COM>', 'named@example.com'],
])('a sender %s is found by its address', async (_how, from, address) => {
  const { status, body } = await server.send({ ...MAIL, from })
  expect(status).toBe(202)
  const { body: list } = await server.ask('GET', `/v1/messages?from=${encodeURIComponent(address)}`)
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual([body.id])
})
