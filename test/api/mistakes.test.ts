import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

/** Frequent mistakes, and the way on that the answer names. */

let made: TestApi
beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

test('a path of another service, or one that people guess, names how to send', async () => {
  const key = made.own.keys.send
  for (const [path, status] of [
    ['/v1/messages', 405],
    ['/v1/emails', 404],
    ['/v1/email', 404],
    ['/v1/mail/send', 404],
    ['/emails', 404],
  ] as const) {
    const { status: got, body } = await made.ask('POST', path, { key, body: {} })
    expect([path, got, body.error.message]).toEqual([path, status, expect.stringContaining('POST /v1/messages/send.')])
  }
  const other = await made.ask('GET', '/v1/emails', { key })
  expect(other.body.error.message).toBe('No such path. See /docs for all paths.')
})

test('several addresses in one text get told how to write them', async () => {
  const { own } = made
  const faultOf = async (change: object) => {
    const mail = { from: `a@${own.domain.name}`, to: 'ann@one.example', subject: 'Hi', text: 'Hi' }
    const { status, body } = await made.ask('POST', '/v1/messages/send', {
      key: own.keys.send,
      body: { ...mail, ...change },
    })
    expect(status).toBe(400)
    return body.error.errors[0].message
  }
  for (const to of ['ann@one.example, bob@one.example', 'Ann <ann@one.example>; bob@one.example'])
    expect(await faultOf({ to })).toBe(
      'to must be one address. Send several as a list: ["ann@example.com", "bob@example.com"]',
    )
  for (const to of ['nobody', 'ann@one.example,', ','.repeat(5_000), `${'a@b.example,'.repeat(200)}c`])
    expect(await faultOf({ to })).toContain('must be one address such as')
})

test('type and types of events suggest each other', async () => {
  const key = made.own.keys.read
  for (const [path, meant] of [
    ['/v1/events?types=message.bounced', 'type'],
    ['/v1/events/stream?type=message.bounced', 'types'],
  ] as const) {
    const { status, body } = await made.ask('GET', path, { key })
    expect([path, status, body.error.message]).toEqual([path, 400, expect.stringContaining(`Did you mean "${meant}"?`)])
  }
})

test('a field without its _id is told the whole name', async () => {
  const { own } = made
  const body = { from: `a@${own.domain.name}`, to: 'ann@one.example', template: 'welcome' }
  const sent = await made.ask('POST', '/v1/messages/send', { key: own.keys.send, body })
  expect(sent.body.error.errors[0].message).toBe('Unknown field "template". Did you mean "template_id"?')
})
