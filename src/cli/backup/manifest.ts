import { z } from 'zod'

/** What a backup says of itself, in its first file. */
export interface Manifest {
  format: typeof FORMAT
  /** Version of the program that made it. */
  program: string
  /** How many steps of the schema are made in the database. */
  schema: number
  /** ISO 8601: everything accepted before is in it. */
  made_at: string
  instance_id: string
  hostname: string
  /** In the order in which they follow; the database is the last. */
  files: { name: string; bytes: number; sha256: string }[]
}

export const FORMAT = 1
/** Certificates, their keys, and what is known of an authority: all that a data directory has beside the database and that
 *  cannot be made anew. */
const KEPT = /\.(?:pem|key|crt|csr|json)$/

export const MANIFEST_FILE = 'manifest.json'
export const CONFIG_FILE = 'config.toml'
export const DATABASE = 'postrider.db'
/** Begins the name of what a restore replaced. */
export const BEFORE_RESTORE = 'before-restore-'

/** The manifest and all files but the database are read whole. */
export const MOST_SMALL_BYTES = 1024 * 1024
export const MOST_SMALL_FILES = 100

/** Of a stranger, perhaps; it is shown at a terminal. */
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

/** Text → Manifest; null when it is none of this format. Its names are still to be looked at. */
export function parseManifest(text: string): Manifest | null {
  try {
    const found = schema.safeParse(JSON.parse(text))
    const isOurs = found.success && found.data.files.at(-1)?.name === DATABASE
    return isOurs ? (found.data as Manifest) : null
  } catch {
    return null
  }
}

/** What is wrong with the names and sizes of a manifest, before anything of it is written; null when nothing is. */
export function manifestFault({ files }: Manifest): string | null {
  const seen = new Set<string>()
  for (const { name, bytes } of files.slice(0, -1)) {
    if (!mayHold(name)) return `a backup does not hold a file named ${name}`
    if (bytes > MOST_SMALL_BYTES) return `${name} is too large`
    // Some file systems take no notice of letter case.
    const folded = name.toLowerCase()
    if (seen.has(folded)) return `it names ${name} twice`
    seen.add(folded)
  }
  const parents = [...seen].flatMap((name) =>
    name
      .split('/')
      .slice(0, -1)
      .map((_, at, all) => all.slice(0, at + 1).join('/')),
  )
  const both = parents.find((parent) => seen.has(parent) || parent === DATABASE)
  return both === undefined ? null : `${both} is a file and a folder`
}

/** Whether a file of a data directory may stand in a backup beside the database: the config, the key, certificates and what
 *  belongs to them. Nothing that SQLite would read with the database, and nothing of one moment or machine. */
export function mayHold(name: string): boolean {
  if (name === CONFIG_FILE) return true
  if (!isPlainName(name) || !KEPT.test(name)) return false
  const folded = name.toLowerCase()
  return !RESERVED.has(folded) && !folded.startsWith('postrider.') && !folded.startsWith(BEFORE_RESTORE)
}

/** Paths below the data directory. */
const RESERVED = new Set([MANIFEST_FILE, 'last-backup.json', 'serving.json'])

/** A path below the data directory that cannot lead out of it, nor to a hidden file. */
function isPlainName(name: string): boolean {
  return name.length <= 100 && /^[a-z0-9][\w.@-]*(\/[a-z0-9][\w.@-]*){0,3}$/i.test(name) && !name.includes('..')
}
