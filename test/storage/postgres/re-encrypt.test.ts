import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_USER } from '../../../src/model/user.ts'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { reEncryptDatabase } from '../../../src/storage/postgres/re-encrypt.ts'
import { claimDue } from '../../support/claim.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { createRecords, found, START } from '../records.ts'

describeWithPostgres('a new key on PostgreSQL', () => {
  let postgres: TestPostgres
  const dataDir = mkdtempSync(join(tmpdir(), 'postrider-key-'))
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    await postgres.stop()
    rmSync(dataDir, { recursive: true })
  })

  test('encrypts every secret, so that the old key can be removed', async () => {
    const url = await postgres.createDatabase('encrypted')
    const open = () => openPostgresStore({ url, dataDir, now: START })
    const store = await open()
    const records = createRecords()
    await found(store, records)
    await store.certificates!.keep('certificate', 'a certificate and its key')
    const value = await store.secret('verp', new Uint8Array(32).fill(7))
    const webhook = records.webhook()
    const headers = [['X-Api-Key', 'key of the gateway']] as const
    await store.webhooks.create({ ...webhook, headers }, 'whsec_a')
    await store.inboundRoutes.create(records.inboundRoute(), 'whsec_b')
    await store.factors.beginTotp(FIRST_USER, new Uint8Array([7]), START)
    await store.close()

    const file = join(dataDir, 'seal.key')
    expect(await reEncryptDatabase(parseDatabaseUrl(url), dataDir)).toBeGreaterThanOrEqual(7)
    const [newKey] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, `${newKey}\n`, { mode: 0o600 })

    const again = await open()
    expect((await again.certificates!.changed(0))?.certificate).toBe('a certificate and its key')
    expect(await again.secret('verp', new Uint8Array(32))).toEqual(value)
    expect(await again.webhooks.secrets(webhook.id)).toMatchObject({ secret: 'whsec_a' })
    await again.events.append([records.event()])
    const request = { now: START, limit: 1, worker: 'w', freeFor: () => 1 }
    expect((await claimDue(again.webhookDeliveries, request))[0]!.headers).toEqual(headers)
    expect([...(await again.factors.totp(FIRST_USER))!.secret]).toEqual([7])
    await again.close()
    // As a database of an earlier version, whose secrets are encrypted before its upgrade.
    postgres.psql(
      'alter table webhooks drop column headers; alter table inbound_routes drop column headers',
      'encrypted',
    )
    expect(await reEncryptDatabase(parseDatabaseUrl(url), dataDir)).toBeGreaterThanOrEqual(6)
  })
})
