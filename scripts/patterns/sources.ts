/** The regular expressions of the program: those of src, and those of the packages in it. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { BUILT } from './exceptions.ts'
import { type ConstantsOf, constantsOf, type Pattern, patternsOf, treeOf } from './extract.ts'

const ROOT = join(import.meta.dir, '../..')

export interface FoundPattern extends Pattern {
  /** Path from the root of the repository. */
  readonly file: string
}

export interface Found {
  readonly patterns: FoundPattern[]
  /** What the check cannot read, in words. */
  readonly faults: string[]
}

/** Every pattern of src, without tests and types. */
export function ownPatterns(): Found {
  const files = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync(ROOT)].sort()
  return patternsIn(files.filter((file) => !/\.test\.tsx?$|\.d\.ts$/.test(file)))
}

/** Packages that read text of strangers or tenants. The others read ours, the operator's, or values that the API
 *  checks itself; of zod only the formats that src names are in use, and src has its own patterns. */
const READ_STRANGERS = [
  'dns-packet',
  'encoding-japanese',
  'entities',
  'he',
  'iconv-lite',
  'ipaddr.js',
  'libbase64',
  'libmime',
  'libqp',
  'liquidjs',
  'mailauth',
  'entities',
  'nodemailer',
  'smtp-server',
  'tldts',
  'tldts-core',
]

/** Every pattern of those packages, in files that the executable contains. */
export async function packagePatterns(): Promise<Found> {
  const entrypoints = [
    'src/main.ts',
    'src/web/dashboard/ui/main.tsx',
    ...new Bun.Glob('src/**/worker.ts').scanSync(ROOT),
  ]
  const built = await Bun.build({
    entrypoints: entrypoints.map((path) => join(ROOT, path)),
    root: join(ROOT, 'src'),
    target: 'bun',
    splitting: true,
    metafile: true,
    throw: true,
    external: ['*.css', '*.svg', '*.woff2'],
  })
  const inputs = Object.keys((built as unknown as { metafile: { inputs: object } }).metafile.inputs)
  const files = inputs
    .map((path) => relative(ROOT, join(process.cwd(), path)))
    .filter((path) => path.startsWith('node_modules/'))
  const isRead = (path: string) => READ_STRANGERS.some((name) => path.startsWith(`node_modules/${name}/`))
  return patternsIn(files.filter((path) => isRead(path) && /\.[cm]?js$/.test(path)).sort())
}

function patternsIn(files: readonly string[]): Found {
  const found: Found = { patterns: [], faults: [] }
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const stands = (expression: string) =>
      BUILT.find((each) => each.file === file && each.expression === expression)?.stands
    const { patterns, unclear } = patternsOf(treeOf(file, text), text, stands, constantsBeside(file))
    for (const pattern of patterns) found.patterns.push({ ...pattern, file })
    for (const { expression, line } of unclear) {
      found.faults.push(`${file}:${line}: cannot read the pattern: what does ${expression} stand for? List it in BUILT`)
    }
  }
  return found
}

function constantsBeside(file: string): ConstantsOf {
  return (specifier) => {
    if (!specifier.startsWith('.') || !file.startsWith('src/')) return undefined
    const other = join(dirname(file), specifier)
    return constantsOf(treeOf(other, readFileSync(join(ROOT, other), 'utf8')))
  }
}
