import { afterEach, beforeEach, expect, test } from 'bun:test'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startS3, type TestS3 } from '../support/s3.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

let s3: TestS3
let remote: RemoteMx
let server: TestServer
beforeEach(async () => {
  s3 = await startS3()
  remote = await startRemoteMx()
  const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey } = s3.place
  server = await startTestServer({
    remote,
    config: {
      storage: {
        contents: `s3://${bucket}/${prefix}`,
        s3_endpoint: endpoint,
        s3_region: region,
        s3_access_key_id: accessKeyId,
        s3_secret_access_key: secretAccessKey,
      },
    },
  })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
  await s3.remove()
})

/** Random, so that it does not become short when it is packed. */
const LONG = Buffer.from(crypto.getRandomValues(new Uint8Array(40_000))).toString('hex')

test('a message whose content is in object storage is delivered, and read by the API', async () => {
  const { status, body: answer } = await server.send({ text: LONG })
  expect(status).toBe(202)
  expect((await server.ended(answer.id)).status).toBe('delivered')
  expect((await server.read(`/v1/messages/${answer.id}/content`)).text).toBe(LONG)
  expect(remote.mails).toHaveLength(1)
})

test('while object storage does not answer, long messages get 503 and short ones are accepted', async () => {
  await s3.stop()
  const { status, body } = await server.send({ text: LONG })
  expect([status, body.error.code]).toEqual([503, 'unavailable'])
  expect((await server.send({ text: 'short' })).status).toBe(202)
  const { data } = await server.read('/v1/messages')
  expect(data).toHaveLength(1)
})

test('a message that waits while object storage does not answer is delivered later, and no attempt is counted', async () => {
  const inAMinute = new Date(server.clock.now() + 60_000).toISOString()
  const { body: answer } = await server.send({ text: LONG, scheduled_at: inAMinute })
  await s3.stop()
  await server.clock.advance(61_000)
  await until('the delivery to be given back', async () => {
    const [delivery] = await server.store().messages.deliveries(answer.id)
    return delivery!.nextAttemptAt! > server.clock.now()
  })
  await s3.start()
  await server.clock.advance(31_000)
  const { recipients } = await server.ended(answer.id)
  expect(recipients).toMatchObject([{ status: 'delivered', attempts: 1 }])
})
