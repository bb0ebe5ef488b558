import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseAddress } from '../../../src/storage/postgres/address.ts'
import { connect, NoAnswer } from '../../../src/storage/postgres/connection.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { createTestCa, type TestCa } from '../../support/test-ca.ts'

describeWithPostgres('a connection with TLS', () => {
  let postgres: TestPostgres
  let ca: TestCa
  const folder = mkdtempSync(join(tmpdir(), 'postrider-tls-'))
  const caFile = join(folder, 'ca.pem')
  beforeAll(async () => {
    postgres = await startPostgres()
    ca = createTestCa()
    writeFileSync(caFile, ca.certificatePem)
    useCertificate(postgres, ca, folder)
  })
  afterAll(async () => {
    await postgres.stop()
    ca.remove()
    rmSync(folder, { recursive: true })
  })

  const open = (host: string, file: string | null) => {
    const url = `postgres://postgres@${host}:${postgres.port}/postgres?sslmode=verify-full`
    return connect({ address: databaseAddress({ url, caFile: file }), name: 'tls' })
  }

  test('is made to a server whose certificate comes from the CA file', async () => {
    const connection = await open('localhost', caFile)
    expect(await connection.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }])
    connection.close()
  })

  test('is refused without the CA file, and for another name', async () => {
    await expect(open('localhost', null)).rejects.toBeInstanceOf(NoAnswer)
    await expect(open('127.0.0.1', caFile)).rejects.toBeInstanceOf(NoAnswer)
  })
})

/** Gives the server a certificate for localhost. */
function useCertificate(postgres: TestPostgres, ca: TestCa, folder: string): void {
  const data = postgres.psql('show data_directory')
  const [key, csr] = [join(data, 'server.key'), join(folder, 'server.csr')]
  const made = Bun.spawnSync([
    ...['openssl', 'req', '-new', '-batch', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', key, '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-outform', 'DER'],
    ...['-out', csr],
  ])
  if (made.exitCode !== 0) throw new Error(`openssl req: ${made.stderr}`)
  const now = Date.now()
  const signed = ca.sign(Bun.mmap(csr), { startsAt: now - 3_600_000, endsAt: now + 3_600_000 })
  writeFileSync(join(data, 'server.crt'), signed)
  const { uid, gid } = statSync(data)
  for (const name of ['server.key', 'server.crt']) chownSync(join(data, name), uid, gid)
  postgres.psql('alter system set ssl = on')
  postgres.psql('select pg_reload_conf()')
}
