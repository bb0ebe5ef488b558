import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { type ConfigValues, makeConfig } from '../../src/config/load.ts'
import { openCheckDeps } from '../../src/operating/checkup/deps.ts'
import { machineChecks } from '../../src/operating/health/checks.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { POSTFIX_TOOLS, type Postfix, startPostfix } from '../support/postfix.ts'
import { describeWith } from '../support/real-tools.ts'
import { INSTALLATION } from './setup.ts'

/** The check `relays` of `postrider doctor` against a real Postfix. */

type RelayRow = NonNullable<ConfigValues['relays']>[number]

describeWith(POSTFIX_TOOLS, 'the check of relays', () => {
  let folder: string
  let zone: Zone
  let postfix: Postfix

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-relay-check-'))
    zone = await startZone()
    zone.set('relay.provider.example', 'A', ['127.0.0.1'])
    const [next, returns] = [await freePort(), await freePort()]
    postfix = await startPostfix({ next, returns, returnHost: 'bounces.sender.example' })
    for (const [name, text] of Object.entries({ password: postfix.login.password, wrong: 'wr0ng' })) {
      writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 })
    }
  })
  afterAll(async () => {
    await postfix.stop()
    await zone.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function check(...relays: Partial<RelayRow>[]) {
    const common = { host: 'relay.provider.example', port: postfix.port, username: postfix.login.user }
    const config = makeConfig({
      hostname: 'mail.sender.example',
      data_dir: folder,
      dns: { servers: [zone.address] },
      relays: relays.map((change, at) => ({
        name: `r${at + 1}`,
        ...common,
        password_file: join(folder, 'password'),
        certificates: [postfix.fingerprint],
        ...change,
      })),
    })
    const { deps, close } = openCheckDeps(config, { clock: systemClock, random: systemRandom, held: null })
    try {
      const checks = machineChecks({ ...INSTALLATION, relays: config.relays }, deps)
      const { status, message, advice = null } = await checks.find(({ name }) => name === 'relays')!.look()
      return { status, message, advice }
    } finally {
      close()
    }
  }

  test('passes for one that accepts the login, and says whether the certificate is verified', async () => {
    expect(await check({})).toMatchObject({
      status: 'pass',
      message: expect.stringMatching(
        /^r1 \(relay\.provider\.example:\d+\) accepts our login, after \d+ ms, over TLSv1\.3, certificate verified$/,
      ),
    })
    const { status, message } = await check({ certificates: [] })
    expect([status, message]).toEqual(['pass', expect.stringContaining('TLSv1.3, certificate not verified: ')])
  })

  test('fails for a refused login, and names the password file but not the password', async () => {
    const { status, message, advice } = await check({}, { password_file: join(folder, 'wrong') })
    expect([status, advice]).toEqual(['fail', 'Check username and password_file of the relay "r2".'])
    expect(message).toContain('answers, but: authentication failed: 535 5.7.8')
    expect(`${message}${advice}`).not.toContain('wr0ng')
  })

  test('fails for another certificate, and for a server without TLS, before the password is sent', async () => {
    const other = await check({ certificates: ['00'.repeat(32)] })
    expect(other).toMatchObject({ status: 'fail', message: expect.stringContaining('password not sent') })
    expect(other.advice).toContain('to its fingerprint')
    const plain = await check({ port: postfix.plainPort })
    expect(plain).toMatchObject({ status: 'fail', message: expect.stringContaining('does not offer it') })
    expect(plain.advice).toBe('Check tls, port and certificates of the relay "r1".')
  })

  test('fails for a name without an address, and for a closed port', async () => {
    const nameless = await check({ host: 'relay.typo.example' })
    expect(nameless).toMatchObject({ status: 'fail', message: expect.stringContaining('DNS has no address for it') })
    const closed = await check({ port: await freePort() })
    expect(closed).toMatchObject({ status: 'fail', message: expect.stringContaining('cannot connect to') })
    expect(closed.advice).toStartWith('Check host and port of the relay "r1".')
  })

  // Last: it looks at what the others did.
  test('sends no mail', async () => {
    await until('the log of the sessions', () => postfix.log().includes('auth=1'))
    const said = postfix.log()
    expect(said).not.toMatch(/\b(?:mail|rcpt|data)=\d|from=</)
  })
})
