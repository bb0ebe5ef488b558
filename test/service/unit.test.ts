import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceUnit } from '../../src/cli/service-unit.ts'
import { LIMIT_MS } from '../cli/command.ts'
import { PROGRAM } from '../crash/setup.ts'
import { describeWith, run } from '../support/real-tools.ts'

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
  test('it is understood whole, and exposes 2.0 at most', async () => {
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

describeWith(['systemd-analyze', 'setpriv', 'python3-seccomp'], 'the program under the filter of the unit', () => {
  test(
    'walks the whole way of a mail as nobody, with no right but that to low ports',
    async () => {
      const unit = { input: serviceUnit(PLACES) }
      const confined = (...command: string[]) =>
        run([...RIGHTS, '/usr/bin/python3', join(import.meta.dir, 'confined.py'), ...command], unit)
      // The filter holds: what it leaves out is refused.
      expect((await confined('/usr/bin/nice', '-n', '-1', 'true')).output).toContain('Operation not permitted')
      const walked = await confined(PROGRAM, 'try', '--once')
      expect(walked.output).toContain('All of it in')
      expect(walked.exitCode).toBe(0)
    },
    LIMIT_MS,
  )
})

const CAPABILITIES = ['bounding-set', 'inh-caps', 'ambient-caps'].map((set) => `--${set}=-all,+net_bind_service`)
const RIGHTS = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...CAPABILITIES, '--no-new-privs']
