import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { createWakeUps } from '../../../src/storage/postgres/wake-ups.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

const UNUSED = { offered: () => {}, destinations: () => {}, happened: () => {}, changed: () => {}, missed: () => {} }

describeWithPostgres('wake-ups', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  test('that could not be sent make the others look with the next check', async () => {
    const heard: string[] = []
    postgres.psql('create role sender login; revoke execute on function pg_notify(text, text) from public')
    const address = parseDatabaseUrl(postgres.url('postgres').replace('postgres@', 'sender@'))
    const sender = createWakeUps({ address, name: 'sender' }, UNUSED)
    await sender.check()
    sender.offer('deliveries', 'lost.example', 1, 1)
    await until('the refusal', () => postgres.log().includes('permission denied for function pg_notify'))
    postgres.psql('grant execute on function pg_notify(text, text) to public')
    const other = new SQL({ url: postgres.url('postgres'), max: 1 })
    try {
      await other.listen('postrider', (payload: string) => heard.push(payload))
      await until('a request to look', async () => {
        await sender.check()
        return heard.length > 0
      })
      sender.offer('deliveries', 'next.example', 1, 1)
      await until('the next offer', () => heard.length > 1)
      expect(heard).toEqual(['*', expect.stringContaining('next.example')])
    } finally {
      await sender.close()
      await other.close({ timeout: 0 })
    }
  })
})
