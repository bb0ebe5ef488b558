import { expect, test } from 'bun:test'
import { MAIL, openMessageApi } from './messages-setup.ts'

/** Batches in which most messages are refused, so that the stored responses could be larger than the requests. */

async function withServer<T>(
  plan: Parameters<typeof openMessageApi>[0],
  work: (server: Awaited<ReturnType<typeof openMessageApi>>) => Promise<T>,
): Promise<T> {
  const server = await openMessageApi(plan)
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}
const keyed = (name: string) => ({ headers: { 'idempotency-key': name } })
const UNKNOWN_FIELDS = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x${at}${'n'.repeat(400)}`, 1]))

// threat: tenant-object-limits
test('a batch of refusals whose answer exceeds the storage limit still ends', () =>
  withServer({ plan: { storedBytes: 3000 } }, async (server) => {
    const messages = Array.from({ length: 40 }, (_, at) => ({ ...MAIL, to: 'no address', subject: `${at}` }))
    const answer = await server.ask('POST', '/v1/messages/batch', { messages }, keyed('full'))
    expect(answer.status).toBe(202)
    expect(answer.body.data.map((each: { error: { code: string } }) => each.error.code)).toEqual(
      messages.map(() => 'validation_error'),
    )
    const usage = await server.store.usage.of(server.organizationId, server.clock.now())
    expect(usage.storedBytes).toBe(0)
  }))

// threat: tenant-object-limits
test('a valid batch in a full store ends with a refusal for each message', () =>
  withServer({ plan: { storedBytes: 3000 } }, async (server) => {
    await server.send(MAIL)
    const messages = Array(500).fill(MAIL)
    const answer = await server.ask('POST', '/v1/messages/batch', { messages }, keyed('full'))
    const limits = answer.body.data.map((each: { error: { details: object } }) => each.error.details)
    expect(limits).toEqual(messages.map(() => expect.objectContaining({ limit_name: 'stored_bytes', limit: 3000 })))
  }))

// threat: tenant-object-limits
test('messages that fit are accepted, though the answer needs storage too', () =>
  withServer({ plan: { storedBytes: 40_000 } }, async (server) => {
    const answer = await server.ask('POST', '/v1/messages/batch', { messages: Array(100).fill(MAIL) }, keyed('tight'))
    const accepted = answer.body.data.filter((each: { id?: string }) => each.id !== undefined).length
    expect([answer.status, accepted > 0, accepted < 30]).toEqual([202, true, true])
    const usage = await server.store.usage.of(server.organizationId, server.clock.now())
    expect(usage.storedBytes).toBeLessThanOrEqual(40_000)
    const again = await server.ask('POST', '/v1/messages/batch', { messages: Array(100).fill(MAIL) }, keyed('tight'))
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([answer.text, 'true'])
  }))

// threat: tenant-object-limits
test('a batch of faults is answered with less than half a megabyte, however long its field names are', () =>
  withServer({}, async (server) => {
    const messages = Array(500).fill({ ...MAIL, ...UNKNOWN_FIELDS })
    const answer = await server.ask('POST', '/v1/messages/batch', { messages }, keyed('faults'))
    expect([answer.status, answer.text.length < 512 * 1024]).toEqual([202, true])
    const [first, last] = [answer.body.data[0].error, answer.body.data[499].error]
    expect([first.code, first.field.length <= 120, first.errors.length > 1]).toEqual(['validation_error', true, true])
    expect([last.code, last.errors.length]).toEqual(['validation_error', 1])
  }))

// threat: malformed-requests
test('a made-up field name is truncated in its refusal', () =>
  withServer({}, async (server) => {
    const answer = await server.send({
      ...MAIL,
      ['n'.repeat(100_000)]: 1,
      headers: { [`X-${'h'.repeat(50_000)}`]: 'x' },
    })
    expect([answer.status, answer.text.length < 3000]).toEqual([400, true])
  }))

// threat: tenant-object-limits
test('a list accepts at most 20 conditions on metadata', () =>
  withServer({}, async (server) => {
    const query = (count: number) => Array.from({ length: count }, (_, at) => `metadata[k${at}]=v`).join('&')
    expect((await server.ask('GET', `/v1/messages?${query(20)}`)).status).toBe(200)
    const answer = await server.ask('GET', `/v1/messages?${query(500)}`)
    expect([answer.status, answer.body.error.field]).toEqual([400, 'metadata'])
  }))
