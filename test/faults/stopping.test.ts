import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { journalFolder } from '../../src/outbound/journal/delivered-journal.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { startHouse, type TestHouse, until } from '../support/house.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'

/** What goes wrong while the house stops. */

let remote: RawMx
let house: TestHouse
beforeEach(async () => {
  remote = await startRawMx()
  house = await startHouse({ remote })
})
afterEach(async () => {
  await house.close()
  await remote.stop()
})

const isClosed = () =>
  fetch(`http://${house.house().listening.http}/healthz`).then(
    () => false,
    () => true,
  )

/** The method's first call is held until `fail` is called, and fails then; those after it do what they should. */
function holdFirst(owner: object, name: string) {
  const methods = owner as Record<string, (...given: unknown[]) => Promise<unknown>>
  const real = methods[name]!
  const called = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let isFirst = true
  methods[name] = async (...given) => {
    if (!isFirst) return real(...given)
    isFirst = false
    called.resolve()
    await held.promise
    throw new StoreUnavailable('the disk is full')
  }
  return { called: called.promise, fail: held.resolve }
}

test('an outcome that cannot be written at once while the house stops is written before it has stopped', async () => {
  const { called, fail } = holdFirst(house.store().deliveries, 'record')
  const { body } = await house.send()
  await called
  const stopped = house.stop()
  await until('the listener to be closed, then the loops', isClosed)
  await house.clock.advance(0)
  fail()
  await stopped
  await house.reopen()
  expect(await house.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect((await house.told(body.id)).map(({ type }) => type)).toEqual(['message.delivered'])
  expect(remote.mails).toHaveLength(1)
})

test('so is what a webhook answered', async () => {
  const { called, fail } = holdFirst(house.store().webhookDeliveries, 'record')
  const { body } = await house.send()
  await called
  const stopped = house.stop()
  await until('the listener to be closed, then the loops', isClosed)
  await house.clock.advance(0)
  fail()
  await stopped
  await house.reopen()
  await house.ended(body.id)
  await house.clock.advance(120_000)
  expect(house.receiver.requests).toHaveLength(1)
})

test('a store that cannot write until the end loses no mail, and it does not go twice', async () => {
  house.store().deliveries.record = () => Promise.reject(new StoreUnavailable('the disk is full'))
  const { body } = await house.send()
  await remote.hears('<mail>')
  await house.stop()
  await house.reopen()
  expect(await house.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect((await house.told(body.id)).map(({ type }) => type)).toEqual(['message.delivered'])
  expect(remote.mails).toHaveLength(1)
})

test('where not even a note could be written, it goes once more, as the same mail', async () => {
  house.store().deliveries.record = () => Promise.reject(new StoreUnavailable('the disk is full'))
  writeFileSync(journalFolder(house.dataDir), 'where the folder should be')
  const { body } = await house.send()
  await remote.hears('<mail>')
  await house.stop()
  await house.reopen()
  expect(await house.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect(remote.mails).toHaveLength(2)
  expect(remote.mails[0]!.equals(remote.mails[1]!)).toBe(true)
})
