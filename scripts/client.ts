/** src/client → dist/client: the package `postrider` for other programs, as ES modules and CommonJS with types and
 *  no dependencies, with the program `postrider-templates`, and packed as dist/client/postrider-<version>.tgz for
 *  `npm install`. Prints the path of that file. Exit code 1 with a type error.
 *
 *      bun scripts/client.ts [FOLDER]
 *
 *  FOLDER takes the place of dist/client. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pkg from '../package.json' with { type: 'json' }
import { readmeOf } from './client/readme.ts'
import { bundleTemplates } from './client/templates.ts'
import { writeClients } from './client/write.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = resolve(process.argv[2] ?? join(ROOT, 'dist/client'))
const ENTRIES = ['index', 'nodemailer']

await writeClients()
rmSync(OUT, { recursive: true, force: true })
emit('esm', 'es2022')
emit('cjs', 'commonjs')
await bundleTemplates(join(OUT, 'templates'))
writeFileSync(join(OUT, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
writeFileSync(join(OUT, 'cjs/package.json'), '{ "type": "commonjs" }\n')
cpSync(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'))
cpSync(join(ROOT, 'scripts/examples'), join(OUT, 'examples'), { recursive: true })
const readme = readmeOf('typescript', 'TypeScript').replaceAll('../../../scripts/examples/', 'examples/')
writeFileSync(join(OUT, 'README.md'), readme)
execFileSync(process.execPath, ['pm', 'pack', '--quiet'], { cwd: OUT, stdio: ['ignore', 'ignore', 'inherit'] })
console.log(join(OUT, `postrider-${pkg.version}.tgz`))

/** By the compiler itself: one file for each source, readable in a debugger. */
function emit(folder: string, module: string): void {
  const out = join(OUT, folder)
  mkdirSync(out, { recursive: true })
  const options = {
    outDir: out,
    rootDir: join(ROOT, 'src/client'),
    module,
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: 'es2022,dom,dom.iterable',
    // No types of Node or Bun, because the client runs in every runtime.
    types: '',
  }
  const flags = ['--ignoreConfig', '--strict', '--declaration', '--rewriteRelativeImportExtensions', '--skipLibCheck']
  const values = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const sources = ENTRIES.map((name) => join(ROOT, 'src/client', `${name}.ts`))
  try {
    execFileSync(process.execPath, ['x', 'tsc', ...flags, ...values, ...sources], { cwd: ROOT, stdio: 'inherit' })
  } catch {
    process.exit(1)
  }
  // The compiler leaves these unchanged in declarations.
  for (const name of readdirSync(out).filter((file) => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(out, name), 'utf8')
    writeFileSync(join(out, name), text.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  }
}

function manifest() {
  const entry = (name: string) => ({
    import: { types: `./esm/${name}.d.ts`, default: `./esm/${name}.js` },
    require: { types: `./cjs/${name}.d.ts`, default: `./cjs/${name}.js` },
  })
  return {
    name: 'postrider',
    version: pkg.version,
    description: 'Client for a Postrider server: send mail, follow its delivery, verify webhooks',
    license: pkg.license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.3' },
    main: './cjs/index.js',
    types: './cjs/index.d.ts',
    exports: { '.': entry('index'), './nodemailer': entry('nodemailer') },
    bin: { 'postrider-templates': './templates/postrider-templates.mjs' },
    files: ['esm', 'cjs', 'templates', 'examples'],
  }
}
