import { afterAll, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { SQL } from 'bun'
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { WakeUps } from '../../../src/storage/postgres/wake-ups.ts'
import { until } from '../../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'

const UNUSED = { offered: () => {}, happened: () => {}, changed: () => {}, missed: () => {} }

describeWithPostgres('wake-ups', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  test('of a server that falls silent before it is listened to are given up, so that the beats go on', async () => {
    const { hosts, ...rest } = parseDatabaseUrl(postgres.url('postgres'))
    const sockets: Socket[] = []
    let isSilent = false
    const proxy = createServer((client) => {
      sockets.push(client)
      const server = connect(hosts[0]!.port, hosts[0]!.host)
      for (const each of [client, server]) each.on('error', () => {})
      server.pipe(client)
      client.on('data', (bytes) => {
        isSilent ||= /listen/i.test(bytes.toString('latin1'))
        if (!isSilent) server.write(bytes)
      })
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo // of a TCP server
    const address = { ...rest, hosts: [{ host: '127.0.0.1', port }] }
    const wakeUps = new WakeUps({ address, name: 'wake-ups' }, UNUSED)
    await wakeUps.check()
    expect(isSilent).toBe(true)
    await wakeUps.close()
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })

  test('that could not be sent make the others look with the next check', async () => {
    const heard: string[] = []
    postgres.psql('create role sender login; revoke execute on function pg_notify(text, text) from public')
    const address = parseDatabaseUrl(postgres.url('postgres').replace('postgres@', 'sender@'))
    const sender = new WakeUps({ address, name: 'sender' }, UNUSED)
    await sender.check()
    sender.offer(['deliveries', 'lost.example', 1])
    await until('the refusal', () => postgres.log().includes('permission denied for function pg_notify'))
    postgres.psql('grant execute on function pg_notify(text, text) to public')
    const other = new SQL({ url: postgres.url('postgres'), max: 1 })
    try {
      await other.listen('postrider', (payload: string) => heard.push(payload))
      await until('a request to look', async () => {
        await sender.check()
        return heard.length > 0
      })
      sender.offer(['deliveries', 'next.example', 1])
      await until('the next offer', () => heard.length > 1)
      expect(heard).toEqual(['*', expect.stringContaining('next.example')])
    } finally {
      await sender.close()
      await other.close({ timeout: 0 })
    }
  })
})
