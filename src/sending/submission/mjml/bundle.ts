import { fileURLToPath } from 'node:url'

/** Packages of the MJML library for minified and indented output, included files and stylesheets from the network. Postrider
 *  uses none of them. Each throws when something of it is used. */
const UNUSED = ['htmlnano', 'cssnano-preset-lite', 'js-beautify', 'web-resource-inliner', 'fs', 'path', 'util']
const ABSENT = `const fail = () => { throw new Error('not part of the bundled MJML library') }
  module.exports = new Proxy(fail, { get: (_, name) => (name === '__esModule' ? false : name === 'default' ? module.exports : fail) })`
/** Modules of mjml-core that linear.ts replaces. */
const REPLACED = /^\.(?:\/helpers)?\/(?:fonts|minifyOutlookConditionnals)$/
/** Reads .mjmlconfig of the working directory and runs what it names. */
const CONFIGURATION = /mjml-core\/lib\/(?:helpers\/mjmlconfig|node-only\/skeleton-loader)\.js$/
const LINEAR = fileURLToPath(new URL('./linear.ts', import.meta.url))

/** Bundles library.ts into one CommonJS text that needs no module. Without the unused packages it has a tenth of the code, and
 *  it has no access to files. */
export async function bundleMjml(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [fileURLToPath(new URL('./library.ts', import.meta.url))],
    target: 'browser',
    format: 'cjs',
    minify: true,
    plugins: [
      {
        name: 'without unused packages',
        setup: (build) => {
          build.onResolve({ filter: /^[a-z]/ }, ({ path, importer }) => {
            if (UNUSED.includes(path)) return { path, namespace: 'unused-mjml' }
            // The same with one HTML parser instead of two.
            if (path === 'cheerio') return { path: Bun.resolveSync('cheerio/slim', importer) }
            return path === 'detect-node' ? { path, namespace: 'not-node' } : undefined
          })
          build.onResolve({ filter: REPLACED }, ({ importer }) =>
            importer.includes('/mjml-core/lib/') ? { path: LINEAR } : undefined,
          )
          build.onLoad({ filter: /./, namespace: 'unused-mjml' }, () => ({ contents: ABSENT, loader: 'js' }))
          build.onLoad({ filter: /./, namespace: 'not-node' }, () => ({
            contents: 'module.exports = false',
            loader: 'js',
          }))
          build.onLoad({ filter: CONFIGURATION }, () => ({ contents: 'exports.default = () => {}', loader: 'js' }))
        },
      },
    ],
  })
  const text = await outputs[0]?.text()
  if (text === undefined) throw new Error('the MJML library was not bundled')
  return text
}
