import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'

/** Message streams: where they are given, kept, shown and filtered by. */

let remote: RemoteMx
let server: TestServer
beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote, config: { sending: { streams: { newsletter: {} } } } })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const idsOf = async (query: string) => (await server.read(`/v1/messages?${query}`)).data.map(({ id }: Json) => id)

test('a message is in the stream it names, and lists, statistics and events tell them apart', async () => {
  const plain = (await server.send()).body.id
  const bulk = (await server.send({ stream: 'bulk' })).body.id
  const news = (await server.send({ stream: 'newsletter' })).body.id
  for (const id of [plain, bulk, news]) await server.ended(id)

  expect((await server.read(`/v1/messages/${plain}`)).stream).toBe('transactional')
  expect((await server.read(`/v1/messages/${bulk}`)).stream).toBe('bulk')
  expect(await idsOf('stream=bulk')).toEqual([bulk])
  expect(await idsOf('stream=newsletter')).toEqual([news])
  expect(await idsOf('stream=transactional')).toEqual([plain])

  const delivered = async (query: string) => (await server.read(`/v1/stats${query}`)).totals.delivered
  expect(await delivered('')).toBe(3)
  for (const stream of ['transactional', 'bulk', 'newsletter']) expect(await delivered(`?stream=${stream}`)).toBe(1)
  expect((await server.ask('GET', '/v1/stats?stream=bulk&tag=a')).body.error).toMatchObject({ field: 'stream' })

  const [event] = await server.eventsOf(bulk)
  expect(event.data.stream).toBe('bulk')
  const [usual] = await server.eventsOf(plain)
  expect(usual.data).not.toHaveProperty('stream')
})

test('bulk mail has a List-Unsubscribe header, unless the message says otherwise', async () => {
  const raw = async (change: Record<string, unknown>) => {
    const { body } = await server.send(change)
    await server.ended(body.id)
    return remote.mails.at(-1)!.raw.toString()
  }
  expect(await raw({ stream: 'bulk' })).toContain('\r\nList-Unsubscribe:')
  expect(await raw({ stream: 'bulk', unsubscribe: false })).not.toContain('List-Unsubscribe:')
  expect(await raw({ stream: 'newsletter' })).not.toContain('List-Unsubscribe:')
})

test('a stream that is not configured is refused, naming the field, alone and in a batch', async () => {
  for (const stream of ['other', 'constructor']) {
    const { status, body } = await server.send({ stream })
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'validation_error', field: 'stream' })
    expect(body.error.message).toContain('bulk, newsletter, transactional')
  }
  expect((await server.send({ stream: 'No Such' })).body.error.field).toBe('stream')
  const mail = { from: 'us@sender.example', to: 'ann@a.remote.example', subject: 's', text: 't' }
  const { body } = await server.ask('POST', '/v1/messages/batch', {
    messages: [
      { ...mail, stream: 'other' },
      { ...mail, stream: 'bulk' },
    ],
  })
  expect(JSON.stringify(body)).toContain('"field":"stream"')
  expect(await idsOf('stream=bulk&to=ann@a.remote.example')).toHaveLength(1)
})
