/** The built program → packages: `bun run package` makes dist/packages with a Debian package, a .tar.xz, a .tar.gz
 *  and SHA256SUMS, for this machine's processor or `--target x64|arm64|all`. The programs are built before
 *  (scripts/build.ts, with the same --target).
 *
 *  The same commit gives the same bytes: times are that of the commit (SOURCE_DATE_EPOCH), owners are root, names
 *  are sorted. scripts/release makes these packages for all processors, with everything else of a version. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pkg from '../package.json' with { type: 'json' }
import { writeArchives } from './package/archives.ts'
import { writeDebian } from './package/debian.ts'
import { commitTime } from './package/run.ts'

const DIST = join(import.meta.dir, '../dist')
const TARGETS = { x64: 'amd64', arm64: 'arm64' } as const

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: process.arch },
    program: { type: 'string' },
    out: { type: 'string', default: join(DIST, 'packages') },
  },
})
const targets = (Object.keys(TARGETS) as (keyof typeof TARGETS)[]).filter(
  (target) => values.target === 'all' || values.target === target,
)
if (targets.length === 0) fail(`expected --target ${Object.keys(TARGETS).join('|')}|all, found ${values.target}`)

const out = values.out
const work = join(out, '.packaging')
rmSync(out, { recursive: true, force: true })
mkdirSync(work, { recursive: true })
for (const target of targets) {
  const program = values.program ?? programOf(target)
  const about = { program, version: pkg.version, time: commitTime(), work, out }
  await Promise.all([writeDebian({ ...about, architecture: TARGETS[target] }), writeArchives({ ...about, target })])
  tell(`program ${target}`, program)
}
rmSync(work, { recursive: true })
const files = readdirSync(out).sort()
writeFileSync(join(out, 'SHA256SUMS'), files.map((file) => `${sha256(join(out, file))}  ${file}\n`).join(''))
for (const file of files) tell(file, join(out, file))

/** The build of this machine, or one for another. */
function programOf(target: string): string {
  const built = [`postrider-linux-${target}`, ...(target === process.arch ? ['postrider'] : [])]
  const found = built.map((name) => join(DIST, name)).find((path) => existsSync(path))
  return found ?? fail(`dist/postrider-linux-${target} does not exist; run bun scripts/build.ts --target ${target}`)
}

function tell(name: string, path: string): void {
  console.log(`${name.padEnd(40)} ${(statSync(path).size / 1_000_000).toFixed(1)} MB`)
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function fail(message: string): never {
  console.error(`package: ${message}`)
  process.exit(1)
}
