import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PART_BYTES } from '../../src/storage/mail/contents.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { erase } from './contract-erasures.ts'
import { accept, attempt, claim, createRecords, found, recordOf, START } from './records.ts'

const ADDRESS = 'quagga-zzyzx@dest.example'
const DAY = 86_400_000
let dataDir: string | null = null

afterEach(() => {
  if (dataDir !== null) rmSync(dataDir, { recursive: true })
  dataDir = null
})

/** Files of the data directory that contain a text. */
function filesWith(text: string): string[] {
  return readdirSync(dataDir!).filter((name) => readFileSync(join(dataDir!, name)).includes(text))
}

test('no file of the database contains the address after its erasure', async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-erasure-'))
  const store = await openStore({ dataDir, now: START })
  const records = createRecords()
  await found(store, records)
  const large = Buffer.alloc(3 * PART_BYTES, `mail to ${ADDRESS} `)
  const body = JSON.stringify({ data: { to: ADDRESS } })
  for (const content of [Buffer.from(`to ${ADDRESS}`), large]) {
    const single = records.accepted({ subject: `For ${ADDRESS}`, tags: ['a'], deliveries: [{ email: ADDRESS }] })
    await accept(store, { ...single, content, events: [records.event({ body, messageId: single.message.id })] })
  }
  const shared = records.accepted({
    deliveries: [{ email: ADDRESS }, { email: 'ben@dest.example' }],
    metadata: { a: ADDRESS },
  })
  await accept(store, { ...shared, content: large, events: [records.event({ body })] })
  const reply = { kind: 'delivered' as const, reply: { code: 250, enhanced: '2.0.0', text: 'ok' } }
  for (const claimed of await claim(store)) {
    const smtpResponse = `250 ${claimed.delivery.email} ok`
    await store.deliveries.record(recordOf(claimed, reply, { attempt: attempt(), smtpResponse }))
  }
  const route = records.inboundRoute()
  await store.inboundRoutes.create(route, 'whsec_a')
  await store.inbound.accept({ ...records.acceptedInbound([route], { from: ADDRESS }), raw: large, parsed: large })
  await store.suppressions.add(records.suppression({ email: ADDRESS, evidence: ADDRESS }))
  // So many that the search index merges no segment for the sake of three deleted rows.
  await accept(store, ...Array.from({ length: 500 }, (_, at) => records.accepted({ subject: `Number ${at}` })))
  while (await store.maintain('recent', () => true));
  expect(filesWith(ADDRESS).length).toBeGreaterThan(0)

  const { id } = await erase(store, records, ADDRESS, START + DAY)
  expect(await store.erasures.get(id)).toMatchObject({
    finishedAt: START + DAY,
    removed: { messages: 2, sharedMessages: 1 },
  })
  // While the server runs, and after it ends.
  expect(filesWith(ADDRESS)).toEqual([])
  expect(filesWith('zzyzx')).toEqual([])
  await store.close()
  expect(filesWith('zzyzx')).toEqual([])
})
