import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigValues } from '../../src/config/load.ts'
import type { Server } from '../../src/server/server.ts'
import { type AcmeAuthority, startAcmeAuthority } from '../support/acme-authority.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer, untilInTime } from '../support/server.ts'
import { shownCertificate } from '../support/shown-certificate.ts'

const HOSTS = ['mail.sender.example', 'mx2.sender.example', 'mx3.sender.example']

/** Nodes on one database, of which only the second serves the port that the authority asks. */
describeWithPostgres('certificates of several nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-acme-'))
  let postgres: TestPostgres
  let authority: AcmeAuthority
  let remote: RawMx
  let server: TestServer
  let askedPort: number
  let tls: ConfigValues['tls']
  beforeAll(async () => {
    askedPort = await freePort()
    authority = await startAcmeAuthority({ askAt: () => askedPort, now: () => server.clock.now() })
    const acme_ca_file = join(folder, 'ca.pem')
    writeFileSync(acme_ca_file, authority.ca)
    tls = {
      mode: 'acme',
      acme_directory: authority.directoryUrl,
      acme_ca_file,
      acme_agree_terms: true,
      acme_contact: 'ops@sender.example',
      acme_http_port: askedPort,
    }
    remote = await startRawMx({ script: () => null })
    postgres = await startPostgres()
    const database = { url: await postgres.createDatabase('acme') }
    server = await startTestServer({ remote, config: { http: listening('127.0.0.1:0'), tls, database } })
    for (const name of HOSTS) server.zone.set(name, 'A', ['127.0.0.1'])
    await until('a leader', () => server.store().leases.leads())
  })
  afterAll(async () => {
    await server.close()
    await Promise.all([remote.stop(), authority.stop()])
    await postgres.stop()
    rmSync(folder, { recursive: true })
  })

  const listening = (redirect: string) => ({
    listen: '127.0.0.1:0',
    listen_tls: '127.0.0.1:0',
    listen_redirect: redirect,
  })
  const addNode = async (n: number, redirect: string) => {
    const config = { hostname: HOSTS[n - 1]!, cluster: { name: `n${n}` }, http: listening(redirect) }
    return (await server.addNode(config)).server
  }
  const shown = async (at: Server) => {
    const { issuer, subjectAltName, serialNumber } = await shownCertificate(at.listening.https!)
    return { issuer, names: subjectAltName?.split(', ').sort(), serialNumber }
  }
  const names = (count: number) => HOSTS.slice(0, count).map((name) => `DNS:${name}`)
  /** All nodes present the same certificate, with the names of so many nodes, after some minutes. */
  const present = (nodes: Server[], count: number) =>
    untilInTime(server.clock, `a certificate of ${count} nodes`, async () => {
      // A connection may end while the listener changes its certificate.
      const all = await Promise.all(nodes.map(shown)).catch(() => [])
      const isSame = new Set(all.map(({ serialNumber }) => serialNumber)).size === 1
      return isSame && Bun.deepEquals(all[0]?.names, names(count)) && all[0]?.issuer === 'CN=Test Authority'
    })
  const sql = (statement: string) => postgres.psql(statement, 'acme')

  test('the leader orders one for all, any node answers the challenge, and all present it', async () => {
    const one = server.running()
    const two = await addNode(2, `127.0.0.1:${askedPort}`)
    expect(two.store.leases.leads()).toBe(false)
    await present([one, two], 2)
    expect(authority.orders.map((order) => order.toSorted())).toEqual([HOSTS.slice(0, 2)])
    expect(sql(`select position('PRIVATE KEY' in encode(certificate, 'escape')) from certificates`)).toBe('0')
    expect(sql('select octet_length(certificate) > 500 from certificates')).toBe('t')
    await until('the challenges to be removed', () => sql('select count(*) from challenges') === '0')

    // A node that joins presents it from the beginning, and its name follows.
    const three = await addNode(3, '127.0.0.1:0')
    expect(await shown(three)).toEqual(await shown(one))
    await present([one, two, three], 3)
    expect(authority.orders).toHaveLength(2)

    // Another node orders the next one after the leader has ended.
    await server.stop()
    await until('another leader', () => [two, three].some(({ store }) => store.leases.leads()))
    const before = await shown(two)
    server.clock.jump(61 * 86_400_000)
    await untilInTime(server.clock, 'the next certificate', async () => {
      const all = await Promise.all([two, three].map(shown)).catch(() => [])
      return all.length > 0 && all.every(({ serialNumber }) => serialNumber !== before.serialNumber)
    })
    expect(authority.orders).toHaveLength(3)
  })
})
