import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { imageConfig } from '../../scripts/release-files/image/config.ts'
import { writeChecksums } from '../../scripts/release-files/signature.ts'
import { commandTree } from '../../src/cli/manual/packed.ts'
import { readConfig } from '../../src/config/load.ts'
import { keysByPath } from '../../src/config/paths.ts'
import { allOf } from '../../src/web/manual/command-tree.ts'
import { buildOnce } from '../support/build-once.ts'
import { inOtherRoot } from '../support/other-root.ts'
import { changed, example } from '../support/proxy.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { packageOf } from '../walk/debian.ts'

/** scripts/examples for containers and machines: each is valid for its tool, and uses what Postrider has. */

const ROOT = join(import.meta.dir, '../..')
const EXAMPLES = join(ROOT, 'scripts/examples')
const COMPOSE = ['compose.yaml', 'compose.cluster.yaml']
const commands = allOf(commandTree())

interface Service {
  image: string
  command?: string[]
  environment?: Record<string, string>
  healthcheck?: { test: string[] }
  volumes?: string[]
}
const servicesOf = (name: string) => {
  const { services } = Bun.YAML.parse(example(name)) as { services: Record<string, Service> }
  return Object.entries(services).filter(([, { image }]) => /^postrider(:|$)/.test(image))
}

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64'
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Throws unless the words are a command of Postrider with options that it has. */
function expectCommand(words: readonly string[]): void {
  const path = words
    .slice(
      0,
      Math.max(
        0,
        words.findIndex((word) => word.startsWith('-')),
      ) || words.length,
    )
    .join(' ')
  const command = commands.find((each) => path === each.path || path.startsWith(`${each.path} `))
  if (command === undefined || command.path === '') throw new Error(`no command ${words.join(' ')}`)
  const known = command.options.flatMap(({ names }) => names)
  for (const word of words.filter((each) => each.startsWith('--'))) expect(known).toContain(word.split('=', 1)[0]!)
}

describeWith(['docker-compose'], 'the compose files', () => {
  for (const name of COMPOSE) {
    test(`match the compose specification: ${name}`, async () => {
      // Prints the normalised file, after it was validated with the schema.
      const { exitCode, output } = await run(['docker-compose', '-f', join(EXAMPLES, name), 'config'])
      expect(output).toContain('POSTRIDER_HOSTNAME')
      expect(exitCode).toBe(0)
    })
  }
})

describe('the compose files', () => {
  for (const name of COMPOSE) {
    test(`set keys and call commands that exist: ${name}`, () => {
      const services = servicesOf(name)
      expect(services).not.toEqual([])
      for (const [, { environment = {}, command, healthcheck }] of services) {
        const result = readConfig({ text: '', file: name, env: environment })
        expect('faults' in result ? result.faults : []).toEqual([])
        if (command !== undefined) expectCommand(command)
        if (healthcheck !== undefined) expectCommand(healthcheck.test.slice(2))
      }
    })
  }

  test('keep the data in the volume of the image, and take nothing that the image does not need', () => {
    const [[, service]] = servicesOf('compose.yaml') as [[string, Service & Record<string, unknown>]]
    const { config } = imageConfig({ architecture: ARCHITECTURE, version: '', revision: '', time: 0, diffIds: [] })
    expect(service.volumes).toEqual(Object.keys(config.Volumes).map((path) => `postrider:${path}`))
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], cap_add: ['NET_BIND_SERVICE'] })
  })

  test('name in comments only keys and commands that exist', () => {
    const text = example('compose.yaml')
    const names = [...text.matchAll(/^ *# (POSTRIDER_[A-Z_]+): /gm)].map(([, name]) => name!)
    expect(names).toContain('POSTRIDER_HTTP_BEHIND_PROXY')
    const paths = [...keysByPath().keys()].map((path) => `POSTRIDER_${path.replaceAll('.', '_').toUpperCase()}`)
    expect(names.filter((name) => !paths.includes(name))).toEqual([])
    const calls = [...text.matchAll(/docker compose (?:run --rm|exec postrider) postrider (.*?)(?: {2}|$)/gm)]
    expect(calls).toHaveLength(2)
    for (const [, words] of calls) expectCommand(words!.trim().split(' '))
  })
})

describe('the configurations in comments of the proxies', () => {
  for (const name of ['Caddyfile', 'nginx.conf']) {
    test(`are valid: ${name}`, () => {
      const toml = /^# {3}\[http\]\n(?:# {3}.+\n)+/m.exec(example(name))![0].replaceAll(/^# {3}/gm, '')
      const result = readConfig({ text: `hostname = "mail.example.com"\n${toml}`, file: name, env: {} })
      expect('faults' in result ? result.faults : []).toEqual([])
    })
  }
})

describeWith(['root', 'cloud-init', 'shellcheck', 'unshare', 'dpkg', 'curl'], 'the example for cloud-init', () => {
  let folder: string
  let release: string
  const files = () => {
    const data = Bun.YAML.parse(example('cloud-init.yaml')) as {
      write_files: { path: string; permissions?: string; content: string }[]
      runcmd: string[][]
    }
    const written = data.write_files.map(({ path, permissions = '0644', content }) => [
      path,
      { text: content, mode: Number.parseInt(permissions, 8) },
    ])
    return {
      command: data.runcmd[0]![0]!,
      files: Object.fromEntries(written) as Record<string, { text: string; mode: number }>,
    }
  }
  beforeAll(async () => {
    buildOnce()
    folder = mkdtempSync(join(tmpdir(), 'postrider-cloud-'))
    release = join(folder, 'release')
    await packageOf(join(ROOT, 'dist/postrider'), pkg.version, release)
    writeChecksums(release)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is valid, with a script without errors', async () => {
    const { exitCode, output } = await run(['cloud-init', 'schema', '--config-file', join(EXAMPLES, 'cloud-init.yaml')])
    expect(output).toContain('Valid cloud-config')
    expect(exitCode).toBe(0)
    const { command, files: written } = files()
    const checked = await run(['shellcheck', '--exclude=SC1091', '-'], { input: written[command]!.text })
    expect(checked).toEqual({ exitCode: 0, output: '' })
  })

  /** As cloud-init runs it, from the release in `release`. There is no init system to start a service. */
  const setUp = (sums: string, then: string) => {
    const { command, files: written } = files()
    const settings = changed(written['/etc/postrider-setup']!.text, [
      [/^RELEASE=.*$/gm, 'RELEASE=file:///mnt'],
      [/^VERSION=.*$/gm, `VERSION=${pkg.version}`],
      [/^SUMS=.*$/gm, `SUMS=${sums}`],
    ])
    const script = changed(written[command]!.text, [['systemctl enable --now', 'systemctl enable']])
    return inOtherRoot(folder, `${command} && ${then}`, {
      files: {
        '/etc/postrider-setup': { text: settings, mode: 0o644 },
        [command]: { text: script, mode: 0o755 },
      },
      mounted: release,
    })
  }
  test('installs the package, prepares the domain, and says what is next without a secret', async () => {
    const look = [
      'grep -c "" /etc/postrider/config.toml',
      'stat -c "%U %a %n" /var/lib/postrider/postrider.db',
      'ls /etc/systemd/system/multi-user.target.wants/postrider.service /etc/systemd/system/timers.target.wants/postrider-backup.timer',
      'setpriv --reuid=postrider --regid=postrider --clear-groups postrider config check',
      'postrider domain list',
    ].join(' && ')
    const { exitCode, output } = await setUp(sha256(join(release, 'SHA256SUMS')), look)
    expect(output).toContain('Postrider runs at https://mail.example.com.')
    expect(output).toContain('postrider 600 /var/lib/postrider/postrider.db')
    expect(output).toContain('timers.target.wants/postrider-backup.timer')
    expect(output).toMatch(/ example\.com +pending /)
    expect(output).not.toMatch(/svc_live_|token=/)
    expect(exitCode).toBe(0)
  })

  test('installs nothing if SHA256SUMS is not the one that the operator named', async () => {
    const { exitCode, output } = await setUp('0'.repeat(64), 'true')
    expect(output).toContain('SHA256SUMS: FAILED')
    expect(output).not.toContain('Unpacking postrider')
    expect(exitCode).toBe(1)
  })
})
