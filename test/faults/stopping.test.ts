import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { journalFolder } from '../../src/sending/outbound/journal/delivered-journal.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { until } from '../support/patience.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/** Failures while the server stops. */

let remote: RawMx
let server: TestServer
beforeEach(async () => {
  remote = await startRawMx()
  server = await startTestServer({ remote })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const isClosed = () =>
  fetch(`http://${server.running().listening.http}/healthz`).then(
    () => false,
    () => true,
  )

/** The method's first call waits until `fail` is called, and then fails; later calls work normally. */
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

/** From now on no outcome can be written. Resolves when that was tried for the first time. */
function neverRecords(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.store().deliveries.record = () => {
    resolve()
    return Promise.reject(new StoreUnavailable('the disk is full'))
  }
  return promise
}

test('an outcome that cannot be written while the server stops is written before it has stopped', async () => {
  const { called, fail } = holdFirst(server.store().deliveries, 'record')
  const { body } = await server.send()
  await called
  const stopped = server.stop()
  await until('the listener to be closed, then the loops', isClosed)
  await server.clock.advance(0)
  fail()
  await server.clock.advance(5_000) // it is written again after a pause
  await stopped
  await server.reopen()
  expect(await server.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect((await server.eventsOf(body.id)).map(({ type }) => type)).toEqual(['message.delivered'])
  expect(remote.mails).toHaveLength(1)
})

test('a webhook response that cannot be written at once is written before the server has stopped', async () => {
  const { called, fail } = holdFirst(server.store().webhookDeliveries, 'record')
  const { body } = await server.send()
  await called
  const stopped = server.stop()
  await until('the listener to be closed, then the loops', isClosed)
  await server.clock.advance(0)
  fail()
  await server.clock.advance(5_000) // it is written again after a pause
  await stopped
  await server.reopen()
  await server.ended(body.id)
  await server.clock.advance(120_000)
  expect(server.receiver.requests).toHaveLength(1)
})

test('a store that never recovers before the stop loses no mail and sends none twice', async () => {
  const called = neverRecords()
  const { body } = await server.send()
  await called
  await server.stop('with work that hangs')
  await server.reopen()
  expect(await server.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect((await server.eventsOf(body.id)).map(({ type }) => type)).toEqual(['message.delivered'])
  expect(remote.mails).toHaveLength(1)
})

test('without a store and a journal, the same mail goes out once more', async () => {
  const called = neverRecords()
  writeFileSync(journalFolder(server.dataDir), 'where the folder should be')
  const { body } = await server.send()
  await called
  await server.stop('with work that hangs')
  await server.reopen()
  expect(await server.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect(remote.mails).toHaveLength(2)
  expect(remote.mails[0]!.equals(remote.mails[1]!)).toBe(true)
})
