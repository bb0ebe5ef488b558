import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version whose use of the packages below was read. */
const CHECKED = '2.10.2'

/** Packages that imapflow imports and src/canary/mailbox.ts does not use: it logs nothing, has no proxy, and fetches neither envelopes nor
 *  content. Each name that is read throws when it is called. */
const UNUSED = [
  'pino',
  'socks',
  'encoding-japanese',
  'libmime',
  'libqp',
  'libbase64',
  '@zone-eu/mailsplit',
  '@zone-eu/mailsplit/lib/flowed-decoder.js',
]

const ABSENT = `const fail = () => { throw new Error('not part of this program (scripts/build/imap-library.ts)') }
  module.exports = new Proxy(fail, { get: (_, name) => (name === '__esModule' ? false : name === 'default' ? module.exports : fail) })`

/** Replaces src/canary/imap-library.ts: the library is in the executable as one compressed file, which the thread that looks into
 *  mailboxes reads. As modules with bytecode it would take 3 MB, without the unused packages 0.7 MB. iconv-lite is that of
 *  the program. Rejects when imapflow has another version than the one checked. */
export async function imapLibraryAsFile(root: string, folder: string): Promise<Bun.BunPlugin> {
  const { version } = await Bun.file(join(root, 'node_modules/imapflow/package.json')).json()
  if (version !== CHECKED) throw new Error(`imap-library.ts was checked with imapflow ${CHECKED}; found ${version}`)
  const file = join(folder, 'imap-library.table')
  writeFileSync(file, Bun.zstdCompressSync(await bundled(root), { level: 19 }))
  const contents = `import file from ${JSON.stringify(file)} with { type: 'file' }
    import { readFileSync } from 'node:fs'
    import iconv from 'iconv-lite'
    const text = new TextDecoder().decode(Bun.zstdDecompressSync(readFileSync(file)))
    const library = { exports: {} }
    const load = (name) => (name === 'iconv-lite' ? iconv : process.getBuiltinModule(name))
    new Function('module', 'exports', 'require', text)(library, library.exports, load)
    export const ImapFlow = library.exports.ImapFlow`
  return {
    name: 'IMAP library as a file',
    setup: (build) => {
      build.onLoad({ filter: /src\/canary\/imap-library\.ts$/ }, () => ({ contents, loader: 'js' }))
    },
  }
}

async function bundled(root: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'src/canary/imap-library.ts')],
    target: 'node',
    format: 'cjs',
    minify: true,
    external: ['iconv-lite'],
    plugins: [
      {
        name: 'without unused packages',
        setup: (build) => {
          build.onResolve({ filter: /^[a-z@]/ }, ({ path }) =>
            UNUSED.includes(path) ? { path, namespace: 'unused-imap' } : undefined,
          )
          build.onLoad({ filter: /./, namespace: 'unused-imap' }, () => ({ contents: ABSENT, loader: 'js' }))
        },
      },
    ],
  })
  const text = await outputs[0]?.text()
  if (text === undefined) throw new Error('the IMAP library was not built')
  return text
}
