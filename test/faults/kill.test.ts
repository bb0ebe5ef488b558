import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/patience.ts'
import { sendUntilAcknowledged } from './http-client.ts'
import { exitOf, makeTestInstallation, type TestInstallation, UNDER_WAY } from './setup.ts'

/** Kills the built program repeatedly while applications send through it, and records the results. Every message
 *  answered with 202 must arrive and be published; only mail in flight at a kill may arrive twice. */

const KILLS = Number(process.env.CRASH_KILLS ?? 8)
const CLIENTS = 12

let installation: TestInstallation
beforeAll(async () => {
  installation = await makeTestInstallation()
})
afterAll(() => installation?.close())

let isSending = false
afterEach(() => {
  isSending = false
})

test(`${KILLS} kills under load lose nothing acknowledged, publish everything and send few mails twice`, async () => {
  let server = await installation.serve()
  const subscription = { url: installation.receiver.url, events: ['message.delivered', 'message.bounced'] }
  expect((await installation.api('POST', '/v1/webhooks', subscription)).status).toBe(201)

  const acknowledged = new Map<string, string>()
  isSending = true
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = 0; isSending; n++) await sendUntilAcknowledged(installation, `${client}-${n}`, acknowledged)
  })
  for (let kill = 0; kill < KILLS; kill++) {
    const soFar = acknowledged.size
    await until('some load', () => acknowledged.size > soFar + 10)
    await Bun.sleep(400 * Math.random())
    server.kill('SIGKILL')
    await exitOf(server)
    server = await installation.serve()
  }
  isSending = false
  await Promise.all(clients)
  await until('every acknowledged mail to arrive', () =>
    [...acknowledged.keys()].every((token) => installation.sink.mails.has(token)),
  )
  await until('every delivery to be published', () => unpublished(acknowledged).length === 0).catch(async (error) => {
    throw new Error(`${error.message}: ${await whyUnpublished(unpublished(acknowledged))}`)
  })

  const copies = [...installation.sink.mails.values()]
  const twice = copies.filter((messageIds) => messageIds.length > 1)
  expect(twice.every((messageIds) => new Set(messageIds).size === 1)).toBe(true)
  const extra = copies.reduce((sum, messageIds) => sum + messageIds.length - 1, 0)
  expect(extra).toBeLessThanOrEqual(KILLS * UNDER_WAY)
  if (process.env.CRASH_KILLS !== undefined) console.log({ acknowledged: acknowledged.size, extra })
  expect([...installation.sink.mails.keys()].filter((token) => !acknowledged.has(token))).toEqual([])

  server.kill('SIGTERM')
  expect(await exitOf(server)).toBe(0)
})

test('SIGTERM under load loses nothing, sends nothing twice and exits 0', async () => {
  let server = await installation.serve()
  const before = new Map([...installation.sink.mails].map(([token, messageIds]) => [token, messageIds.length]))
  const acknowledged = new Map<string, string>()
  isSending = true
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = 0; isSending; n++) await sendUntilAcknowledged(installation, `term-${client}-${n}`, acknowledged)
  })
  for (let round = 0; round < 3; round++) {
    const soFar = acknowledged.size
    await until('some load', () => acknowledged.size > soFar + 10)
    await Bun.sleep(200 * Math.random())
    server.kill('SIGTERM')
    expect(await exitOf(server)).toBe(0)
    server = await installation.serve()
  }
  isSending = false
  await Promise.all(clients)
  await until('every acknowledged mail to arrive', () =>
    [...acknowledged.keys()].every((token) => installation.sink.mails.has(token)),
  )
  server.kill('SIGTERM')
  expect(await exitOf(server)).toBe(0)
  const copies = [...installation.sink.mails].filter(([token]) => !before.has(token))
  expect(copies.filter(([, messageIds]) => messageIds.length > 1)).toEqual([])
})

/** Tokens that no webhook request mentioned. */
function unpublished(acknowledged: Map<string, string>): string[] {
  const published = new Set(
    installation.receiver.requests.map((request) => JSON.parse(request.body).data.to.split('@')[0]),
  )
  return [...acknowledged.keys()].filter((token) => !published.has(token))
}

/** What the server itself reports for the first of them. */
async function whyUnpublished(tokens: string[]): Promise<string> {
  const read = async (path: string) =>
    (await (await installation.api('GET', path)).json()) as { data: { id: string }[] }
  const { data: messages } = await read(`/v1/messages?to=${tokens[0]}@example.org`)
  const { data: webhooks } = await read('/v1/webhooks')
  const { data: events } = await read(`/v1/messages/${messages[0]?.id}/events`)
  const { data: pending } = await read(`/v1/webhooks/${webhooks[0]?.id}/deliveries?status=pending&limit=3`)
  const { data: failed } = await read(`/v1/webhooks/${webhooks[0]?.id}/deliveries?status=failed&limit=3`)
  return JSON.stringify({ tokens: tokens.length, message: messages[0], events, webhooks, pending, failed }, null, 1)
}
