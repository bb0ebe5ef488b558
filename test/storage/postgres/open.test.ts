import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EncryptionKeyUnusable } from '../../../src/storage/encryption.ts'
import { StoreMismatch } from '../../../src/storage/errors.ts'
import { NEWEST_SCHEMA } from '../../../src/storage/migrations.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

describeWithPostgres('opening a store in PostgreSQL', () => {
  let postgres: TestPostgres
  const folders: string[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })
  afterAll(() => postgres.stop())

  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    folders.push(made)
    return made
  }

  test('a secret is read again after a restart, and by a node with the same key', async () => {
    const [url, dataDir] = [await postgres.createDatabase('secrets'), folder()]
    const first = await openPostgresStore({ url, dataDir, now: 1 })
    const secret = await first.secret('links', new Uint8Array([1, 2, 3]))
    await first.close()
    const second = await openPostgresStore({ url, dataDir, now: 2 })
    expect(await second.secret('links', new Uint8Array([4]))).toEqual(secret)
    await second.close()
  })

  test('a data directory without the key of the installation, or with another one, is refused', async () => {
    const url = await postgres.createDatabase('keys')
    await (await openPostgresStore({ url, dataDir: folder(), now: 1 })).close()
    const opening = openPostgresStore({ url, dataDir: folder(), now: 2 })
    await expect(opening).rejects.toBeInstanceOf(EncryptionKeyUnusable)
    const elsewhere = folder()
    const other = await postgres.createDatabase('others')
    await (await openPostgresStore({ url: other, dataDir: elsewhere, now: 1 })).close()
    await expect(openPostgresStore({ url, dataDir: elsewhere, now: 2 })).rejects.toBeInstanceOf(EncryptionKeyUnusable)
  })

  test('two first starts at once create one schema', async () => {
    const [url, dataDir] = [await postgres.createDatabase('twice'), folder()]
    const stores = await Promise.all(
      [false, true].map((isCommand) => openPostgresStore({ url, dataDir, now: 1, node: { isCommand } })),
    )
    await stores[0]!.organizations.create({ id: 'org_1', name: 'Shop', plan: 'pro', createdAt: 1 })
    expect(await stores[1]!.organizations.find('Shop')).toMatchObject({ id: 'org_1' })
    for (const store of stores) await store.close()
    expect(postgres.psql('select count(*) from migrations', 'twice')).toBe(String(NEWEST_SCHEMA))
  })

  test('a schema of a newer version, and one with another text, are refused without a change', async () => {
    const [url, dataDir] = [await postgres.createDatabase('newer'), folder()]
    await (await openPostgresStore({ url, dataDir, now: 1 })).close()
    postgres.psql(`insert into migrations select max(number) + 1, '9999_later', 'x', 1 from migrations`, 'newer')
    await expect(openPostgresStore({ url, dataDir, now: 2 })).rejects.toThrow('a newer Postrider wrote the database')
    postgres.psql(`delete from migrations where name = '9999_later'; update migrations set checksum = 'x'`, 'newer')
    await expect(openPostgresStore({ url, dataDir, now: 2 })).rejects.toBeInstanceOf(StoreMismatch)
  })

  test('nodes learn the time of the database, before they register and with each beat', async () => {
    const url = await postgres.createDatabase('times')
    const times: { time: number; tookMs: number; at: number }[] = []
    const onTime = (time: number, tookMs: number) => {
      times.push({ time, tookMs, at: Date.now() })
    }
    const store = await openPostgresStore({ url, dataDir: folder(), now: 1, node: { onTime } })
    expect(times.length).toBeGreaterThanOrEqual(2)
    // On a busy machine, some time passes between the end of the exchange and its report.
    const reportedAtOnce = () => times.filter(({ time, tookMs, at }) => time >= at - tookMs - 1)
    await until('some beats', () => times.length >= 4 && reportedAtOnce().length >= 3)
    await store.close()
    for (const { time, at } of times) expect(time).toBeLessThanOrEqual(at + 1)
  })

  test('a database with another encoding is refused', async () => {
    postgres.psql(`create database latin template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`)
    const opening = openPostgresStore({ url: postgres.url('latin'), dataDir: folder(), now: 1 })
    await expect(opening).rejects.toThrow('the database latin has encoding LATIN1 instead of UTF8')
  })
})
