import { afterEach, expect, test } from 'bun:test'
import { startHouse, type TestHouse } from '../support/house.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'

const DAY = 86_400_000
const PASS = 10 * 60_000

let remote: RawMx
let house: TestHouse
afterEach(async () => {
  await house.close()
  await remote.stop()
})

/** Days in which nothing runs, and then the minutes until the first pass. */
async function daysLater(days: number) {
  await house.stop()
  await house.clock.advance(days * DAY)
  await house.reopen()
  await house.clock.advance(PASS)
}

test('mail is there as long as its plan says, and answers 404 after that', async () => {
  remote = await startRawMx({})
  house = await startHouse({ remote, config: { plans: { enterprise: { retention_days: 3 } } } })
  const sent = (await house.send()).body
  await house.ended(sent.id)
  const [event] = await house.told(sent.id)
  const later = (await house.send({ scheduled_at: new Date(house.clock.now() + 20 * DAY).toISOString() })).body
  await daysLater(2)
  expect((await house.read(`/v1/messages/${sent.id}`)).status).toBe('delivered')
  await daysLater(1)
  const paths = ['', '/content', '/events', '/attempts'].map((end) => `/v1/messages/${sent.id}${end}`)
  for (const path of [...paths, `/v1/events/${event.id}`])
    expect([path, (await house.ask('GET', path)).status]).toEqual([path, 404])
  expect((await house.read('/v1/messages')).data.map(({ id }: { id: string }) => id)).toEqual([later.id])
  expect((await house.read('/v1/usage')).usage.messages).toBe(2)
})
