import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATIENCE_MS } from '../support/patience.ts'
import { PROGRAM } from './command.ts'

// threat: file-modes
for (const umask of ['000', '022', '077', '777']) {
  test(`under umask ${umask} every created file has the same mode, and no other user can write it`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'postrider-modes-'))
    const at = (name: string) => join(folder, name)
    const run = (...args: string[]) => {
      const command = ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh', ...PROGRAM, ...args]
      const { exitCode, stderr } = Bun.spawnSync(command, { stdout: 'pipe', stderr: 'pipe', timeout: PATIENCE_MS })
      if (exitCode !== 0) throw new Error(stderr.toString())
    }
    const modeOf = (name: string) => (statSync(at(name)).mode & 0o7777).toString(8)
    const config = at('etc/postrider/config.toml')
    try {
      writeFileSync(at('smarthost'), 'smtp://shop:s3cret@127.0.0.1:587\n')
      const init = [
        'init',
        '--config',
        config,
        '--domain',
        'example.com',
        '--data-dir',
        at('lib/data'),
        '--skip-checks',
      ]
      run(...init, '--no-input', '--smarthost', readFileSync(at('smarthost'), 'utf8').trim())
      run('backup', at('backups/'), '--config', config)
      run('backup', at('one'), '--config', config)
      run('restore', at('one'), '--to', at('restored'), '--unauthenticated')
      run(
        'send',
        '--config',
        config,
        ...['--from', 'a@example.com', '--to', 'b@example.org', '--subject', 's', '--text', 't', '--mode', 'test'],
      )
      expect({
        'etc/postrider': modeOf('etc/postrider'),
        config: modeOf('etc/postrider/config.toml'),
        smarthost: modeOf('etc/postrider/smarthost'),
        dns: modeOf('etc/postrider/dns'),
        zone: modeOf('etc/postrider/dns/example.com.zone'),
        data: modeOf('lib/data'),
        restored: modeOf('restored'),
        one: modeOf('one'),
      }).toEqual({
        'etc/postrider': '755',
        config: '640',
        smarthost: '600',
        dns: '755',
        zone: '644',
        data: '700',
        restored: '700',
        one: '600',
      })
      for (const kept of ['lib/data', 'restored']) {
        for (const name of readdirSync(at(kept))) expect([name, modeOf(`${kept}/${name}`)]).toEqual([name, '600'])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}
