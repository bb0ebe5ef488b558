import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startHouse, type TestHouse } from '../support/house.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'

let remote: RawMx
let house: TestHouse
let isSlowed = true

beforeAll(async () => {
  remote = await startRawMx({
    script: (cue) => (cue === 'RCPT' && isSlowed ? '421 4.7.28 unusual rate of mail' : null),
  })
  house = await startHouse({ remote })
})
afterAll(async () => {
  await house.close()
  await remote.stop()
})

const siteOf = async (to: string) => (await house.read(`/v1/explain?to=${to}`)).site
const words = async (to: string) => (await house.read(`/v1/explain?to=${to}`)).explanation.join(' ')

// threat: replies-to-others-shown
test('a 421 to one domain slows all that share its site, explain says so, and a restart knows nothing of it', async () => {
  const fresh = { name: 'hosts.example', state: 'unknown', connections: 5, lowered_at: null, paused_until: null }
  expect(await siteOf('ann@a.remote.example')).toMatchObject(fresh)

  const { body } = await house.send({ to: 'ann@a.remote.example' })
  await house.tried(body.id, 1)
  const slowed = {
    name: 'hosts.example',
    state: 'troubled',
    connections: 2,
    lowered_because: 'reputation',
  }
  expect(await siteOf('bob@b.remote.example')).toMatchObject(slowed)
  const told = await words('bob@b.remote.example')
  expect(told).toContain('after a reply of the class reputation')
  expect(told).not.toContain('unusual rate') // what was said to somebody else

  const second = await house.send({ to: 'bob@b.remote.example' })
  await house.tried(second.body.id, 1)
  expect(await siteOf('ann@a.remote.example')).toMatchObject({ state: 'paused', connections: 1 })
  expect(await words('ann@a.remote.example')).toContain('nothing is begun before')

  isSlowed = false
  const third = await house.send({ to: 'cy@c.remote.example' })
  expect(remote.mails).toHaveLength(0)
  await house.clock.advance(1_000)
  expect((await house.ended(third.body.id)).status).toBe('delivered')
  expect(await siteOf('ann@a.remote.example')).toMatchObject({ state: 'proven', connections: 1, paused_until: null })

  await house.stop()
  await house.reopen()
  expect(await siteOf('ann@a.remote.example')).toMatchObject(fresh)
})
