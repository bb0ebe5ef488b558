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
export const MANIFEST_FILE = 'manifest.json'
export const CONFIG_FILE = 'config.toml'
export const DATABASE = 'postrider.db'

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
      z.object({ name: z.string().refine(isPlainName), bytes: z.number().int().min(0), sha256: z.string().length(64) }),
    )
    .max(MOST_SMALL_FILES + 1),
})

/** Text → Manifest; null when it is none of this format, or names a file that has no business in a data directory. */
export function parseManifest(text: string): Manifest | null {
  try {
    const found = schema.safeParse(JSON.parse(text))
    const isOurs = found.success && found.data.files.at(-1)?.name === DATABASE
    return isOurs ? (found.data as Manifest) : null
  } catch {
    return null
  }
}

/** A path below the data directory that cannot lead out of it, nor to a hidden file. */
export function isPlainName(name: string): boolean {
  return name.length <= 100 && /^[a-z0-9][\w.@-]*(\/[a-z0-9][\w.@-]*){0,3}$/i.test(name) && !name.includes('..')
}
