/** Writes packages.json: the newest version of each Debian package in the image, with its checksum. Run it for a release, and
 *  when Debian publishes a security update of glibc: `scripts/bun scripts/release-files/image/renew.ts`. It needs apt, and uses
 *  lists and a cache of its own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianMirrors } from './mirrors.ts'

const RELEASE = 'trixie'
const NAMES = ['base-files', 'gcc-14-base', 'libc6', 'libgcc-s1', 'libssl3t64', 'libstdc++6', 'libzstd1', 'zlib1g']
const PROCESSORS = { amd64: 'x64', arm64: 'arm64' } as const
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

const folder = mkdtempSync(join(tmpdir(), 'postrider-apt-'))
try {
  for (const path of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, path), { recursive: true })
  const architectures = Object.keys(PROCESSORS).join(',')
  const options = `[signed-by=${KEYRING} arch=${architectures}]`
  const sources = debianMirrors().map((mirror) => {
    return `deb ${options} ${mirror} ${RELEASE}${mirror.endsWith('-security') ? '-security' : ''} main`
  })
  writeFileSync(join(folder, 'sources.list'), `${sources.join('\n')}\n`)
  const settings = [
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
    `Dir::Etc::sourcelist=${folder}/sources.list`,
    'Dir::Etc::sourceparts=/dev/null',
    'Dir::Etc::preferencesparts=/dev/null',
    ...Object.keys(PROCESSORS).map((name) => `APT::Architectures::=${name}`),
  ].flatMap((setting) => ['-o', setting])
  execFileSync('apt-get', [...settings, 'update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'] })

  const packages = Object.fromEntries(
    Object.entries(PROCESSORS).map(([architecture, processor]) => [
      processor,
      NAMES.map((name) => newest(name, architecture, settings)),
    ]),
  )
  const pins = { release: `Debian ${RELEASE}`, packages }
  writeFileSync(join(import.meta.dir, 'packages.json'), `${JSON.stringify(pins, null, 2)}\n`)
} finally {
  rmSync(folder, { recursive: true })
}

function newest(name: string, architecture: string, settings: string[]) {
  const args = [...settings, 'show', '--no-all-versions', `${name}:${architecture}`]
  const text = execFileSync('apt-cache', args, { encoding: 'utf8' })
  const field = (key: string) => {
    const value = new RegExp(`^${key}: (.+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${name} has no ${key}`)
    return value
  }
  return { name, version: field('Version'), path: field('Filename'), sha256: field('SHA256') }
}
