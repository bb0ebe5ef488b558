import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { differences } from '../../scripts/release-files/twice.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { makeReleaseKey, type ReleaseKey } from '../support/release.ts'

const ROOT = join(import.meta.dir, '../..')
const V = pkg.version
const FILES = [
  'SHA256SUMS',
  'SHA256SUMS.minisig',
  'install.sh',
  `postrider-${V}-linux-arm64.tar.gz`,
  `postrider-${V}-linux-arm64.tar.xz`,
  `postrider-${V}-linux-x64.tar.gz`,
  `postrider-${V}-linux-x64.tar.xz`,
  `postrider-${V}-oci.tar`,
  `postrider-${V}-py3-none-any.whl`,
  `postrider-${V}.cdx.json`,
  `postrider-client-${V}.tgz`,
  `postrider-php-${V}.zip`,
  `postrider_${V}_amd64.deb`,
  `postrider_${V}_arm64.deb`,
]

/** The image's packages come from a Debian mirror, through apt. */
describeWith(['apt-get', 'dpkg-deb', 'xz', 'minisign'], 'a release', () => {
  let folder: string
  let release: string
  /** Private key of releases. */
  let key: ReleaseKey
  let other: ReleaseKey

  const make = (out: string, ...args: string[]) => {
    const options = ['--allow-dirty', '--built', join(folder, 'built'), '--out', out, ...args]
    return run([process.execPath, join(ROOT, 'scripts/release.ts'), ...options])
  }
  const made = async (out: string, ...args: string[]) => {
    const { exitCode, output } = await make(out, ...args)
    if (exitCode !== 0) throw new Error(output)
    return output
  }
  const file = (name: string) => join(release, name)

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-release-'))
    release = join(folder, 'release')
    const built = join(folder, 'built')
    mkdirSync(built)
    for (const target of ['x64', 'arm64']) {
      writeFileSync(join(built, `postrider-linux-${target}`), `#!/bin/sh\necho "a program for ${target}, $*"\n`)
      chmodSync(join(built, `postrider-linux-${target}`), 0o755)
    }
    writeFileSync(
      join(built, 'modules.txt'),
      'node_modules/zod/index.js\nnode_modules/@preact/signals/dist/signals.mjs\n',
    )
    key = await makeReleaseKey(folder)
    other = await makeReleaseKey(folder, 'other')
    await made(release, '--key', key.file, '--signers', key.signers)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('has every file, and the checksums of all', async () => {
    expect(readdirSync(release).sort()).toEqual(FILES)
    const sums = readFileSync(file('SHA256SUMS'), 'utf8').trim().split('\n')
    expect(sums.map((line) => line.split('  ')[1])).toEqual(FILES.filter((name) => !name.startsWith('SHA256SUMS')))
    expect(await run(['sha256sum', '--quiet', '-c', 'SHA256SUMS'], { cwd: release })).toEqual({
      exitCode: 0,
      output: '',
    })
  })

  test('is signed, as the commands of SECURITY.md verify, and install.sh has the key', async () => {
    const verify = (by: ReleaseKey) => run(['minisign', '-Vm', 'SHA256SUMS', '-P', by.publicKey], { cwd: release })
    expect((await verify(key)).exitCode).toBe(0)
    expect((await verify(other)).exitCode).not.toBe(0)
    expect(readFileSync(file('install.sh'), 'utf8')).toContain(key.publicKey)
  })

  test('made again has the same bytes, and without a key says that it is not signed', async () => {
    const again = join(folder, 'again')
    expect(await made(again, '--signers', key.signers)).toContain('NOT SIGNED')
    expect(differences(release, again)).toEqual([])
    writeFileSync(join(again, 'install.sh'), 'changed')
    expect(differences(release, again)).toEqual(['install.sh'])
  })

  test('is refused for another version, an unknown processor, and a signer without keys', async () => {
    writeFileSync(join(folder, 'none'), '# comment\n')
    for (const [args, reason] of [
      [['--version', '99.0.0'], '--version is 99.0.0'],
      [['--target', 'riscv64'], 'expected --target x64|arm64'],
      [['--signers', join(folder, 'none')], 'contains no key'],
      [['--check-twice'], '--check-twice compares commits'],
    ] as const) {
      const { exitCode, output } = await make(join(folder, 'refused'), ...args)
      expect([exitCode, output]).toEqual([1, expect.stringContaining(reason)])
    }
    expect(readdirSync(folder)).not.toContain('refused')
  })

  test('lists the components, with licences and the checksums of bun.lock', () => {
    const document = JSON.parse(readFileSync(file(`postrider-${V}.cdx.json`), 'utf8'))
    expect([document.bomFormat, document.specVersion, document.metadata.component.version]).toEqual([
      'CycloneDX',
      '1.6',
      V,
    ])
    const components = new Map(document.components.map((each: { 'bom-ref': string }) => [each['bom-ref'], each]))
    expect(components.size).toBe(document.components.length)
    const zod = `pkg:npm/zod@${pkg.dependencies.zod}`
    const sum = /"zod@[^"]*", "", \{\}, "sha512-([^"]+)"/.exec(readFileSync(join(ROOT, 'bun.lock'), 'utf8'))![1]!
    expect(components.get(zod)).toMatchObject({
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from(sum, 'base64').toString('hex') }],
    })
    const names = [...components.keys()].join('\n')
    for (const part of ['pkg:npm/%40preact/signals@', 'pkg:github/oven-sh/bun@', 'pkg:generic/sqlite@3.', 'libc6@']) {
      expect(names).toContain(part)
    }
    // Tools of the developers are not in the executable.
    expect(names).not.toContain('typescript')
  })

  test('has a wheel from which Python imports the client, with right checksums', async () => {
    const wheel = file(`postrider-${V}-py3-none-any.whl`)
    const program = `
import base64, hashlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    assert wheel.testzip() is None
    for line in wheel.read(f'postrider-{sys.argv[2]}.dist-info/RECORD').decode().splitlines()[:-1]:
        path, digest, size = line.split(',')
        content = wheel.read(path)
        assert digest == 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode(), path
        assert int(size) == len(content), path
sys.path.insert(0, sys.argv[1])
import postrider
print(postrider.Postrider.__name__)
from importlib.metadata import version
print(version('postrider'))
`
    expect(await run(['python3', '-c', program, wheel, V], { cwd: folder })).toEqual({
      exitCode: 0,
      output: `Postrider\n${V}\n`,
    })
  })

  describeWith(['composer', 'php', 'php-zip'], 'its PHP archive', () => {
    test('is installed by Composer from a folder', async () => {
      const project = join(folder, 'php')
      mkdirSync(project)
      const repositories = [{ type: 'artifact', url: release }, { 'packagist.org': false }]
      const config = { repositories, require: { 'postrider/postrider': V } }
      writeFileSync(join(project, 'composer.json'), JSON.stringify(config))
      const env = { PATH: process.env.PATH!, HOME: folder, COMPOSER_ALLOW_SUPERUSER: '1' }
      const installed = await run(['composer', 'install', '-n', '-q'], { cwd: project, env })
      expect(installed).toEqual({ exitCode: 0, output: '' })
      const code = `require 'vendor/autoload.php'; echo Postrider\\Postrider::class, class_exists(Postrider\\Postrider::class);`
      expect((await run(['php', '-r', code], { cwd: project })).output).toBe('Postrider\\Postrider1')
    })
  })

  describeWith(['skopeo'], 'its image', () => {
    const inspect = async (reference: string, ...options: string[]) => {
      const { exitCode, output } = await run(['skopeo', ...options, 'inspect', '--raw', '--config', reference])
      return exitCode === 0 ? JSON.parse(output) : output
    }

    test('has one name for both processors, and names of their own for older versions of Docker', async () => {
      const image = file(`postrider-${V}-oci.tar`)
      for (const architecture of ['amd64', 'arm64']) {
        const chosen = await inspect(`oci-archive:${image}:postrider:${V}`, `--override-arch=${architecture}`)
        expect(chosen).toMatchObject({ architecture, os: 'linux' })
        expect(await inspect(`docker-archive:${image}:postrider:${V}-${architecture}`)).toEqual(chosen)
      }
    })

    test('runs without root, with a health check and a volume', async () => {
      const { config } = await inspect(`docker-archive:${file(`postrider-${V}-oci.tar`)}:postrider:${V}-amd64`)
      expect(config).toMatchObject({
        User: '10025:10025',
        Entrypoint: ['postrider'],
        Cmd: ['serve'],
        Volumes: { '/var/lib/postrider': {} },
        Healthcheck: { Test: ['CMD', 'postrider', 'healthcheck'] },
      })
    })
  })
})

describe('the program', () => {
  test('built in another folder has the same bytes', async () => {
    const built = process.env.PROGRAM ?? (await buildInCopy('first'))
    const again = await buildInCopy('second/with/a/longer/path')
    expect(readFileSync(again).equals(readFileSync(built))).toBe(true)
    rmSync(COPIES, { recursive: true })
  })
})

/** On the same file system, for hard links. */
const COPIES = join(ROOT, 'dist/copies')

/** Builds the program from a copy of the working tree → its path. */
async function buildInCopy(name: string): Promise<string> {
  const copy = join(COPIES, name)
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  const settings = ['package.json', 'bun.lock', 'tsconfig.json', 'bunfig.toml', 'biome.json']
  const files = ['src', 'scripts', 'node_modules', 'LICENSE', ...settings].map((each) => join(ROOT, each))
  await run(['cp', '-al', ...files, copy])
  const { exitCode, output } = await run([process.execPath, 'scripts/build.ts'], { cwd: copy })
  if (exitCode !== 0) throw new Error(output)
  return join(copy, 'dist/postrider')
}
