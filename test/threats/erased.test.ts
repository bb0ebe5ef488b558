import { afterEach, expect, test } from 'bun:test'
import { inboundMessage, storedMail } from '../support/inbound.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer, untilInTime } from '../support/server.ts'
import { foundInFiles } from './files.ts'

/** Retention against an attacker who reads the disk afterwards. */

const DAY = 86_400_000
const CANARY = ['canary-subject', 'canary-address', 'canary-metadata', 'canary-of-inbound', 'canary-sender']

let remote: RawMx
let server: TestServer
afterEach(async () => {
  await server.close()
  await remote.stop()
})

// threat: erased-data-read-back
test('removed data is in no file any more, while the server runs', async () => {
  remote = await startRawMx({})
  server = await startTestServer({ remote, config: { plans: { enterprise: { retention_days: 3 } } } })
  const change = {
    subject: 'canary-subject',
    to: 'canary-address@one.remote.example',
    metadata: { a: 'canary-metadata' },
  }
  const sent = []
  for (let n = 0; n < 20; n++) sent.push((await server.send(change)).body.id)
  for (const id of sent) await server.ended(id)
  const { id: domainId } = (await server.read('/v1/domains')).data[0]
  const message = inboundMessage({
    ...{ id: 'inb_01m7ykx6js1zy8zpzy8z8cwhzy', organizationId: server.organizationId, domainId, routeId: 'rte_none' },
    ...{
      receivedAt: server.clock.now(),
      action: 'store',
      subject: 'canary-of-inbound',
      from: 'canary-sender@x.example',
    },
  })
  await server.store().inbound.accept({ ...storedMail(), taken: [{ message, deliveryId: null, forward: null }] })
  const seen = new Set(foundInFiles(server.dataDir, CANARY).map((found) => found.split(': ')[1]))
  expect([...seen].toSorted()).toEqual(CANARY.toSorted())

  await server.stop()
  await server.clock.advance(4 * DAY)
  await server.reopen()
  await untilInTime(server.clock, 'files without a canary', () => foundInFiles(server.dataDir, CANARY).length === 0)
  expect((await server.read('/v1/messages')).data).toEqual([])
})
