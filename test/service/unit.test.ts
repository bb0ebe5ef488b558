import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceUnit } from '../../src/cli/service-unit.ts'
import { PROGRAM } from '../faults/setup.ts'
import { buildOnce } from '../support/build-once.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import { describeWith, run } from '../support/real-tools.ts'

beforeAll(buildOnce)

const PLACES = { program: PROGRAM, file: '/etc/postrider/config.toml', dataDir: '/var/lib/postrider' }

describe('the systemd unit', () => {
  test('leaves the usual folders to systemd, and names others', () => {
    expect(serviceUnit(PLACES)).toContain('\nStateDirectory=postrider\n')
    const elsewhere = serviceUnit({ ...PLACES, file: '/srv/my mail/50%.toml', dataDir: '/srv/my mail' })
    expect(elsewhere).toContain('\nReadWritePaths="/srv/my mail"\n')
    expect(elsewhere).toContain(' serve --config "/srv/my mail/50%%.toml"\n')
    expect(elsewhere).not.toContain('StateDirectory')
  })
})

describeWith(['systemd-analyze'], 'what systemd says of the unit', () => {
  test('is accepted by systemd, with an exposure of at most 2.0', async () => {
    for (const places of [PLACES, { ...PLACES, file: '/srv/my mail/c.toml', dataDir: '/srv/my mail' }]) {
      const folder = mkdtempSync(join(tmpdir(), 'postrider-unit-'))
      const file = join(folder, 'postrider.service')
      writeFileSync(file, serviceUnit(places))
      expect(await run(['systemd-analyze', 'verify', '--man=no', file])).toEqual({ exitCode: 0, output: '' })
      const security = await run(['systemd-analyze', 'security', '--offline=yes', '--threshold=20', '--no-pager', file])
      expect(security.output).toMatch(/Overall exposure level for postrider.service: [01]\.\d|2\.0 /)
      expect(security.exitCode).toBe(0)
      rmSync(folder, { recursive: true })
    }
  })
})

describeWith(['systemd-analyze'], 'the services of the backup timer', () => {
  test('are accepted by systemd, and only the one for buckets and PostgreSQL has a network', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'postrider-unit-'))
    const texts = ['backup', 'backup-network'].map((name) => {
      const text = readFileSync(join(import.meta.dir, `../../scripts/package/${name}.service`), 'utf8')
      writeFileSync(join(folder, `postrider-${name}.service`), text.replaceAll('/usr/bin/postrider', PROGRAM))
      return text
    })
    for (const name of ['backup', 'backup-network']) {
      const file = join(folder, `postrider-${name}.service`)
      expect(await run(['systemd-analyze', 'verify', '--man=no', file])).toEqual({ exitCode: 0, output: '' })
    }
    expect(texts.map((text) => text.includes('\nPrivateNetwork=yes\n'))).toEqual([true, false])
    expect(texts.map((text) => /^ExecStart=\S+ (.*)$/m.exec(text)?.[1])).toEqual([
      'backup --if-network no',
      'backup --if-network yes',
    ])
    expect(texts[0]).toContain('\nWants=postrider-backup-network.service\n')
    rmSync(folder, { recursive: true })
  })
})

describeWith(
  ['root', 'systemd-analyze', 'setpriv', 'python3-seccomp'],
  'the program under the filter of the unit',
  () => {
    /** A path that others cannot read, wherever the checkout is. */
    let folder: string
    let program: string
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'postrider-unit-'))
      program = join(folder, 'postrider')
      chmodSync(folder, 0o755)
      copyFileSync(PROGRAM, program)
    })
    afterAll(() => rmSync(folder, { recursive: true }))

    const input = serviceUnit(PLACES)
    const python = readFileSync(join(import.meta.dir, 'confined.py'), 'utf8')
    const confined = (...command: string[]) => [...RIGHTS, '/usr/bin/python3', '-c', python, ...command]

    test('runs the whole path of a mail as nobody, with only the right to low ports', async () => {
      // The filter holds: calls outside it are refused.
      expect((await run(confined('/usr/bin/ionice', '-c', '3', 'true'), { input })).output).toContain('not permitted')
      const walked = await run(confined(program, 'try', '--once'), { input })
      expect(walked.output).toContain('All stages passed in')
      expect(walked.exitCode).toBe(0)
    })

    test('reads inbound mail in a confined process, as far as the kernel allows', async () => {
      const asked = (...command: string[]) =>
        run([...command, 'doctor', '--config', '/none', '--hostname', 'mail.x.test', '--json'], { input })
      const found = async (output: string) => {
        const { checks } = JSON.parse(output.slice(output.indexOf('{'))) as {
          checks: { name: string; message: string }[]
        }
        return checks.find(({ name }) => name === 'inbound_reading')?.message
      }
      const outside = await found((await asked(program)).output)
      expect(await found((await asked(...confined(program))).output)).toBe(outside)
      expect(outside).toContain('process')
    })

    test('serves HTTP, HTTPS and SMTP on their usual ports, and stops on demand', async () => {
      const dataDir = join(folder, 'data')
      mkdirSync(dataDir)
      chownSync(dataDir, 65_534, 65_534)
      const listeners = { http: 80, https: 443, smtp_inbound: 25, smtp_submission: 587, smtp_submission_tls: 465 }
      const at = (port: number) => `127.83.25.1:${port}` // no other user's
      const child = Bun.spawn(confined(program, 'serve', '--config', ''), {
        env: {
          ...process.env,
          TMPDIR: dataDir,
          POSTRIDER_HOSTNAME: 'mail.example.com',
          POSTRIDER_DATA_DIR: dataDir,
          POSTRIDER_HTTP_LISTEN: at(80),
          POSTRIDER_HTTP_LISTEN_TLS: at(443),
          POSTRIDER_SMTP_INBOUND_LISTEN: at(25),
          POSTRIDER_SMTP_SUBMISSION_LISTEN: at(587),
          POSTRIDER_SMTP_SUBMISSION_LISTEN_TLS: at(465),
          POSTRIDER_HEALTH_LOOK_OUTSIDE: 'false',
        },
        stdin: new Blob([input]),
        stdout: 'pipe',
        stderr: 'pipe',
        timeout: TEST_LIMIT_MS,
        killSignal: 'SIGKILL',
      })
      const log = new Response(child.stderr).text()
      const { value } = await child.stdout.getReader().read()
      const ready = JSON.parse(new TextDecoder().decode(value) || JSON.stringify(await log))
      expect(ready).toMatchObject(Object.fromEntries(Object.entries(listeners).map(([name, port]) => [name, at(port)])))
      expect((await fetch(`http://${at(80)}/readyz`)).status).toBe(200)
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
      expect(await log).not.toContain('"level":"error"')
    })
  },
)

const CAPABILITIES = ['bounding-set', 'inh-caps', 'ambient-caps'].map((set) => `--${set}=-all,+net_bind_service`)
const RIGHTS = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...CAPABILITIES, '--no-new-privs']
