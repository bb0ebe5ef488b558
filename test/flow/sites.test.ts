import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

let remote: RawMx
let server: TestServer
let isSlowed = true

beforeAll(async () => {
  remote = await startRawMx({
    script: (cue) => (cue === 'RCPT' && isSlowed ? '421 4.7.28 unusual rate of mail' : null),
  })
  server = await startTestServer({ remote })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const siteOf = async (to: string) => (await server.read(`/v1/explain?to=${to}`)).site
const words = async (to: string) => (await server.read(`/v1/explain?to=${to}`)).explanation.join(' ')

// threat: replies-to-others-shown
test('a 421 to one domain slows all domains of its destination, explain says so, and a restart resets it', async () => {
  const fresh = { name: 'hosts.example', state: 'unknown', connections: 5, lowered_at: null, paused_until: null }
  expect(await siteOf('ann@a.remote.example')).toMatchObject(fresh)

  const { body } = await server.send({ to: 'ann@a.remote.example' })
  await server.tried(body.id, 1)
  const slowed = {
    name: 'hosts.example',
    state: 'troubled',
    connections: 2,
    lowered_because: 'reputation',
  }
  expect(await siteOf('bob@b.remote.example')).toMatchObject(slowed)
  const reported = await words('bob@b.remote.example')
  expect(reported).toContain('after a reply of class reputation')
  expect(reported).not.toContain('unusual rate') // from another destination

  const second = await server.send({ to: 'bob@b.remote.example' })
  await server.tried(second.body.id, 1)
  expect(await siteOf('ann@a.remote.example')).toMatchObject({ state: 'paused', connections: 1 })
  expect(await words('ann@a.remote.example')).toContain('deliveries are paused until')

  isSlowed = false
  const third = await server.send({ to: 'cy@c.remote.example' })
  expect(remote.mails).toHaveLength(0)
  await server.clock.advance(1_000)
  expect((await server.ended(third.body.id)).status).toBe('delivered')
  expect(await siteOf('ann@a.remote.example')).toMatchObject({ state: 'proven', connections: 1, paused_until: null })

  await server.stop()
  await server.reopen()
  expect(await siteOf('ann@a.remote.example')).toMatchObject(fresh)
})
