import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../src/os/log.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { preparePebble } from '../support/pebble.ts'
import { describeWith } from '../support/real-tools.ts'
import { startTestServer } from '../support/server.ts'
import { shownCertificate } from '../support/shown-certificate.ts'

/** A whole server whose name has an A and an AAAA record, and the ACME server of Let's Encrypt. */

const HOSTNAME = 'mail.sender.example'
const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each()
})

/** Starts both; `listen` is the host of the listeners, and the authority validates on `validatedPort`. */
async function open(listen: string, validatedPort?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-pebble-'))
  undo.push(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  const lines: string[] = []
  const log = createLog({
    clock: { now: Date.now, sleep: async () => {} },
    level: 'info',
    format: 'json',
    write: (line) => lines.push(line),
  })
  const pebble = await preparePebble(folder, validatedPort ?? port)
  const server = await startTestServer({
    remote: { port: 9, open: () => 0 },
    log,
    config: {
      http: { listen: '127.0.0.1:0', listen_tls: `${listen}:0`, listen_redirect: `${listen}:${port}` },
      tls: {
        mode: 'acme',
        acme_directory: pebble.directoryUrl,
        acme_ca_file: pebble.caFile,
        acme_agree_terms: true,
        acme_http_port: port,
      },
      smtp: { inbound: { listen: `${listen}:0` } },
    },
  })
  undo.push(() => server.close())
  server.zone.set(HOSTNAME, 'A', ['127.0.0.1'])
  server.zone.set(HOSTNAME, 'AAAA', ['::1'])
  undo.push(await pebble.start(server.zone.address))
  /** The first log line with this message, while time passes. */
  const logged = async (message: string) => {
    await server.clock.advance(60_000)
    await until(
      () => `"${message}" among\n${lines.join('')}`,
      async () => {
        await server.clock.advance(3_000)
        return lines.some((line) => line.includes(`"message":"${message}"`))
      },
    )
    return JSON.parse(lines.find((line) => line.includes(`"message":"${message}"`))!) as { reason: string }
  }
  return { server, port, logged }
}

describeWith(['pebble'], 'the authority of a name with an A and an AAAA record', () => {
  test('issues a certificate for a server on both families, which shows it on both', async () => {
    const { server, logged } = await open('[::]')
    expect(await logged('certificate issued')).toMatchObject({ names: [HOSTNAME] })
    const { https, smtpInbound } = server.running().listening
    for (const host of ['127.0.0.1', '::1']) {
      const shown = [
        await shownCertificate(https!, { host }),
        await shownCertificate(smtpInbound!, { host, starttls: true }),
      ]
      for (const { issuer } of shown) expect(issuer).toContain('Pebble Intermediate CA')
    }
  })

  test('is not asked while the server accepts IPv4 only, and the reason says what to set', async () => {
    const { port, logged } = await open('0.0.0.0')
    expect((await logged('certificate not ordered')).reason).toBe(
      `the AAAA record of ${HOSTNAME} leads to ::1, an address of this machine, but nothing answers there on port ${port}: set http.listen_redirect to "[::]:${port}", or remove the record`,
    )
  })

  test('cannot reach the server from outside, and the reason names the address and the port', async () => {
    const closed = await freePort()
    const { logged } = await open('[::]', closed)
    expect((await logged('certificate not issued')).reason).toMatch(new RegExp(`${HOSTNAME}: .*:${closed}.*refused`))
  })
})
