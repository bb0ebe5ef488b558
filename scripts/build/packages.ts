import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOfPasskeys, withoutUnused } from './unused.ts'

const PASSKEYS = '@simplewebauthn/server'

/** Packages that are loaded after the start of the program: by parsing threads, single sign-on and passkeys. */
const PACKAGES = ['liquidjs', 'openid-client', PASSKEYS]
/** Likewise a module of ours that one command uses. */
const TEMPLATE_PUSH = './src/cli/template-push/liquid.ts'

/** Each of PACKAGES and TEMPLATE_PUSH is in the executable as one compressed file, which its importer reads. As modules with bytecode, they
 *  take 15 times the space. Loading one takes some milliseconds more. */
export async function packagesAsFiles(root: string, folder: string): Promise<Bun.BunPlugin> {
  const modules = new Map<string, string>()
  for (const name of [...PACKAGES, TEMPLATE_PUSH]) modules.set(name, await moduleOf(name, root, folder))
  return {
    name: 'packages as files',
    setup: (build) => {
      build.onResolve({ filter: /^[a-z@]/ }, ({ path }) =>
        modules.has(path) ? { path, namespace: 'package-file' } : undefined,
      )
      build.onResolve({ filter: /^\.\/(?:template-push\/)?liquid\.ts$/ }, ({ importer }) =>
        /\/src\/cli\/template-push(?:\/convert)?\.ts$/.test(importer)
          ? { path: TEMPLATE_PUSH, namespace: 'package-file' }
          : undefined,
      )
      build.onLoad({ filter: /./, namespace: 'package-file' }, ({ path }) => ({
        contents: modules.get(path) ?? '',
        loader: 'js',
      }))
    },
  }
}

/** Writes the file of a package; returns the source of a module with the same named exports. The build fails when an importer
 *  needs another. */
async function moduleOf(name: string, root: string, folder: string): Promise<string> {
  const text = await bundled(name, root)
  const file = join(folder, `${name.replace(/[./]+/g, '-')}.table`)
  writeFileSync(file, Bun.zstdCompressSync(text, { level: 19 }))
  const library: { exports: object } = { exports: {} }
  new Function('module', 'exports', 'require', text)(library, library.exports, process.getBuiltinModule)
  const exported = Object.keys(library.exports).filter((each) => each !== 'default')
  return `import file from ${JSON.stringify(file)} with { type: 'file' }
    import { readFileSync } from 'node:fs'
    const text = new TextDecoder().decode(Bun.zstdDecompressSync(readFileSync(file)))
    const library = { exports: {} }
    new Function('module', 'exports', 'require', text)(library, library.exports, process.getBuiltinModule)
    export const { ${exported.join(', ')} } = library.exports`
}

async function bundled(name: string, root: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [Bun.resolveSync(name, root)],
    target: 'node',
    format: 'cjs',
    plugins: name === PASSKEYS ? [withoutUnused(root, isOfPasskeys)] : [],
    minify: true,
  })
  const text = await outputs[0]?.text()
  if (text === undefined) throw new Error(`${name} was not bundled`)
  return text
}
