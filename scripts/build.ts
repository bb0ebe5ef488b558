/** src → one executable. `bun run build` makes dist/postrider for this machine; with `--target
 *  x64|arm64|x64-musl|arm64-musl|all`, dist/postrider-linux-<target>. Exit code 1 when a target cannot be built.
 *
 *    --signers FILE   keys that sign releases for `postrider upgrade`, instead of src/operating/upgrade/release-signers
 *    --out NAME       of the file in dist
 *    --plugin FILE    module with another Bun plugin as its default export, for tests that need a changed program
 *
 *  - Workers are separate entry points; a compiled program finds them by their path from src, so src/threads.ts
 *  starts them.
 *  - The API reference contains generated files of the client, which are generated again first.
 *  - Dashboard, manual with API reference, and the MJML library are made from source before, and embedded as files.
 *  - .env and bunfig.toml of the current folder are not read. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import pkg from '../package.json' with { type: 'json' }
import { commandTree } from '../src/cli/manual/packed.ts'
import { bundleMjml } from '../src/sending/submission/mjml/bundle.ts'
import { bundleDashboard } from '../src/web/dashboard/bundle.ts'
import { pack, packTogether } from '../src/web/dashboard/pack.ts'
import { bundleManual } from '../src/web/manual/bundle.ts'

const ROOT = join(import.meta.dir, '..')
const DIST = join(ROOT, 'dist')
const TARGETS = ['x64', 'arm64', 'x64-musl', 'arm64-musl'] as const

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    signers: { type: 'string', default: join(ROOT, 'src/operating/upgrade/release-signers') },
    out: { type: 'string', default: 'postrider' },
    plugin: { type: 'string' },
  },
})
const signers = readFileSync(values.signers, 'utf8')
const changed: Bun.BunPlugin[] = values.plugin === undefined ? [] : [(await import(resolve(values.plugin))).default]
const wanted = values.target === 'all' ? TARGETS : values.target === undefined ? [null] : [values.target]

execFileSync(process.execPath, ['scripts/client-types.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })

/** The same for all targets: modules of src that need the sources when they run, each with the bytes that it makes from them and the
 *  module that reads these bytes from a file of the executable. */
const MADE = [
  {
    path: 'web/dashboard/packed',
    bytes: pack(await bundleDashboard({ isForRelease: true })),
    reads: readsBytes('packed'),
  },
  {
    path: 'cli/manual/packed',
    bytes: await packTogether(await bundleManual(commandTree()), true),
    reads: readsBytes('packedManual'),
  },
  {
    path: 'sending/submission/mjml/bundled',
    bytes: await bundleMjml(),
    reads: 'export const bundledMjml = () => Bun.file(file).text()',
  },
]
for (const target of wanted) {
  if (target !== null && !TARGETS.some((known) => known === target)) {
    console.error(`build: expected --target ${[...TARGETS, 'all'].join('|')}, found ${target}`)
    process.exit(1)
  }
  const outfile = target === null ? values.out : `postrider-linux-${target}`
  console.error(`build: dist/${outfile}`)
  await build(outfile, target)
}

/** One executable, moved into place when it is complete. Its time is that of the start of the build, so that a
 *  source saved meanwhile counts as newer (scripts/try). */
async function build(outfile: string, target: string | null): Promise<void> {
  const startedAt = new Date()
  const folder = join(DIST, `.building-${outfile}`)
  const isMusl = target === null ? isMuslHere() : target.endsWith('-musl')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    await Bun.build({
      entrypoints: ['src/main.ts', ...workers()].map((path) => join(ROOT, path)),
      root: join(ROOT, 'src'),
      // Code shared by main program and workers is in the program once, and code loaded later is in separate chunks.
      splitting: true,
      plugins: [...changed, withSigners(), filesFromSource(folder)],
      // Names stay, because a trace in an operator's report names functions. Source maps would add file positions, and 6 MB.
      minify: { whitespace: true, syntax: true, identifiers: false },
      sourcemap: 'none',
      // `try --once` takes 1.02 s of CPU time, and 1.65 s without it, for 18 MB.
      bytecode: true,
      // With bytecode, another format makes import.meta.url a path of this machine.
      format: 'esm',
      define: {
        // Packages that use it would have a path of this machine.
        __dirname: '""',
        'process.env.NODE_ENV': '"production"',
        'process.env.POSTRIDER_VERSION': JSON.stringify(pkg.version),
        'process.env.POSTRIDER_GIT_SHA': JSON.stringify(gitSha()),
        'process.env.POSTRIDER_LIBC': JSON.stringify(isMusl ? 'musl' : 'glibc'),
      },
      compile: {
        outfile: join(folder, outfile),
        autoloadDotenv: false,
        autoloadBunfig: false,
        ...(target === null ? {} : { target: `bun-linux-${target}` as Bun.Build.CompileTarget }),
      },
    })
    utimesSync(join(folder, outfile), startedAt, startedAt)
    renameSync(join(folder, outfile), join(DIST, outfile))
  } catch (error) {
    console.error(error instanceof AggregateError ? error.errors.map(String).join('\n') : error)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readsBytes(name: string): string {
  return `export const ${name} = () => Bun.file(file).bytes()`
}

/** Replaces the modules of MADE. */
function filesFromSource(folder: string): Bun.BunPlugin {
  return {
    name: 'files from source',
    setup: (build) => {
      for (const { path, bytes, reads } of MADE) {
        const file = join(folder, path.replaceAll('/', '-'))
        writeFileSync(file, bytes)
        const contents = `import file from ${JSON.stringify(file)} with { type: 'file' }\n${reads}`
        build.onLoad({ filter: new RegExp(`/src/${path}\\.ts$`) }, () => ({ contents, loader: 'js' }))
      }
    },
  }
}

/** Replaces the list of keys that sign releases. */
function withSigners(): Bun.BunPlugin {
  return {
    name: 'signers of releases',
    setup: (build) => {
      build.onLoad({ filter: /src\/operating\/upgrade\/release-signers$/ }, () => ({
        contents: signers,
        loader: 'text',
      }))
    },
  }
}

function workers(): string[] {
  return [...new Bun.Glob('src/**/worker.ts').scanSync(ROOT)].sort()
}

/** The commit, with -dirty when files differ from it; `unknown` without git or commits. */
function gitSha(): string {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*']
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return 'unknown'
  }
}

function isMuslHere(): boolean {
  return readdirSync('/lib').some((name) => name.startsWith('ld-musl-'))
}
