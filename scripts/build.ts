/** src → one executable. `bun run build` makes dist/postrider for this machine; with `--target
 *  x64|arm64|x64-musl|arm64-musl|all`, dist/postrider-linux-<target>. Exit code 1 when a target cannot be built.
 *
 *    --signers FILE   keys that sign releases for `postrider upgrade`, instead of src/upgrade/release-signers
 *    --out NAME       of the file in dist
 *    --plugin FILE    module with another Bun plugin as its default export, for tests that need a changed program
 *
 *  - Workers are separate entry points; a compiled program finds them by their path from src, so src/threads.ts
 *  starts them.
 *  - Bytecode (a quarter of the CPU time of a start) requires the ESM format, or import.meta.url becomes a path of this machine.
 *  - Dashboard, manual and API reference are built before. Each is embedded as one file of bytes, which a start does not have to
 *  read.
 *  - .env and bunfig.toml of the current folder are not read. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import pkg from '../package.json' with { type: 'json' }
import { bundleDashboard } from '../src/dashboard/bundle.ts'
import { pack, packTogether } from '../src/dashboard/pack.ts'
import { bundleManual } from '../src/manual/bundle.ts'
import { bundleReference } from '../src/reference/bundle.ts'
import { addonAsFile } from './build/addon.ts'
import { loadedBy, withBytecodeOf } from './build/bytecode.ts'
import { imapLibraryAsFile } from './build/imap-library.ts'
import { migrationsAsFile } from './build/migrations.ts'
import { mjmlLibraryAsFile } from './build/mjml-library.ts'
import { packagesAsFiles } from './build/packages.ts'
import { shortNames } from './build/short-names.ts'
import { textByPart } from './build/text-by-part.ts'
import { isOfPasskeys, withoutUnused } from './build/unused.ts'
import { withoutGap } from './build/without-gap.ts'

const ROOT = join(import.meta.dir, '..')
const DIST = join(ROOT, 'dist')
const TARGETS = ['x64', 'arm64', 'x64-musl', 'arm64-musl'] as const

/** Modules that contain nothing but a large table. */
const TABLES = [
  ...['big5-added', 'cp936', 'cp949', 'cp950', 'eucjp', 'shiftjis'].map(
    (name) => `iconv-lite/encodings/tables/${name}.json`,
  ),
  'iconv-lite/encodings/sbcs-data-generated.js',
]
const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    signers: { type: 'string', default: join(ROOT, 'src/upgrade/release-signers') },
    out: { type: 'string', default: 'postrider' },
    plugin: { type: 'string' },
  },
})
const signers = readFileSync(values.signers, 'utf8')
const changed: Bun.BunPlugin[] = values.plugin === undefined ? [] : [(await import(resolve(values.plugin))).default]
const wanted = values.target === 'all' ? TARGETS : values.target === undefined ? [null] : [values.target]

/** Sources that a server with SQLite loads when it starts, beside its workers. */
const AT_START = [
  'src/main.ts',
  'src/cli/program.ts',
  'src/os/log.ts',
  'src/cli/serve.ts',
  'src/server/inbound-readers.ts',
  'src/inbound/reader-process.ts',
  'src/os/systemd.ts',
]

/** The same for all targets. */
const packs = {
  dashboard: pack(await bundleDashboard({ isForRelease: true })),
  manual: await packTogether(await bundleManual(), true),
  reference: pack(await bundleReference({ isForRelease: true })),
}
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
  const libc = (target === null ? isMuslHere() : target.endsWith('-musl')) ? 'musl' : 'glibc'
  const processor = target?.split('-')[0] ?? process.arch
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    const { metafile } = await Bun.build({
      entrypoints: ['src/main.ts', ...workers()].map((path) => join(ROOT, path)),
      root: join(ROOT, 'src'),
      // Code shared by main program and workers is in the program once, and code loaded later is in separate chunks.
      splitting: true,
      plugins: [
        ...changed,
        withSigners(),
        ...Object.entries(packs).map(([module, bytes]) => readingPack(module, bytes, folder)),
        addonAsFile(ROOT, folder, `${libc === 'musl' ? 'linuxmusl' : 'linux'}-${processor}`),
        tablesAsFiles(folder),
        await suffixTrieAsFiles(folder),
        oneSuffixList(),
        withoutUnused(ROOT, (unused) => !isOfPasskeys(unused)),
        migrationsAsFile(ROOT, folder),
        await imapLibraryAsFile(ROOT, folder),
        await mjmlLibraryAsFile(folder),
        await packagesAsFiles(ROOT, folder),
        shortNames(ROOT),
      ],
      // A trace in an operator's report names functions (short-names.ts). Source maps would add file positions, and 6 MB.
      minify: { whitespace: true, syntax: true, identifiers: false },
      sourcemap: 'none',
      metafile: true,
      bytecode: true,
      // Functions are compiled when they are first called, as without bytecode; the start of each module is not. One level
      // takes 4.4 MB more and `try --once` 0.87 of the CPU time, two take 7.0 MB more and 0.80.
      bytecodeDepth: 0,
      loader: { '.table': 'file' },
      format: 'esm',
      define: {
        'process.env.NODE_ENV': '"production"',
        'process.env.POSTRIDER_VERSION': JSON.stringify(pkg.version),
        'process.env.POSTRIDER_GIT_SHA': JSON.stringify(gitSha()),
        'process.env.POSTRIDER_LIBC': JSON.stringify(libc),
      },
      compile: {
        outfile: join(folder, outfile),
        autoloadDotenv: false,
        autoloadBunfig: false,
        ...(target === null ? {} : { target: `bun-linux-${target}` as Bun.Build.CompileTarget }),
      },
    })
    const atStart = loadedBy(metafile!, [...AT_START, ...workers()])
    const compiled = readFileSync(join(folder, outfile))
    writeFileSync(join(folder, outfile), withoutGap(withBytecodeOf(compiled, atStart)))
    chmodSync(join(folder, outfile), 0o755)
    utimesSync(join(folder, outfile), startedAt, startedAt)
    renameSync(join(folder, outfile), join(DIST, outfile))
    writeFileSync(join(DIST, `.parts-${outfile}.json`), JSON.stringify(textByPart(metafile), null, 1))
  } catch (error) {
    console.error(error instanceof AggregateError ? error.errors.map(String).join('\n') : error)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Replaces src/<module>/packed.ts, which makes the files from their sources. */
function readingPack(module: string, bytes: Uint8Array, folder: string): Bun.BunPlugin {
  const file = join(folder, `${module}.pack`)
  writeFileSync(file, bytes)
  const contents = `import file from ${JSON.stringify(file)} with { type: 'file' }
    export const packed = () => Bun.file(file).bytes()`
  return {
    name: module,
    setup: (build) => {
      build.onLoad({ filter: new RegExp(`src/${module}/packed\\.ts$`) }, () => ({ contents, loader: 'js' }))
    },
  }
}

/** Replaces the list of keys that sign releases. */
function withSigners(): Bun.BunPlugin {
  return {
    name: 'signers of releases',
    setup: (build) => {
      build.onLoad({ filter: /src\/upgrade\/release-signers$/ }, () => ({ contents: signers, loader: 'text' }))
    },
  }
}

/** Embeds tables as compressed JSON files that are read on first use: as code they take eight times the space. */
function tablesAsFiles(folder: string): Bun.BunPlugin {
  const files = TABLES.map((module) => {
    const file = join(folder, `${module.replaceAll('/', '-')}.table`)
    writeFileSync(file, compressed(JSON.stringify(require(module))))
    return [join(ROOT, 'node_modules', module), file] as const
  })
  const fileOf = new Map(files)
  return {
    name: 'tables as files',
    setup: (build) => {
      build.onLoad({ filter: /node_modules\/iconv-lite\// }, ({ path }) => {
        const file = fileOf.get(path)
        if (file === undefined) return undefined
        const contents = `const { readFileSync } = require('node:fs')
          const bytes = Bun.zstdDecompressSync(readFileSync(require(${JSON.stringify(file)})))
          module.exports = JSON.parse(new TextDecoder().decode(bytes))`
        return { contents, loader: 'js' }
      })
    },
  }
}

/** Embeds the trie of public suffixes as one compressed file per array or text. As code, each number takes five bytes or more, and
 *  as JSON, parsing takes 2 MB of memory. The processors of all targets are little-endian. */
async function suffixTrieAsFiles(folder: string): Promise<Bun.BunPlugin> {
  const trie: Record<string, unknown> = await import(join(ROOT, 'node_modules/tldts/dist/es6/src/data/trie.js'))
  const exported = Object.entries(trie).map(([name, value]) => {
    if (typeof value === 'number') return `export const ${name} = ${value}`
    const isText = typeof value === 'string'
    const file = join(folder, `suffixes-${name}.table`)
    writeFileSync(file, compressed(isText ? value : (value as Uint8Array | Uint16Array)))
    const bytes = `Bun.zstdDecompressSync(readFileSync(${name}File))`
    return `import ${name}File from ${JSON.stringify(file)} with { type: 'file' }
      export const ${name} = ${isText ? `${bytes}.toString()` : `new ${value?.constructor.name}(new Uint8Array(${bytes}).buffer)`}`
  })
  const contents = [`import { readFileSync } from 'node:fs'`, ...exported].join('\n')
  return {
    name: 'trie of public suffixes as files',
    setup: (build) => {
      build.onLoad({ filter: /tldts\/dist\/es6\/src\/data\/trie\.js$/ }, () => ({ contents, loader: 'js' }))
    },
  }
}

/** mailauth requires another format of the same list of public suffixes, which would be in the program twice. */
function oneSuffixList(): Bun.BunPlugin {
  return {
    name: 'one list of public suffixes',
    setup: (build) => {
      build.onResolve({ filter: /^tldts$/ }, () => ({ path: join(ROOT, 'node_modules/tldts/dist/es6/index.js') }))
    },
  }
}

function compressed(content: string | NodeJS.TypedArray): Uint8Array {
  return Bun.zstdCompressSync(content, { level: 19 })
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
