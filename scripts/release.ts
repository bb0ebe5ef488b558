/** The commit → all files of one version, in dist/release: `scripts/release --key FILE`.
 *
 *  - `--version V` must be the version of package.json. CHANGELOG.md must have an entry for it, and the tree no changes
 *    (`--allow-dirty`).
 *  - `--key FILE` signs: a secret key of minisign(1). `--signers FILE` names the public keys that install.sh and `postrider
 *    upgrade` trust, by default src/operating/upgrade/release-signers.
 *  - `--out FOLDER` replaces the folder. `--target x64|arm64` leaves out the other processor.
 *  - `--built FOLDER` takes postrider-linux-* and modules.txt from there instead of building them.
 *  - `--check-twice` builds a second time in a clone in another folder, and fails if a file differs.
 *
 *  Two builds of one commit have the same bytes: times are that of the commit (SOURCE_DATE_EPOCH), owners are root, names are
 *  sorted. On idle cores the compression takes most of the time: xz compresses each program twice. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import pkg from '../package.json' with { type: 'json' }
import { publicKeysIn } from '../src/operating/upgrade/verify.ts'
import { lockDataDir } from '../src/storage/sqlite/lock.ts'
import { writeArchives } from './package/archives.ts'
import { writeDebian } from './package/debian.ts'
import { commitTime } from './package/run.ts'
import { type Built, buildPrograms, PROCESSORS, type Target } from './release-files/build.ts'
import { changedFiles, changelog, obstacle, revision } from './release-files/checks.ts'
import { writePhpArchive, writePythonWheel } from './release-files/clients.ts'
import { componentsOf } from './release-files/components.ts'
import { writeImage } from './release-files/image.ts'
import { installerWith } from './release-files/installer.ts'
import { sbomOf } from './release-files/sbom.ts'
import { isSignedBy, sign, writeChecksums } from './release-files/signature.ts'
import { Steps } from './release-files/steps.ts'
import { differences } from './release-files/twice.ts'

const ROOT = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    version: { type: 'string' },
    out: { type: 'string', default: join(ROOT, 'dist/release') },
    key: { type: 'string' },
    signers: { type: 'string' },
    target: { type: 'string' },
    built: { type: 'string' },
    'allow-dirty': { type: 'boolean', default: false },
    'check-twice': { type: 'boolean', default: false },
  },
})
const version = pkg.version
const wrong = obstacle({
  wanted: values.version,
  version,
  changelog: changelog(),
  changed: changedFiles(),
  allowDirty: values['allow-dirty'],
})
if (wrong !== null) fail(wrong)
const targets = PROCESSORS.filter((each) => values.target === undefined || values.target === each)
if (targets.length === 0) fail(`expected --target ${PROCESSORS.join('|')}, found ${values.target}`)
if (values['check-twice'] && values['allow-dirty']) fail('--check-twice compares commits; commit your changes first')

const out = resolve(values.out)
const work = join(out, '.making')
const signers =
  values.signers === undefined ? join(ROOT, 'src/operating/upgrade/release-signers') : resolve(values.signers)
const keys = existsSync(signers) ? publicKeysIn(readFileSync(signers, 'utf8')) : []
if (values.signers !== undefined && keys.length === 0) fail(`${signers} contains no key`)
const time = commitTime()
const licence = readFileSync(join(ROOT, 'LICENSE'), 'utf8')

// Two at once would mix the files of the clients and the programs.
if (lockDataDir(join(ROOT, 'dist/.release')) === null) fail('another release is being made in this checkout')
rmSync(out, { recursive: true, force: true })
mkdirSync(work, { recursive: true })
const steps = new Steps()
const built = await steps.run('programs', () => programs())
// Both processors of this machine are busy with one program each.
await steps.run('packages', () => Promise.all(targets.map((target) => packages(target))))
await steps.run('image', async () => {
  const paths = Object.fromEntries(targets.map((target) => [target, built.programs[target]]))
  const file = join(out, `postrider-${version}-oci.tar`)
  writeImage(file, { programs: paths, version, revision: revision(), licence, time })
})
await steps.run('clients', async () => clients())
await steps.run('list of components', async () => {
  const components = componentsOf(built.modules)
  const about = { version, licence: pkg.license, revision: revision(), time, bunVersion: Bun.version, components }
  writeFileSync(join(out, `postrider-${version}.cdx.json`), sbomOf(about))
})
const installer = readFileSync(join(ROOT, 'scripts/install.sh'), 'utf8')
writeFileSync(join(out, 'install.sh'), installerWith(installer, keys))
rmSync(work, { recursive: true })
writeChecksums(out)
steps.print(out)
if (values['check-twice']) await checkTwice()
signOrSay()

async function programs(): Promise<Built> {
  const folder = values.built === undefined ? join(ROOT, 'dist') : resolve(values.built)
  const list = values.signers === undefined ? [] : ['--signers', signers]
  return buildPrograms({ folder, targets, isBuilt: values.built !== undefined, options: list })
}

async function packages(target: Target): Promise<void> {
  const program = built.programs[target]!
  const about = { program, version, time, work, out }
  const architecture = target === 'x64' ? 'amd64' : target
  await writeDebian({ ...about, architecture })
  await writeArchives({ ...about, target })
}

function clients(): void {
  execFileSync(process.execPath, ['scripts/client.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  const packed = join(ROOT, `dist/client/postrider-${version}.tgz`)
  copyFileSync(packed, join(out, `postrider-client-${version}.tgz`))
  writePythonWheel(join(out, `postrider-${version}-py3-none-any.whl`), version, time)
  writePhpArchive(join(out, `postrider-php-${version}.zip`), time)
}

/** Builds the commit in another folder, with the installed packages of this one. */
async function checkTwice(): Promise<void> {
  const clone = join(ROOT, 'dist/release-again')
  const again = join(clone, 'dist/release')
  rmSync(clone, { recursive: true, force: true })
  execFileSync('git', ['clone', '--quiet', ROOT, clone])
  for (const folder of ['node_modules', '.bun'].filter((name) => existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, folder), join(clone, folder), { recursive: true, verbatimSymlinks: true })
  }
  const options = [
    ...targets.flatMap((target) => (targets.length === 1 ? ['--target', target] : [])),
    ...(values.signers === undefined ? [] : ['--signers', signers]),
  ]
  execFileSync(join(clone, 'scripts/release'), options, { cwd: clone, stdio: 'inherit' })
  const found = differences(out, again)
  rmSync(clone, { recursive: true })
  if (found.length > 0) fail(`two builds of this commit differ: ${found.join(', ')}`)
  console.log('release: a second build in another folder has the same bytes')
}

function signOrSay(): void {
  if (values.key === undefined) {
    console.error(
      'release: NOT SIGNED. Give the key with --key FILE; without SHA256SUMS.minisig, nobody can verify this release.',
    )
    return
  }
  sign(out, resolve(values.key))
  if (keys.length === 0) {
    console.error(`release: signed, but ${signers} has no key, so nothing verifies the signature`)
    return
  }
  if (!isSignedBy(out, keys)) fail(`the key is not in ${signers}, so install.sh would refuse this release`)
  console.log('release: signed, and verified with the keys that install.sh trusts')
}

function fail(message: string): never {
  console.error(`release: ${message}`)
  process.exit(1)
}
