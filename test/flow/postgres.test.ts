import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RawMx, type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer, until } from '../support/server.ts'

describeWithPostgres('a server on PostgreSQL', () => {
  let postgres: TestPostgres
  let databases = 0
  let remote: RawMx | RemoteMx
  let server: TestServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    await server.close()
    await remote.stop()
  })
  const open = async (receivesMail: RawMx | RemoteMx) => {
    remote = receivesMail
    const url = await postgres.createDatabase(`server${++databases}`)
    server = await startTestServer({ remote, config: { database: { url } } })
  }

  test('a message is accepted, delivered, published and listed', async () => {
    await open(await startRemoteMx())
    const { status, body: answer } = await server.send({ to: ['ann@one.remote.example', 'bob@two.remote.example'] })
    expect(status).toBe(202)
    expect((await server.ended(answer.id)).status).toBe('delivered')
    await server.receiver.received(2)
    const events = await server.eventsOf(answer.id)
    expect(events.map(({ type }) => type)).toEqual(['message.delivered', 'message.delivered'])
    expect(server.receiver.requests.map(({ body }) => JSON.parse(body).id).sort()).toEqual(
      events.map(({ id }) => id).sort(),
    )
    const { data: listed } = await server.read('/v1/messages?subject=hello&status=delivered')
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([answer.id])
    await until('the webhook deliveries to be recorded', async () => {
      const { data } = await server.read(`/v1/webhooks/${server.webhook.id}/deliveries?status=delivered`)
      return data.length === 2
    })
  }, 60_000)

  test('a repeated request gets the same answer, and is sent once', async () => {
    await open(await startRemoteMx())
    const headers = { 'idempotency-key': 'order-17' }
    const [first, second] = [await server.send({}, headers), await server.send({}, headers)]
    expect(second.body).toEqual(first.body)
    await server.ended(first.body.id)
    const { data } = await server.read('/v1/messages')
    expect(data).toHaveLength(1)
  }, 60_000)

  test('a deferred message is delivered after a restart', async () => {
    const replies = ['451 4.2.1 later']
    await open(await startRawMx({ script: (at) => (at === 'RCPT' ? (replies.shift() ?? null) : null) }))
    const { body: answer } = await server.send()
    await server.tried(answer.id, 1)
    await server.stop()
    await server.reopen()
    await server.toNextAttempt(answer.id)
    expect((await server.ended(answer.id)).status).toBe('delivered')
  }, 60_000)
})
