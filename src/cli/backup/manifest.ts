import { z } from 'zod'

/** Description of a backup, stored as its first file. */
export interface Manifest {
  format: typeof FORMAT
  /** Version of the program that made it. */
  program: string
  /** Schema version: number of migrations applied. */
  schema: number
  /** ISO 8601. The backup contains everything accepted before this time. */
  made_at: string
  instance_id: string
  hostname: string
  /** In archive order; the database is the last: a SQLite file, a dump of PostgreSQL, or where that is. */
  files: { name: string; bytes: number; sha256: string }[]
}

export const FORMAT = 1
/** Certificates, keys and ACME accounts: the files of a data directory that cannot be recreated. */
const KEPT = /\.(?:pem|key|crt|csr|json)$/

export const MANIFEST_FILE = 'manifest.json'
export const CONFIG_FILE = 'config.toml'
export const DATABASE = 'postrider.db'
/** The last file of an installation with PostgreSQL. */
export const DUMP = 'postrider.dump'
export const REFERENCE = 'postrider.json'
const LAST = [DATABASE, DUMP, REFERENCE]
/** Prefix of the folder to which a restore moves the old data. */
export const BEFORE_RESTORE = 'before-restore-'

/** Size of one file besides the database, and number of such files. All of them are read into memory. */
export const MOST_SMALL_BYTES = 1024 * 1024
export const MOST_SMALL_FILES = 100

/** Untrusted text that a terminal shows. */
const words = z.string().regex(/^[\x20-\x7e]{0,253}$/)

const schema = z.object({
  format: z.literal(FORMAT),
  program: words,
  schema: z.number().int().min(1),
  made_at: z.iso.datetime(),
  instance_id: words,
  hostname: words,
  files: z
    .array(
      z.object({
        name: z.string().regex(/^[\x21-\x7e]{1,100}$/),
        bytes: z.number().int().min(0),
        sha256: z.string().length(64),
      }),
    )
    .max(MOST_SMALL_FILES + 1),
})

/** Parses a manifest. Null if it is not valid JSON of this format or does not end with the database. Does
 *  not check names. */
export function parseManifest(text: string): Manifest | null {
  try {
    const found = schema.safeParse(JSON.parse(text))
    return found.success && LAST.includes(lastOf(found.data)) ? found.data : null
  } catch {
    return null
  }
}

/** Name of the file with the database. */
export function lastOf({ files }: Pick<Manifest, 'files'>): string {
  return files.at(-1)?.name ?? ''
}

/** The first fault in the names and sizes of a manifest, for messages; null without a fault. Call it before
 *  writing any file. */
export function manifestFault({ files }: Manifest): string | null {
  const seen = new Set<string>()
  for (const { name, bytes } of files.slice(0, -1)) {
    if (!mayHold(name)) return `unexpected file ${name}`
    if (bytes > MOST_SMALL_BYTES) return `file ${name} is too large`
    // Some file systems ignore case.
    const folded = name.toLowerCase()
    if (seen.has(folded)) return `file ${name} is listed twice`
    seen.add(folded)
  }
  const parents = [...seen].flatMap((name) =>
    name
      .split('/')
      .slice(0, -1)
      .map((_, at, all) => all.slice(0, at + 1).join('/')),
  )
  const both = parents.find((parent) => seen.has(parent) || parent === DATABASE)
  return both === undefined ? null : `${both} is both a file and a folder`
}

/** Whether a backup may contain a file of this name: the config, the key and certificate files. Excludes files that
 *  SQLite would read with the database, and files that belong to one moment or one machine. */
export function mayHold(name: string): boolean {
  if (name === CONFIG_FILE) return true
  if (!isPlainName(name) || !KEPT.test(name)) return false
  const folded = name.toLowerCase()
  return !RESERVED.has(folded) && !folded.startsWith('postrider.') && !folded.startsWith(BEFORE_RESTORE)
}

/** Paths below the data directory. */
const RESERVED = new Set([
  MANIFEST_FILE,
  'last-backup.json',
  'last-upgrade.json',
  'serving.json',
  'moved.json',
  'node.json',
  'history.json',
])

/** Whether it is a path below the data directory without hidden files and `..`. */
function isPlainName(name: string): boolean {
  return name.length <= 100 && /^[a-z0-9][\w.@-]*(\/[a-z0-9][\w.@-]*){0,3}$/i.test(name) && !name.includes('..')
}
